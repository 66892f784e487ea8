#include "model/experts_block.h"

#include <algorithm>
#include <string>

#include "model/pass.h"

namespace tessera::model {
namespace {

/// A row enters the gates of all its experts as it is; what enters an expert's last product is that
/// expert's own.
std::vector<InputSlot> inputs_of(const MixtureConfig& mixture) {
  std::vector<InputSlot> inputs = {{"mlp"}, {"mlpOutput", mixture.experts}};
  if (mixture.shared_size > 0) inputs.push_back({"sharedOutput"});
  return inputs;
}

uint64_t floats_of(const MixtureConfig& mixture) {
  return uint64_t{mixture.chosen} * mixture.size + mixture.shared_size;
}

}  // namespace

ExpertsBlock::ExpertsBlock(const ModelConfig& config)
    : LayerBlock(inputs_of(config.mixture), floats_of(config.mixture)),
      mixture_(config.mixture),
      hidden_(config.hidden_size) {
  add_vector(kPostNorm, "post_attention_layernorm.weight", hidden_, config.family->norm_adds_one);
  add_table(kRouter, "mlp.gate.weight", mixture_.experts, hidden_);
  if (has_shared()) add_shared();
  add_experts();
}

void ExpertsBlock::add_shared() {
  add_table(kSharedRouter, "mlp.shared_expert_gate.weight", 1, hidden_);
  add_matrix(kSharedGate, "mlp.shared_expert.gate_proj", mixture_.shared_size, hidden_);
  add_matrix(kSharedUp, "mlp.shared_expert.up_proj", mixture_.shared_size, hidden_, true);
  add_matrix(kSharedDown, "mlp.shared_expert.down_proj", hidden_, mixture_.shared_size);
}

/// Each expert has tensors of its own, or all have theirs in two: [experts][gate, then up][hidden]
/// and [experts][hidden][size].
void ExpertsBlock::add_experts() {
  const uint64_t experts = mixture_.experts, size = mixture_.size;
  for (uint32_t expert = 0; expert < experts; ++expert) {
    const std::string module = "mlp.experts." + std::to_string(expert) + ".";
    const auto both = [&](uint64_t row) -> WeightSlot::Part {
      return {"mlp.experts.gate_up_proj", {experts, 2 * size, hidden_}, 2 * size * expert + row};
    };
    add_matrix(first_gate() + expert, module + "gate_proj", size, hidden_, false, both(0));
    add_matrix(first_up() + expert, module + "up_proj", size, hidden_, true, both(size));
    add_matrix(first_down() + expert, module + "down_proj", hidden_, size, false,
               {"mlp.experts.down_proj", {experts, hidden_, size}, hidden_ * expert});
  }
}

BlockWork ExpertsBlock::work() const {
  const double experts = mixture_.experts, chosen = mixture_.chosen;
  const double expert = 3.0 * static_cast<double>(hidden_) * mixture_.size;
  return {.row = multiplications() - (experts - chosen) * expert,
          .experts = experts,
          .chosen = chosen,
          .expert = expert};
}

ExpertLimits ExpertsBlock::expert_limits() const {
  return {mixture_.experts, mixture_.chosen, std::max<uint64_t>(hidden_, mixture_.size)};
}

const float* ExpertsBlock::gate_shared(const BlockWeights& weights, float* shared,
                                       Pass& pass) const {
  const ProductRows normed = pass.norm(kNormed, weights.vector(kPostNorm));
  ops::Target target{.w = &weights.matrices[kSharedGate],
                     .up = &weights.matrices[kSharedUp],
                     .y = shared,
                     .y_stride = mixture_.shared_size};
  pass.multiply(normed, {kSharedGate, kSharedUp}, {&target, 1});
  pass.scale_by_sigmoid(normed.floats, weights.vector(kSharedRouter), shared, mixture_.shared_size);
  return normed.floats;
}

void ExpertsBlock::forward(const BlockWeights& weights, Pass& pass) const {
  float* const gated = pass.scratch(0);
  float* const shared = pass.scratch(uint64_t{mixture_.chosen} * mixture_.size);
  const float* const normed = has_shared() ? gate_shared(weights, shared, pass)
                                           : pass.norm_floats(kNormed, weights.vector(kPostNorm));
  pass.choose({weights.vector(kRouter), mixture_.experts, mixture_.chosen, mixture_.normalises},
              normed);
  pass.multiply_experts(kNormed, {normed, hidden_, false}, weights, first_gate(), first_up(),
                        gated);
  pass.add_experts(kGated, {gated, mixture_.size, true}, weights, first_down());
  if (!has_shared()) return;
  ops::Target output{.w = &weights.matrices[kSharedDown],
                     .y = pass.hidden(),
                     .y_stride = hidden_,
                     .adds_to_y = true};
  pass.multiply(pass.rows_of(kSharedGated, shared, mixture_.shared_size), {kSharedDown},
                {&output, 1});
}

}  // namespace tessera::model
