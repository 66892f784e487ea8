#include "model/workspace.h"

#include <algorithm>
#include <utility>

#include "ops/head.h"

namespace tessera::model {

ops::Operand Workspace::operand(device::PanelType type, uint64_t rows, uint64_t k, Side side) {
  if (side == Side::kMade) return {type, made_operand_.data(), made_scales_.data(), rows, k};
  return {type, operand_.data(), operand_scales_.data(), rows, k};
}

void Workspace::Angles::fill(const std::vector<float>& frequencies, double magnitude,
                             uint64_t positions) {
  cos_.resize(positions * frequencies.size());
  sin_.resize(positions * frequencies.size());
  ops::fill_rope_table(frequencies, magnitude, positions, cos_.data(), sin_.data());
  table = {cos_.data(), sin_.data(), frequencies.size(), positions};
}

void Workspace::Biases::allocate(const ModelConfig& config, uint32_t reach) {
  reach_ = reach;
  both_sides_.resize(2 * uint64_t{reach} + 1);
  before_.resize(both_sides_.size());
  values_.resize(both_sides_.size() * config.head_count);
  for (uint64_t i = 0; i < both_sides_.size(); ++i) {
    const int64_t distance = static_cast<int64_t>(i) - reach;
    both_sides_[i] = config.t5.bucket(distance, true);
    before_[i] = config.t5.bucket(distance, false);
  }
}

void Workspace::Biases::fill(const float* table, uint32_t heads, bool is_encoder) {
  const std::vector<uint32_t>& buckets = is_encoder ? both_sides_ : before_;
  float* to = values_.data();
  for (uint32_t head = 0; head < heads; ++head) {
    for (const uint32_t bucket : buckets) *to++ = table[uint64_t{bucket} * heads + head];
  }
}

Result<std::unique_ptr<Workspace>> Workspace::allocate(const Recipe& recipe, ComputeType type,
                                                       uint32_t max_rows, uint32_t max_context,
                                                       uint32_t max_adapters,
                                                       device::Device& device) {
  std::unique_ptr<Workspace> workspace(new Workspace());
  const ModelConfig& config = recipe.config();
  const uint64_t hidden = uint64_t{config.hidden_size} * max_rows;
  const bool has_encoder = config.encodes_prompts();
  const uint64_t streams = has_encoder ? 3 : 2;
  Result<device::Buffer> memory =
      device.allocate((streams * hidden + recipe.floats_per_row() * max_rows) * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  workspace->memory_ = std::move(memory).value();
  workspace->max_rows_ = max_rows;
  workspace->hidden_ = workspace->memory_.as<float>();
  workspace->normed_ = workspace->hidden_ + hidden;
  workspace->scratch_ = workspace->normed_ + hidden;
  workspace->settled_ = workspace->scratch_ + recipe.floats_per_row() * max_rows;
  const uint64_t widest = recipe.widest_input();
  Result<device::Buffer> operand = device.allocate(
      std::max(ops::operand_bytes(device, layer_panels(type), max_rows, widest),
               ops::operand_bytes(device, head_panels(type), max_rows, config.hidden_size)));
  if (!operand.is_ok()) return operand.status();
  workspace->operand_ = std::move(operand).value();
  workspace->operand_scales_.resize(max_rows * device::operand_scales(layer_panels(type), widest));
  if (type == ComputeType::kW8A8Static) {
    Result<device::Buffer> made =
        device.allocate(ops::operand_bytes(device, layer_panels(type), max_rows, widest));
    if (!made.is_ok()) return made.status();
    workspace->made_operand_ = std::move(made).value();
    workspace->made_scales_.resize(workspace->operand_scales_.size());
  }
  Result<attention::Scratch> scratch = attention::Scratch::allocate(device, config.head_dim);
  if (!scratch.is_ok()) return scratch.status();
  workspace->attention_ = std::move(scratch).value();
  auto delta = attention::DeltaScratch::allocate(device, recipe.delta_shape(type));
  if (!delta.is_ok()) return delta.status();
  workspace->delta_ = std::move(delta).value();
  auto adapters = AdapterScratch::allocate(device, widest, type, max_rows, max_adapters);
  if (!adapters.is_ok()) return adapters.status();
  workspace->adapters_ = std::move(adapters).value();
  auto experts =
      ExpertScratch::allocate(device, recipe.expert_limits(), type, max_rows, max_adapters);
  if (!experts.is_ok()) return experts.status();
  workspace->experts_ = std::move(experts).value();
  workspace->positions_.resize(max_rows);
  workspace->head_scratch_.resize(ops::head_scratch(max_rows, config.vocab_size));
  const uint64_t positions =
      std::min<uint64_t>(uint64_t{max_context} + attention::kMaxSteps, config.max_positions);
  if (has_encoder) {
    workspace->biases_.allocate(config, static_cast<uint32_t>(positions));
    return workspace;
  }
  workspace->angles_.fill(config.rope_frequencies(), config.rope.magnitude, positions);
  workspace->local_angles_.fill(config.local_rope_frequencies(), 1, positions);
  return workspace;
}

}  // namespace tessera::model
