// The rows of a running request's beams: their memory, their places in a pass, what comes of them.
#include "engine/running_request.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tessera::engine {

Status RunningRequest::reserve_beams(const Request& request) {
  const attention::DeltaShape shape = decoder_.recipe().delta_shape(decoder_.compute_type());
  const uint64_t bytes = need(request, decoder_.slot_bytes(), decoder_.state_bytes()).beam_bytes;
  if (beam_buffer_.size() < bytes) {
    budget_.give_beams(beam_buffer_);
    Result<device::Buffer> grown = budget_.take_beams(bytes);
    if (!grown.is_ok()) return grown.status();
    beam_buffer_ = std::move(grown).value();
  }
  const auto slots = static_cast<uint32_t>(request.task->slots(request));
  // The state first, which must be aligned.
  char* at = beam_buffer_.as<char>();
  if (shape.layers > 0) kv_.state().use(shape, reinterpret_cast<float*>(at));
  at += decoder_.state_bytes();
  const uint64_t keys = decoder_.kv_bytes_per_position() / 2 * slots;
  auto* const delta = reinterpret_cast<float*>(at + (2 * keys + 3) / 4 * 4);
  beam_kv_ = {at, at + keys, slots, shape.layers > 0 ? delta : nullptr};
  return Status::ok();
}

void RunningRequest::append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                                 std::vector<attention::RowGroup>& groups) const {
  attention::RowGroup group;
  group.prompt = &prompt();
  group.first_row = static_cast<uint32_t>(tokens.size());
  if (pending_rows() == 0) {
    TESSERA_CHECK(uint64_t{slice.first} + slice.rows <= request_.prompt.size());
    group.row_count = slice.rows;
    group.first_position = slice.first;
    group.captures = kv_.state().captures(slice.first, slice.rows);
    const auto first = request_.prompt.begin() + slice.first;
    tokens.insert(tokens.end(), first, first + slice.rows);
    groups.push_back(group);
    return;
  }
  TESSERA_CHECK(slice.rows == row_count());
  tokens.insert(tokens.end(), tokens_.begin(), tokens_.end());
  group.beam = &beam_kv_;
  for (size_t d = 0; d < due_count_; ++d) {
    const DueRows& rows = due_[d];
    group.row_count = static_cast<uint32_t>(rows.beams.nodes.size());
    group.first_position = prompt().length + rows.step - 1;
    group.step = rows.step;
    group.first_slot = first_slot() + rows.first;
    group.ancestors = ancestors_[d];
    groups.push_back(group);
    group.first_row += group.row_count;
  }
}

void RunningRequest::beams_computed(uint32_t end) {
  logit_row_ = end - row_count();
  is_asked_ = true;
  awaits_selection_ = true;
}

RunningRequest::DueRows& RunningRequest::add_due(uint32_t first, uint32_t step) {
  if (due_count_ == due_.size()) due_.emplace_back();
  DueRows& rows = due_[due_count_++];
  rows.first = first;
  rows.step = step;
  rows.beams.scores.clear();
  rows.beams.nodes.clear();
  rows.beams.ended.clear();
  return rows;
}

void RunningRequest::list_due() {
  due_count_ = 0;
  if (rows_.size() == 0) {
    beam::Beams& root = add_due(0, 0).beams;
    root.scores.push_back(0);
    root.nodes.push_back(catalogue::kRoot);
    root.ended.push_back(0);
    return;
  }
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    const uint32_t step = rows_.steps[row];
    if (due_count_ == 0 || due_[due_count_ - 1].step != step) add_due(row, step);
    beam::Beams& beams = due_[due_count_ - 1].beams;
    beams.scores.push_back(rows_.beams.scores[row]);
    beams.nodes.push_back(rows_.beams.nodes[row]);
    beams.ended.push_back(rows_.beams.ended[row]);
  }
}

void RunningRequest::take(const DueRows& rows, const beam::StepLogits& logits,
                          beam::Scratch& scratch) {
  task_run_->take({rows.step, first_slot() + rows.first, rows.beams, logits, {}, 0}, scratch);
}

void RunningRequest::take(const DueRows& rows, std::span<const float> hidden,
                          beam::Scratch& scratch) {
  task_run_->take(
      {rows.step, first_slot() + rows.first, rows.beams, {}, hidden, decoder_.config().hidden_size},
      scratch);
}

void RunningRequest::advance() {
  TESSERA_CHECK(awaits_selection_);
  awaits_selection_ = is_asked_ = false;
  rows_.clear();
  task_run_->next({rows_max_, pass_rows_, rows_in_time_}, rows_);
  const std::span<const beam::Finished> finished = task_run_->finished();
  finished_.assign(finished.begin(), finished.end());
  parent_slots_.resize(std::min<size_t>(parent_slots_.size(), task_run_->slots_kept()));
  parent_slots_.insert(parent_slots_.end(), rows_.parents.begin(), rows_.parents.end());
  TESSERA_CHECK(parent_slots_.size() <= beam_kv_.slots);
  list_due();
  tokens_.clear();
  if (rows_.size() == 0) {
    step_ = task().selections(request_);
  } else {
    step_ = reads_hidden() ? step_ + 1 : rows_.steps.front();
  }
  if (rows_.size() == 0) return;
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    const uint32_t code = rows_.codes[row];
    if (reads_hidden()) {
      tokens_.push_back(static_cast<int32_t>(code));
      continue;
    }
    tokens_.push_back(code == beam::kTerminalCode
                          ? binding().terminal_tokens()[rows_.beams.ended[row] - 1]
                          : binding().level_tokens(rows_.steps[row] - 1)[code]);
  }
  ancestors_.resize(std::max(ancestors_.size(), due_count_));
  for (size_t d = 0; d < due_count_; ++d) find_ancestors(due_[d], ancestors_[d]);
}

/// Slots of the rows that each row stands on, oldest first.
void RunningRequest::find_ancestors(const DueRows& rows, std::vector<uint32_t>& ancestors) const {
  const uint32_t before = rows.step - 1;
  ancestors.resize(rows.beams.nodes.size() * before);
  for (size_t row = 0; row < rows.beams.nodes.size(); ++row) {
    uint32_t slot = rows_.parents[rows.first + row];
    for (uint32_t t = before; t-- > 0; slot = parent_slots_[slot]) {
      ancestors[row * before + t] = slot;
    }
    TESSERA_CHECK(slot == beam::kNoSlot);
  }
}

}  // namespace tessera::engine
