#include "engine/running_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace tessera::engine {

uint32_t RunningRequest::decode_passes(const Request& request) {
  return request.kind == RequestKind::kAppend ? 0 : request.binding->step_count() - 1;
}

uint32_t RunningRequest::widest(const Request& request) {
  if (request.kind == RequestKind::kScore)
    return static_cast<uint32_t>(request.sid_offsets.size() - 1);
  if (request.kind == RequestKind::kAppend) return 0;
  return *std::max_element(request.widths.begin(), request.widths.end());
}

RunningRequest::Need RunningRequest::need(const Request& request, uint64_t position_bytes) {
  return {kv::blocks_of(static_cast<uint32_t>(request.prompt.size())),
          position_bytes * decode_passes(request) * widest(request)};
}

scheduler::RequestWork RunningRequest::work_of(const Request& request,
                                               const model::ModelConfig& config) {
  const Binding& binding = *request.binding;
  scheduler::RequestWork work;
  work.prompt_tokens = static_cast<uint32_t>(request.prompt.size());
  if (request.kind == RequestKind::kAppend) return work;
  work.selections = binding.step_count();
  work.beams = widest(request);
  const uint32_t depth = binding.depth();
  for (uint32_t level = 0; level < depth; ++level)
    work.cells_per_beam += static_cast<double>(binding.level_tokens(level).size()) / depth;
  if (request.norm == beam::ScoreNorm::kFull) work.cells_per_beam += config.vocab_size;
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
  return {Code::kEngineOverloaded, "keys and values: running requests leave no room for " +
                                       std::to_string(request.prompt.size()) + " further tokens"};
}

void RunningRequest::begin_request(Request request, Clock::time_point now) {
  request_ = std::move(request);
  if (!request_.reach.is_set()) request_.reach = binding().reach();
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
}

scheduler::Runnable RunningRequest::runnable(Clock::time_point now) const {
  const auto slack =
      std::chrono::duration_cast<std::chrono::microseconds>(request_.deadline - now).count();
  return {static_cast<uint32_t>(request_.prompt.size()), prompt().length, pending_rows(),
          request_.priority, slack};
}

scheduler::RequestWork RunningRequest::work() const {
  scheduler::RequestWork work = work_of(request_, config_);
  work.length = prompt().length;
  work.selections -= std::min(work.selections, step_);
  return work;
}

void RunningRequest::prompt_computed(uint32_t length, uint32_t own, uint32_t end) {
  TESSERA_CHECK(length >= prompt().length + own && length <= request_.prompt.size());
  reused_ += length - prompt().length - own;
  kv_.set_length(length);
  if (prompt_left() > 0 || own == 0 || request_.kind == RequestKind::kAppend) return;
  logit_row_ = end - 1;
  awaits_selection_ = true;
}

uint32_t RunningRequest::width() const {
  const uint32_t wanted = request_.widths[std::min<size_t>(step_, request_.widths.size() - 1)];
  return std::min(wanted, affordable_width_);
}

void RunningRequest::narrow_to(const scheduler::Narrowing& narrowing) {
  if (narrowing.width < width()) {
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
  request_ = Request{};
  finished_.clear();
}

}  // namespace tessera::engine
