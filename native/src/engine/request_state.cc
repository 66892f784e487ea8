#include "engine/request_state.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tessera::engine {

Status RequestState::reserve(const Request& request, const RunningRequest* leader,
                             scheduler::Link& link) {
  TESSERA_RETURN_IF_ERROR(reserve_beams(request));
  return reserve_prompt(request, leader, link);
}

void RequestState::begin(Request request, Clock::time_point now) {
  begin_request(std::move(request), now);
  has_failed_ = false;
  beams_.scores.assign(1, 0.0F);
  beams_.nodes.assign(1, catalogue::kRoot);
  beams_.ended.assign(1, 0);
  pending_tokens_.clear();
  ancestors_.clear();
}

Status RequestState::reserve_beams(const Request& request) {
  const uint64_t bytes = need(request, decoder_.kv_bytes_per_position()).beam_bytes;
  if (beam_buffer_.size() < bytes) {
    budget_.give_beams(beam_buffer_);
    Result<device::Buffer> grown = budget_.take_beams(bytes);
    if (!grown.is_ok()) return grown.status();
    beam_buffer_ = std::move(grown).value();
  }
  char* values = beam_buffer_.as<char>() + bytes / 2;
  beam_kv_ = {beam_buffer_.data(), values, request.task->decode_passes(request),
              request.task->widest(request)};
  return Status::ok();
}

void RequestState::append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                               std::vector<attention::RowGroup>& groups) const {
  attention::RowGroup group;
  group.prompt = &prompt();
  group.first_row = static_cast<uint32_t>(tokens.size());
  group.row_count = slice.rows;
  if (pending_tokens_.empty()) {
    TESSERA_CHECK(uint64_t{slice.first} + slice.rows <= request_.prompt.size());
    group.first_position = slice.first;
    const auto first = request_.prompt.begin() + slice.first;
    tokens.insert(tokens.end(), first, first + slice.rows);
  } else {
    TESSERA_CHECK(slice.rows == pending_tokens_.size());
    group.first_position = prompt().length + step_ - 1;
    group.beam = &beam_kv_;
    group.step = step_;
    group.ancestors = ancestors_;
    tokens.insert(tokens.end(), pending_tokens_.begin(), pending_tokens_.end());
  }
  groups.push_back(group);
}

void RequestState::beams_computed(uint32_t end) {
  logit_row_ = end - static_cast<uint32_t>(pending_tokens_.size());
  pending_tokens_.clear();
  awaits_selection_ = true;
}

void RequestState::clear_beams() {
  if (beam_buffer_.size() > 0) std::memset(beam_buffer_.data(), 0, beam_buffer_.size());
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
  if (step_ >= task().selections(request_)) TESSERA_CHECK(next_count == 0);
}

void RequestState::drop_buffers() { budget_.give_beams(beam_buffer_); }

}  // namespace tessera::engine
