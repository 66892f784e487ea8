#include "model/workspace.h"

#include <algorithm>
#include <utility>

#include "ops/head.h"

namespace tessera::model {

uint64_t Workspace::floats_per_row(const ModelConfig& config) {
  const uint64_t heads = uint64_t{config.head_count} + config.kv_head_count;
  return 2 * (config.hidden_size + heads * config.head_dim) + uint64_t{config.intermediate_size};
}

ops::Operand Workspace::operand(device::PanelType type, uint64_t rows, uint64_t k) {
  return {type, operand_.data(), operand_scales_.data(), rows, k};
}

void Workspace::lay_out(const ModelConfig& config) {
  float* next = memory_.as<float>();
  const auto take = [&](uint64_t per_row) {
    return std::exchange(next, next + per_row * max_rows_);
  };
  const uint64_t q_size = uint64_t{config.head_count} * config.head_dim;
  const uint64_t kv_size = uint64_t{config.kv_head_count} * config.head_dim;
  hidden_ = take(config.hidden_size);
  normed_ = take(config.hidden_size);
  q_ = take(q_size);
  k_ = take(kv_size);
  v_ = take(kv_size);
  mixed_ = take(q_size);
  gated_ = take(config.intermediate_size);
}

Result<std::unique_ptr<Workspace>> Workspace::allocate(const ModelConfig& config, ComputeType type,
                                                       uint32_t max_rows, uint32_t max_context,
                                                       uint32_t max_adapters,
                                                       device::Device& device) {
  std::unique_ptr<Workspace> workspace(new Workspace());
  Result<device::Buffer> memory =
      device.allocate(floats_per_row(config) * max_rows * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  workspace->memory_ = std::move(memory).value();
  workspace->max_rows_ = max_rows;
  workspace->lay_out(config);
  const uint64_t widest =
      std::max<uint64_t>({config.hidden_size, uint64_t{config.head_count} * config.head_dim,
                          config.intermediate_size});
  Result<device::Buffer> operand = device.allocate(
      std::max(ops::operand_bytes(device, layer_panels(type), max_rows, widest),
               ops::operand_bytes(device, head_panels(type), max_rows, config.hidden_size)));
  if (!operand.is_ok()) return operand.status();
  workspace->operand_ = std::move(operand).value();
  workspace->operand_scales_.resize(max_rows * device::panel_scales(layer_panels(type), widest));
  Result<attention::Scratch> scratch = attention::Scratch::allocate(device, config.head_dim);
  if (!scratch.is_ok()) return scratch.status();
  workspace->attention_ = std::move(scratch).value();
  auto adapters = AdapterScratch::allocate(device, config, type, max_rows, max_adapters);
  if (!adapters.is_ok()) return adapters.status();
  workspace->adapters_ = std::move(adapters).value();
  workspace->positions_.resize(max_rows);
  workspace->head_scratch_.resize(ops::head_scratch(max_rows, config.vocab_size));
  const uint64_t positions =
      std::min<uint64_t>(uint64_t{max_context} + attention::kMaxSteps, config.max_positions);
  const std::vector<float> frequencies = config.rope_frequencies();
  workspace->cos_.resize(positions * frequencies.size());
  workspace->sin_.resize(positions * frequencies.size());
  ops::fill_rope_table(frequencies, positions, workspace->cos_.data(), workspace->sin_.data());
  workspace->rope_ = {workspace->cos_.data(), workspace->sin_.data(), positions};
  return workspace;
}

}  // namespace tessera::model
