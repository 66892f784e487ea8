#include "engine/running_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "engine/tasks/ranking.h"

namespace tessera::engine {

RunningRequest::Need RunningRequest::need(const Request& request, uint64_t slot_bytes,
                                          uint64_t state_bytes) {
  return {kv::blocks_of(static_cast<uint32_t>(request.prompt.size())),
          slot_bytes * request.task->slots(request) + state_bytes};
}

catalogue::Reach RunningRequest::reach_of(const Request& request) {
  if (request.reach.is_set() || request.binding == nullptr) return request.reach;
  return request.binding->reach();
}

scheduler::RequestWork RunningRequest::work_of(const Request& request,
                                               const model::ModelConfig& config) {
  scheduler::RequestWork work;
  work.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  work.length = std::min(request.sibling_tokens, work.prompt_tokens - 1);
  if (!request.task->selects()) return work;
  work.selections = request.task->selections(request);
  work.beams = request.task->widest(request);
  if (request.rows_predicted > 0 && work.selections > 1) {
    work.beams = static_cast<double>(request.rows_predicted) / (work.selections - 1);
  }
  if (ranks(request) && request.task->reads_codes()) {
    const double items = static_cast<double>(rank_slots(request, request.result_count));
    work.beams = (work.beams * (work.selections - 1) + items) / work.selections;
    work.selections += 1;
  }
  work.cells_per_beam = static_cast<double>(request.label_tokens.size());
  const uint32_t depth = request.task->reads_codes() ? request.binding->depth() : 0;
  for (uint32_t level = 0; level < depth; ++level)
    work.cells_per_beam += static_cast<double>(request.binding->level_tokens(level).size()) / depth;
  const bool reads_logits = request.task->reads_codes() || request.task->reads_tokens();
  if (reads_logits && request.norm == beam::ScoreNorm::kFull)
    work.cells_per_beam += config.vocab_size;
  return work;
}

Status RunningRequest::reserve_prompt(const Request& request, const RunningRequest* leader,
                                      scheduler::Link& link) {
  TESSERA_RETURN_IF_ERROR(kv_.begin(request, leader == nullptr ? nullptr : &leader->request_,
                                    leader == nullptr ? nullptr : &leader->kv_, link));
  if (budget_.fits(kv_.own_blocks(), 0)) {
    budget_.take_blocks(kv_.own_blocks());
    return Status::ok();
  }
  kv_.release();
  return {Code::kEngineOverloaded,
          "keys and values: running requests leave no room for a prompt of " +
              std::to_string(request.prompt.size()) + " tokens"};
}

Status RunningRequest::reserve(const Request& request, const RunningRequest* leader,
                               scheduler::Link& link) {
  const Status beams = reserve_beams(request);
  lacks_beams_ = !beams.is_ok();
  if (lacks_beams_) return beams;
  return reserve_prompt(request, leader, link);
}

void RunningRequest::begin(Request request, Clock::time_point now) {
  request_ = std::move(request);
  request_.reach = reach_of(request_);
  task_run_ = task().start(request_);
  finished_.clear();
  widths_used_.clear();
  timings_ = Timings{};
  passes_.clear();
  timings_.queue_us = std::chrono::duration<float, std::micro>(now - request_.submitted).count();
  step_ = 0;
  reused_ = prompt().length - kv_.found_tokens();
  awaits_selection_ = false;
  affordable_width_ = UINT32_MAX;
  is_narrowed_ = false;
  comes_too_late_ = false;
  has_failed_ = false;
  is_asked_ = false;
  rows_.clear();
  parent_slots_.clear();
  list_due();
}

scheduler::Runnable RunningRequest::runnable(Clock::time_point now) const {
  const auto slack =
      std::chrono::duration_cast<std::chrono::microseconds>(request_.deadline - now).count();
  return {static_cast<uint32_t>(request_.prompt.size()),
          prompt().length,
          pending_rows(),
          request_.priority,
          slack,
          request_.encoded};
}

scheduler::RequestWork RunningRequest::work() const {
  scheduler::RequestWork work = work_of(request_, decoder_.config());
  work.length = prompt().length;
  work.selections -= std::min(work.selections, step_);
  return work;
}

void RunningRequest::prompt_computed(uint32_t length, uint32_t own, uint32_t end) {
  TESSERA_CHECK(length >= prompt().length + own && length <= request_.prompt.size());
  reused_ += length - prompt().length - own;
  kv_.set_length(length);
  if (prompt_left() > 0 || own == 0 || !task().selects()) return;
  logit_row_ = end - 1;
  awaits_selection_ = true;
}

const lora::Adapter* RunningRequest::rows_adapter() const {
  const bool ranks_alone = pending_rows() > 0 && reads_hidden() && is_activated(request_);
  return (ranks_alone ? request_.ranking.adapter : request_.adapter).get();
}

uint32_t RunningRequest::width() const {
  return std::min(task().width(request_, step_), affordable_width_);
}

void RunningRequest::narrow_to(const scheduler::Narrowing& narrowing) {
  if (narrowing.width < width()) {
    task_run_->narrow(narrowing.width);
    affordable_width_ = narrowing.width;
    is_narrowed_ = true;
  }
  comes_too_late_ = !narrowing.fits;
}

Completeness RunningRequest::completeness() const {
  if (pending_rows() > 0) return Completeness::kCut;
  return is_narrowed_ ? Completeness::kNarrowed : Completeness::kWhole;
}

void RunningRequest::release() {
  budget_.give_blocks(kv_.own_blocks());
  kv_.release();
  task_run_.reset();
  request_ = Request{};
  finished_.clear();
}

}  // namespace tessera::engine
