#include "engine/passes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/elapsed.h"

namespace tessera::engine {

Passes::Passes(const model::Decoder& decoder, std::unique_ptr<model::PassMemory> memory,
               RowFaults* faults)
    : decoder_(decoder), memory_(std::move(memory)), epoch_(decoder, faults), head_(decoder) {}

std::span<RunningRequest* const> Passes::states_of(Running running) {
  states_.clear();
  for (const auto& state : running) states_.push_back(state.get());
  return states_;
}

void Passes::order(Running running, std::vector<scheduler::Slice>& plan) {
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

Status Passes::forward(Running running, std::span<const scheduler::Slice> plan,
                       std::span<const scheduler::Link> links, PassTimes& times) {
  const Clock::time_point start = Clock::now();
  const std::span<RunningRequest* const> states = states_of(running);
  batch_.build(plan, states, links);
  // Rows that requests share are written for all of them: no prompt gets further than the furthest.
  uint32_t end = 0;
  for (const scheduler::Slice& slice : plan) {
    if (states[slice.runnable]->prompt_left() > 0) end = std::max(end, slice.first + slice.rows);
  }
  for (RunningRequest* const state : states) state->note_prompt_rows(end);
  TESSERA_RETURN_IF_ERROR(decoder_.forward(batch_.forward_batch(), *memory_));
  TESSERA_RETURN_IF_ERROR(epoch_.settle(plan, states, links, batch_, *memory_));
  times.rows = static_cast<uint32_t>(batch_.forward_batch().tokens.size());
  times.forward_us = microseconds_since(start);
  times.projections_us = memory_->times().projections_us;
  times.attention_us = memory_->times().attention_us;
  return Status::ok();
}

Result<scheduler::HeadWork> Passes::select(Running running) {
  return head_.select(states_of(running), *memory_);
}

uint64_t Passes::take_rolled_back_rows() {
  return epoch_.rolled_back_rows() - std::exchange(rolled_back_seen_, epoch_.rolled_back_rows());
}

}  // namespace tessera::engine
