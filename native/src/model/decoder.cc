#include "model/decoder.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::model {

uint64_t Decoder::kv_bytes_per_position() const {
  return 2 * config().kv_size() * config().attention_layers() *
         tensor::dtype_size(storage_type(compute_type()));
}

uint64_t Decoder::slot_bytes() const {
  return kv_bytes_per_position() +
         recipe().delta_shape(compute_type()).slot_floats() * sizeof(float);
}

uint64_t Decoder::state_bytes() const {
  constexpr uint64_t kLine = device::Device::kAlignment;
  const attention::DeltaShape shape = recipe().delta_shape(compute_type());
  if (shape.layers == 0) return 0;
  return (shape.floats_max() * sizeof(float) + 2 * kLine - 1) / kLine * kLine;
}

attention::DeltaState Decoder::zero_state(device::Buffer& memory) const {
  const attention::DeltaShape shape = recipe().delta_shape(compute_type());
  attention::DeltaState state;
  if (shape.layers == 0) return state;
  TESSERA_CHECK(memory.size() >= state_bytes());
  state.data = memory.as<float>();
  std::fill_n(state.data, shape.floats(0), 0.0f);
  state.is_folded.resize(shape.layers);
  return state;
}

Status Decoder::logits(PassMemory& memory, std::span<const uint32_t> rows,
                       std::span<const int32_t> token_ids, std::span<float> logits) const {
  TESSERA_CHECK(logits.size() == rows.size() * token_ids.size());
  const ops::HeadTokens tokens{token_ids, logits.data()};
  const HeadRequest request{rows, {&tokens, 1}};
  return head({&request, 1}, memory);
}

Status Decoder::log_sum_exp(PassMemory& memory, std::span<const uint32_t> rows,
                            std::span<float> result) const {
  TESSERA_CHECK(result.size() == rows.size());
  const HeadRequest request{rows, {}, result.data()};
  return head({&request, 1}, memory);
}

Status Decoder::check_same(const std::string& folder, const ModelConfig& config) const {
  if (config.canonical_text() == this->config().canonical_text() &&
      config.max_positions == this->config().max_positions) {
    return Status::ok();
  }
  return {
      Code::kModelInvalid,
      folder + ": config.json: expected the configuration of the weights that serve, got another"};
}

}  // namespace tessera::model
