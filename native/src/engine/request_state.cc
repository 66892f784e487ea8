#include "engine/request_state.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::engine {
namespace {

Status grow(device::Device& device, uint64_t bytes, device::Buffer& buffer) {
  if (buffer.size() >= bytes) return Status::ok();
  buffer = device::Buffer();
  Result<device::Buffer> grown = device.allocate(bytes);
  if (!grown.is_ok()) {
    return {Code::kEngineOverloaded, "keys and values of the request need " +
                                         std::to_string(bytes) +
                                         " bytes: " + grown.status().message()};
  }
  buffer = std::move(grown).value();
  return Status::ok();
}

}  // namespace

Status RequestState::begin(Request request, Clock::time_point now) {
  request_ = std::move(request);
  const auto prompt_tokens = static_cast<uint32_t>(request_.prompt.size());
  const uint32_t width = *std::max_element(request_.widths.begin(), request_.widths.end());
  TESSERA_RETURN_IF_ERROR(reserve_beams(binding().step_count() - 1, width));
  TESSERA_RETURN_IF_ERROR(take_blocks(prompt_tokens));
  beams_.scores.assign(1, 0.0F);
  beams_.nodes.assign(1, catalogue::kRoot);
  beams_.ended.assign(1, 0);
  pending_tokens_.clear();
  ancestors_.clear();
  finished_.clear();
  widths_used_.clear();
  timings_ = Timings{};
  timings_.queue_us = std::chrono::duration<float, std::micro>(now - request_.submitted).count();
  step_ = 0;
  awaits_selection_ = false;
  return Status::ok();
}

Status RequestState::take_blocks(uint32_t prompt_tokens) {
  const uint32_t count =
      (prompt_tokens + attention::kBlockPositions - 1) / attention::kBlockPositions;
  TESSERA_RETURN_IF_ERROR(arena_.reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    blocks_.push_back(arena_.take());
    block_data_.push_back(arena_.data(blocks_.back()));
  }
  prompt_kv_ = {block_data_.data(), count, 0};
  return Status::ok();
}

Status RequestState::reserve_beams(uint32_t decode_passes, uint32_t width) {
  const uint64_t bytes =
      decoder_.kv_bytes_per_position() / 2 * decode_passes * width;  // keys alone, or values alone
  TESSERA_RETURN_IF_ERROR(grow(device_, bytes, beam_keys_));
  TESSERA_RETURN_IF_ERROR(grow(device_, bytes, beam_values_));
  beam_kv_ = {beam_keys_.data(), beam_values_.data(), decode_passes, width};
  return Status::ok();
}

scheduler::Runnable RequestState::runnable() const {
  return {prompt_left(), static_cast<uint32_t>(pending_tokens_.size())};
}

void RequestState::append_rows(uint32_t rows, std::vector<int32_t>& tokens,
                               std::vector<attention::RowGroup>& groups) {
  attention::RowGroup group;
  group.prompt = &prompt_kv_;
  group.first_row = static_cast<uint32_t>(tokens.size());
  group.row_count = rows;
  if (pending_tokens_.empty()) {
    TESSERA_CHECK(rows <= prompt_left());
    group.first_position = prompt_kv_.length;
    const auto first = request_.prompt.begin() + prompt_kv_.length;
    tokens.insert(tokens.end(), first, first + rows);
  } else {
    TESSERA_CHECK(rows == pending_tokens_.size());
    group.first_position = prompt_kv_.length + step_ - 1;
    group.beam = &beam_kv_;
    group.step = step_;
    group.ancestors = ancestors_;
    tokens.insert(tokens.end(), pending_tokens_.begin(), pending_tokens_.end());
  }
  groups.push_back(group);
}

void RequestState::rows_computed(uint32_t rows) {
  if (pending_tokens_.empty()) {
    prompt_kv_.length += rows;
    awaits_selection_ = prompt_left() == 0;
  } else {
    pending_tokens_.clear();
    awaits_selection_ = true;
  }
}

uint32_t RequestState::width() const {
  return request_.widths[std::min<size_t>(step_, request_.widths.size() - 1)];
}

void RequestState::apply(const beam::Step& step) {
  TESSERA_CHECK(awaits_selection_);
  awaits_selection_ = false;
  finished_.insert(finished_.end(), step.finished.begin(), step.finished.end());
  const auto next_count = static_cast<uint32_t>(step.next.nodes.size());
  widths_used_.push_back(
      std::max<uint32_t>(next_count, static_cast<uint32_t>(step.finished.size())));
  // A beam's slots: those of its parent, then the parent's own row (there is none at the prompt's
  // end).
  forked_ancestors_.clear();
  const uint32_t depth = step_ == 0 ? 0 : step_ - 1;
  for (uint32_t row = 0; row < next_count && step_ > 0; ++row) {
    const uint32_t parent = step.parents[row];
    const auto first = ancestors_.begin() + static_cast<ptrdiff_t>(parent) * depth;
    forked_ancestors_.insert(forked_ancestors_.end(), first, first + depth);
    forked_ancestors_.push_back(parent);
  }
  ancestors_.swap(forked_ancestors_);
  for (uint32_t row = 0; row < next_count; ++row) {
    const uint32_t code = step.codes[row];
    pending_tokens_.push_back(code == beam::kTerminalCode
                                  ? binding().terminal_tokens()[step.next.ended[row] - 1]
                                  : binding().level_tokens(step_)[code]);
  }
  beams_ = step.next;
  ++step_;
  if (step_ == binding().step_count()) TESSERA_CHECK(next_count == 0);
}

void RequestState::release() {
  for (const uint32_t block : blocks_) arena_.give_back(block);
  blocks_.clear();
  block_data_.clear();
  request_ = Request{};
  finished_.clear();
}

}  // namespace tessera::engine
