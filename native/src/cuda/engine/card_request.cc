#include "cuda/engine/card_request.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tessera::engine::cuda {

Status CardRequest::reserve(const Request& request, const CardTarget& target) {
  if (request.task->selects()) {
    const uint32_t width = request.task->widest(request);
    const uint32_t keys = CardSearch::keys_max(width, *target.catalogue, *target.version);
    const uint64_t bytes = search_.bytes(width, keys, *target.catalogue);
    if (bytes > search_.bytes_held()) {
      drop_buffers();
      if (!budget_.fits(0, bytes)) {
        return {Code::kEngineOverloaded, "keys and values of beams: no room for " +
                                             std::to_string(bytes) + " bytes of a search"};
      }
    }
    TESSERA_RETURN_IF_ERROR(search_.reserve(width, keys, *target.catalogue));
    budget_.recount_beams(counted_bytes_, search_.bytes_held());
    counted_bytes_ = search_.bytes_held();
  }
  scheduler::Link none;
  return reserve_prompt(request, nullptr, none);
}

Status CardRequest::begin(Request request, CardTarget target, uint32_t slot,
                          Clock::time_point now) {
  begin_request(std::move(request), now);
  target_ = std::move(target);
  slot_ = slot;
  rows_ = 0;
  due_rows_ = 1;
  blocks_.clear();
  for (uint32_t b = 0; b < prompt().block_count; ++b) {
    blocks_.push_back(static_cast<uint16_t*>(prompt().blocks[b]));
  }
  if (!task().selects()) return Status::ok();
  return search_.begin(target_.version, request_.norm, reach().eligibility());
}

void CardRequest::append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                              std::vector<model::cuda::CardRows>& groups) {
  if (rows_ > 0) {
    TESSERA_CHECK(slice.rows == rows_);
    tokens.insert(tokens.end(), rows_, 0);
    groups.push_back(search_.rows(blocks_, prompt().length, step_ - 1, rows_));
    return;
  }
  note_prompt_rows(slice.first + slice.rows);
  TESSERA_CHECK(uint64_t{slice.first} + slice.rows <= request_.prompt.size());
  const auto first = request_.prompt.begin() + slice.first;
  tokens.insert(tokens.end(), first, first + slice.rows);
  model::cuda::CardRows rows;
  rows.blocks = blocks_;
  rows.row_count = slice.rows;
  rows.first_position = slice.first;
  groups.push_back(rows);
}

void CardRequest::rows_asked(const scheduler::Slice& slice, uint32_t end) {
  if (rows_ == 0) return prompt_computed(slice.first + slice.rows, slice.rows, end);
  logit_row_ = end - rows_;
  due_rows_ = std::exchange(rows_, 0);
  awaits_selection_ = true;
}

scheduler::HeadWork CardRequest::head_work() const {
  const double vocab = request_.norm == beam::ScoreNorm::kFull ? config_.vocab_size : 0;
  const double codes =
      has_level(step_) ? static_cast<double>(binding().level_tokens(step_).size()) : 0;
  const auto ends = static_cast<double>(binding().terminal_tokens().size());
  return {due_rows_ * (codes + ends + vocab), std::max(codes + ends, vocab)};
}

Status CardRequest::head(const uint32_t* row_numbers) {
  return search_.head(step_, row_numbers, logit_row_, due_rows_, width());
}

Status CardRequest::chosen() {
  TESSERA_CHECK(awaits_selection_);
  awaits_selection_ = false;
  TESSERA_RETURN_IF_ERROR(search_.note(step_));
  rows_ = search_.rows_after(step_, width());
  ++step_;
  return Status::ok();
}

Status CardRequest::collect() {
  if (step_ == 0) return Status::ok();
  Result<CardFindings> findings = search_.collect(step_ - 1);
  if (!findings.is_ok()) return findings.status();
  finished_ = std::move(findings.value().finished);
  widths_used_ = std::move(findings.value().widths_used);
  return Status::ok();
}

void CardRequest::release() {
  RunningRequest::release();
  search_.end();
  target_ = {};
}

void CardRequest::drop_buffers() {
  search_.drop();
  budget_.recount_beams(std::exchange(counted_bytes_, 0), 0);
}

}  // namespace tessera::engine::cuda
