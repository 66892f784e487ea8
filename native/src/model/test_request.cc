#include "model/test_request.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tessera::model {

namespace {

device::Buffer take(const Decoder& decoder, uint64_t bytes) {
  Result<device::Buffer> buffer = decoder.memory().allocate(bytes);
  TESSERA_CHECK(buffer.is_ok());
  return std::move(buffer).value();
}

}  // namespace

TestRequest::TestRequest(const Decoder& decoder, uint32_t max_prompt, uint32_t max_steps,
                         uint32_t max_width, const Adapter* adapter)
    : decoder_(decoder), adapter_(adapter) {
  auto memory =
      decoder.make_memory(std::max(max_prompt, max_width), max_prompt, adapter == nullptr ? 0 : 1);
  TESSERA_CHECK(memory.is_ok());
  memory_ = std::move(memory).value();
  const uint64_t blocks =
      (max_prompt + attention::kBlockPositions - 1) / attention::kBlockPositions;
  for (uint64_t i = 0; i < blocks; ++i) {
    block_memory_.push_back(take(decoder, decoder.block_layout().bytes()));
    blocks_.push_back(block_memory_.back().data());
  }
  prompt_.blocks = blocks_.data();
  prompt_.block_count = static_cast<uint32_t>(blocks);
  const uint64_t position = decoder.kv_bytes_per_position() / 2;  // of keys alone
  beam_.slots = max_steps * max_width;
  beam_keys_ = take(decoder, position * beam_.slots);
  beam_values_ = take(decoder, position * beam_.slots);
  beam_.keys = beam_keys_.data();
  beam_.values = beam_values_.data();
  const attention::DeltaShape shape = decoder.recipe().delta_shape(decoder.compute_type());
  if (shape.layers == 0) return;
  state_memory_.resize(shape.floats_max() / kLineFloats + 1);
  state_ = {state_memory_.front().floats, std::vector<uint8_t>(shape.layers)};
  prompt_.delta = &state_;
  slots_.resize(beam_.slots * shape.slot_floats());
  beam_.delta = slots_.data();
}

void TestRequest::forward(std::span<const int32_t> tokens, const attention::RowGroup& group) {
  const AdapterRows rows{adapter_, 0, group.row_count};
  const std::span<const AdapterRows> adapters(&rows, adapter_ == nullptr ? 0 : 1);
  TESSERA_CHECK(decoder_.forward({tokens, {&group, 1}, adapters}, *memory_).is_ok());
  last_rows_ = group.row_count;
}

void TestRequest::prefill(std::span<const int32_t> tokens, uint32_t chunk) {
  if (decoder_.config().encodes_prompts()) {
    prompt_.encoded = static_cast<uint32_t>(tokens.size()) - 1;
    chunk = prompt_.encoded;  // the last row by itself
  }
  for (size_t first = 0; first < tokens.size(); first += chunk) {
    const auto part = tokens.subspan(first, std::min<size_t>(chunk, tokens.size() - first));
    attention::RowGroup group;
    group.prompt = &prompt_;
    group.row_count = static_cast<uint32_t>(part.size());
    group.first_position = prompt_.length;
    forward(part, group);
    prompt_.length += group.row_count;
  }
}

void TestRequest::step(std::span<const int32_t> tokens, std::span<const uint32_t> parents) {
  std::vector<uint32_t> chains;
  for (size_t row = 0; row < tokens.size() && steps_ > 0; ++row) {
    const auto chain = ancestors_.begin() + parents[row] * (steps_ - 1);
    chains.insert(chains.end(), chain, chain + (steps_ - 1));
    chains.push_back(last_slot_ + parents[row]);
  }
  ancestors_ = std::move(chains);
  steps_ += 1;
  attention::RowGroup group;
  group.prompt = &prompt_;
  group.beam = &beam_;
  group.row_count = static_cast<uint32_t>(tokens.size());
  group.first_position = prompt_.length + steps_ - 1;
  group.step = steps_;
  group.first_slot = last_slot_ = next_slot_;
  next_slot_ += group.row_count;
  group.ancestors = ancestors_;
  forward(tokens, group);
}

std::vector<float> TestRequest::logits(uint32_t row) {
  std::vector<int32_t> all(decoder_.config().vocab_size);
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> result(all.size());
  const ops::HeadTokens tokens{all, result.data()};
  const HeadRequest request{{&row, 1}, {&tokens, 1}, nullptr, adapter_};
  TESSERA_CHECK(decoder_.head({&request, 1}, *memory_).is_ok());
  return result;
}

std::vector<float> TestRequest::log_sum_exp(uint32_t rows) {
  std::vector<uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<float> result(rows);
  const HeadRequest request{all, {}, result.data(), adapter_};
  TESSERA_CHECK(decoder_.head({&request, 1}, *memory_).is_ok());
  return result;
}

}  // namespace tessera::model
