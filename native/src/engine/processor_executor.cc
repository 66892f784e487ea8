#include "engine/processor_executor.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/elapsed.h"

namespace tessera::engine {
namespace {

/// All requests of an executor are made by it.
RequestState& own(RunningRequest& state) { return static_cast<RequestState&>(state); }
const RequestState& own(const RunningRequest& state) {
  return static_cast<const RequestState&>(state);
}

}  // namespace

ProcessorExecutor::ProcessorExecutor(const model::Decoder& decoder, kv::Pool& pool,
                                     std::unique_ptr<model::Workspace> workspace, RowFaults* faults)
    : decoder_(decoder),
      workspace_(std::move(workspace)),
      pool_(pool),
      epoch_(decoder, faults),
      head_(decoder) {}

std::unique_ptr<RunningRequest> ProcessorExecutor::make_request(KvBudget& budget) {
  return std::make_unique<RequestState>(decoder_, pool_, budget, workspace_->max_rows());
}

Status ProcessorExecutor::reserve(RunningRequest& state, const Request& request,
                                  const RunningRequest* leader, scheduler::Link& link) {
  return own(state).reserve(request, leader, link);
}

void ProcessorExecutor::drop_buffers(RunningRequest& idle) { own(idle).drop_buffers(); }

Status ProcessorExecutor::begin(RunningRequest& state, Request request, Clock::time_point now) {
  own(state).begin(std::move(request), now);
  return Status::ok();
}

std::span<RequestState* const> ProcessorExecutor::states_of(Running running) {
  states_.clear();
  for (const auto& state : running) states_.push_back(&own(*state));
  return states_;
}

/// Rows of one adapter stand together, so that its matrices are read once for all of them. Those
/// that stand on each other have the same one, and keep their order.
void ProcessorExecutor::order(Running running, std::vector<scheduler::Slice>& plan) {
  const auto adapter_of = [&](uint32_t slice) {
    return running[plan[slice].runnable]->rows_adapter();
  };
  slice_order_.resize(plan.size());
  std::iota(slice_order_.begin(), slice_order_.end(), 0u);
  const bool has_adapters =
      std::any_of(slice_order_.begin(), slice_order_.end(),
                  [&](uint32_t slice) { return adapter_of(slice) != nullptr; });
  if (!has_adapters) return;
  std::sort(slice_order_.begin(), slice_order_.end(), [&](uint32_t a, uint32_t b) {
    const lora::Adapter* of_a = adapter_of(a);
    const lora::Adapter* of_b = adapter_of(b);
    return of_a == of_b ? a < b : std::less<>()(of_a, of_b);
  });
  grouped_.clear();
  for (const uint32_t slice : slice_order_) grouped_.push_back(plan[slice]);
  plan.swap(grouped_);
}

Status ProcessorExecutor::forward(Running running, std::span<const scheduler::Slice> plan,
                                  std::span<const scheduler::Link> links, PassTimes& times) {
  const Clock::time_point start = Clock::now();
  const std::span<RequestState* const> states = states_of(running);
  batch_.build(plan, states, links);
  // Rows that requests share are written for all of them: no prompt gets further than the furthest.
  uint32_t end = 0;
  for (const scheduler::Slice& slice : plan) {
    if (states[slice.runnable]->prompt_left() > 0) end = std::max(end, slice.first + slice.rows);
  }
  for (RequestState* const state : states) state->note_prompt_rows(end);
  decoder_.forward(batch_.forward_batch(), *workspace_);
  epoch_.settle(plan, states, links, batch_, *workspace_);
  times.rows = static_cast<uint32_t>(batch_.forward_batch().tokens.size());
  times.forward_us = microseconds_since(start);
  times.projections_us = workspace_->times().projections_us;
  times.attention_us = workspace_->times().attention_us;
  return Status::ok();
}

Result<scheduler::HeadWork> ProcessorExecutor::select(Running running) {
  return head_.select(states_of(running), *workspace_);
}

uint64_t ProcessorExecutor::take_rolled_back_rows() {
  return epoch_.rolled_back_rows() - std::exchange(rolled_back_seen_, epoch_.rolled_back_rows());
}

bool ProcessorExecutor::is_read_next(const RunningRequest& state) const {
  return state.is_done() || own(state).has_failed();
}

Status ProcessorExecutor::conclude(RunningRequest& state) {
  return own(state).has_failed() ? not_finite() : Status::ok();
}

}  // namespace tessera::engine
