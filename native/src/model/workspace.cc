#include "model/workspace.h"

#include <algorithm>
#include <utility>

#include "ops/head.h"

namespace tessera::model {

ops::Operand Workspace::operand(device::PanelType type, uint64_t rows, uint64_t k, Side side) {
  if (side == Side::kMade) return {type, made_operand_.data(), made_scales_.data(), rows, k};
  return {type, operand_.data(), operand_scales_.data(), rows, k};
}

Result<std::unique_ptr<Workspace>> Workspace::allocate(const Recipe& recipe, ComputeType type,
                                                       uint32_t max_rows, uint32_t max_context,
                                                       uint32_t max_adapters,
                                                       device::Device& device) {
  std::unique_ptr<Workspace> workspace(new Workspace());
  const ModelConfig& config = recipe.config();
  const uint64_t hidden = uint64_t{config.hidden_size} * max_rows;
  Result<device::Buffer> memory =
      device.allocate((2 * hidden + recipe.floats_per_row() * max_rows) * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  workspace->memory_ = std::move(memory).value();
  workspace->max_rows_ = max_rows;
  workspace->hidden_ = workspace->memory_.as<float>();
  workspace->normed_ = workspace->hidden_ + hidden;
  workspace->scratch_ = workspace->normed_ + hidden;
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
  const std::vector<float> frequencies = config.rope_frequencies();
  workspace->cos_.resize(positions * frequencies.size());
  workspace->sin_.resize(positions * frequencies.size());
  ops::fill_rope_table(frequencies, positions, workspace->cos_.data(), workspace->sin_.data());
  workspace->rope_ = {workspace->cos_.data(), workspace->sin_.data(), positions};
  const std::vector<float> local = config.local_rope_frequencies();
  workspace->local_cos_.resize(positions * local.size());
  workspace->local_sin_.resize(positions * local.size());
  ops::fill_rope_table(local, positions, workspace->local_cos_.data(),
                       workspace->local_sin_.data());
  workspace->local_rope_ = {workspace->local_cos_.data(), workspace->local_sin_.data(), positions};
  return workspace;
}

}  // namespace tessera::model
