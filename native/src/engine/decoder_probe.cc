#include "engine/decoder_probe.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace tessera::engine {

Status DecoderProbe::begin(uint32_t block_count) {
  const uint64_t bytes = decoder_.block_layout().bytes();
  Result<device::Buffer> memory = decoder_.memory().allocate(block_count * bytes);
  if (!memory.is_ok()) return memory.status();
  block_memory_ = std::move(memory).value();
  for (uint32_t b = 0; b < block_count; ++b)
    blocks_.push_back(block_memory_.as<char>() + uint64_t{b} * bytes);
  Result<device::Buffer> state = decoder_.memory().allocate(decoder_.state_bytes());
  if (!state.is_ok()) return state.status();
  state_memory_ = std::move(state).value();
  state_ = decoder_.zero_state(state_memory_);
  prompt_ = {.blocks = blocks_.data(), .block_count = block_count, .delta = &state_};
  const model::HeadVocabulary& head = decoder_.head_vocabulary();
  const uint32_t vocab = decoder_.config().vocab_size;
  for (const uint32_t panel : head.panels()) {
    const uint64_t first = uint64_t{panel} * device::kPanelColumns;
    for (uint64_t i = first; i < std::min<uint64_t>(first + device::kPanelColumns, vocab); ++i)
      head_tokens_.push_back(static_cast<int32_t>(i));
  }
  logits_.resize(head_tokens_.size() * kHeadRowsMax);
  return Status::ok();
}

Status DecoderProbe::forward(std::span<const int32_t> tokens, uint32_t position) {
  attention::RowGroup group;
  group.prompt = &prompt_;
  group.row_count = static_cast<uint32_t>(tokens.size());
  group.first_position = prompt_.length = position;
  // Rows of an encoder, or of a decoder behind one.
  if (decoder_.config().encodes_prompts())
    prompt_.encoded = position == 0 ? group.row_count : position;
  TESSERA_RETURN_IF_ERROR(decoder_.forward({tokens, {&group, 1}}, memory_));
  const Result<bool> done = decoder_.is_finite(memory_, 0, group.row_count);
  return done.is_ok() ? Status::ok() : done.status();
}

Status DecoderProbe::head(uint32_t rows) {
  std::array<uint32_t, kHeadRowsMax> numbers;
  std::array<float, kHeadRowsMax> sums;
  std::iota(numbers.begin(), numbers.end(), 0u);
  if (!head_tokens_.empty()) {
    return decoder_.logits(memory_, std::span(numbers).first(rows), head_tokens_,
                           std::span(logits_).first(rows * head_tokens_.size()));
  }
  return decoder_.log_sum_exp(memory_, std::span(numbers).first(rows), std::span(sums).first(rows));
}

}  // namespace tessera::engine
