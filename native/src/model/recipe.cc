#include "model/recipe.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tessera::model {

std::string layer_prefix(uint32_t layer) { return "model.layers." + std::to_string(layer) + "."; }

std::vector<InputSlot> Layer::inputs() const {
  std::vector<InputSlot> slots;
  for (const auto& block : blocks) {
    slots.insert(slots.end(), block->inputs().begin(), block->inputs().end());
  }
  return slots;
}

std::vector<const WeightSlot*> Layer::matrices() const {
  std::vector<const WeightSlot*> slots;
  for (const auto& block : blocks) {
    const size_t first = slots.size();
    slots.resize(first + block->matrix_count());
    for (const WeightSlot& slot : block->slots()) {
      if (slot.kind == WeightSlot::Kind::kMatrix) slots[first + slot.number] = &slot;
    }
  }
  TESSERA_CHECK(std::find(slots.begin(), slots.end(), nullptr) == slots.end());
  return slots;
}

Recipe::Recipe(ModelConfig config, Purpose purpose)
    : config_(std::move(config)), purpose_(purpose), layers_(config_.layer_count) {
  TESSERA_CHECK(config_.family->encoder == nullptr || purpose == Purpose::kRows);
  if (const DeltaConfig& delta = config_.delta; delta.key_heads > 0) {
    delta_shape_ = {config_.layer_count - config_.attention_layers(),
                    delta.key_heads,
                    delta.value_heads,
                    delta.key_dim,
                    delta.value_dim,
                    delta.taps};
  }
  if (config_.family->entry != nullptr) entry_ = config_.family->entry(config_, 0);
  for (uint32_t i = 0; i < config_.layer_count; ++i) {
    const MakeBlock mix = config_.is_delta(i) ? config_.family->delta : config_.family->attention;
    TESSERA_CHECK(mix != nullptr);
    layers_[i].blocks.push_back(mix(config_, i));
    if (config_.family->cross != nullptr && config_.has_keys(i)) {
      layers_[i].blocks.push_back(config_.family->cross(config_, i));
    }
    layers_[i].blocks.push_back(config_.family->feed_forward(config_, i));
  }
}

uint64_t Recipe::parameter_count() const {
  const uint64_t embedding = uint64_t{config_.vocab_size} * config_.hidden_size;
  const bool has_one = is_tied() || purpose_ == Purpose::kRows;
  uint64_t sum = embedding * (has_one ? 1 : 2);
  if (!config_.family->names.final_norm.empty()) sum += config_.hidden_size;
  if (!config_.family->names.encoder_norm.empty()) sum += config_.hidden_size;
  const auto add = [&sum](const LayerBlock& block) {
    for (const WeightSlot& slot : block.slots()) {
      sum += slot.outputs * (slot.kind == WeightSlot::Kind::kVector ? 1 : slot.inputs);
    }
  };
  if (entry_ != nullptr) add(*entry_);
  for (const Layer& layer : layers_) {
    for (const auto& block : layer.blocks) add(*block);
  }
  return sum;
}

Recipe::Work Recipe::work() const {
  Work work;
  for (const Layer& layer : layers_) {
    for (const auto& block : layer.blocks) {
      const BlockWork part = block->work();
      work.sum.row += part.row;
      work.sum.pair += part.pair;
      if (part.experts == 0) continue;
      TESSERA_CHECK(work.mixtures == 0 ||
                    (part.experts == work.sum.experts && part.chosen == work.sum.chosen));
      work.sum.experts = part.experts;
      work.sum.chosen = part.chosen;
      work.sum.expert = std::max(work.sum.expert, part.expert);
      work.mixtures += 1;
    }
  }
  return work;
}

attention::BlockLayout Recipe::block_layout(ComputeType type) const {
  return {config_.attention_layers(), config_.kv_head_count, config_.head_dim, storage_type(type)};
}

attention::DeltaShape Recipe::delta_shape(ComputeType type) const {
  attention::DeltaShape shape = delta_shape_;
  shape.is_narrow = storage_type(type) == tensor::DType::kBf16;
  return shape;
}

uint64_t Recipe::widest_input() const {
  uint64_t widest = config_.hidden_size;
  for (const Layer& layer : layers_) {
    for (const WeightSlot* slot : layer.matrices()) widest = std::max(widest, slot->inputs);
  }
  return widest;
}

uint64_t Recipe::floats_per_row() const {
  uint64_t most = 0;
  for (const Layer& layer : layers_) {
    for (const auto& block : layer.blocks) most = std::max(most, block->floats_per_row());
  }
  return most;
}

ExpertLimits Recipe::expert_limits() const {
  ExpertLimits most;
  for (const Layer& layer : layers_) {
    for (const auto& block : layer.blocks) {
      const ExpertLimits limits = block->expert_limits();
      most.experts = std::max(most.experts, limits.experts);
      most.chosen = std::max(most.chosen, limits.chosen);
      most.widest = std::max(most.widest, limits.widest);
    }
  }
  return most;
}

}  // namespace tessera::model
