#include "engine/step_loop.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "engine/elapsed.h"

namespace tessera::engine {
StepLoop::StepLoop(const EngineOptions& options, const model::Decoder& decoder,
                   device::Device& device, kv::Pool& pool,
                   std::unique_ptr<model::Workspace> workspace, const scheduler::PassCost& cost,
                   LoopCounters& counters, RowFaults* faults)
    : Loop(options, decoder.config(), device, decoder.block_layout().bytes(), cost, counters),
      decoder_(decoder),
      workspace_(std::move(workspace)),
      pool_(pool),
      epoch_(decoder, faults),
      head_(decoder) {}

scheduler::Link StepLoop::find_leader(const Request& request) {
  prompts_.clear();
  for (const auto& state : running_) {
    const bool reads_alike = state->request().adapter == request.adapter &&
                             state->task().needs().shares_blocks &&
                             request.task->needs().shares_blocks;
    prompts_.emplace_back(reads_alike ? std::span<const int32_t>(state->request().prompt)
                                      : std::span<const int32_t>());
  }
  return scheduler::find_leader(prompts_, request.prompt);
}

/// Room for the request in the state that it will have, after what idles has been given back.
Status StepLoop::reserve(const Request& request, scheduler::Link& link) {
  if (idle_.empty()) idle_.push_back(std::make_unique<RequestState>(decoder_, pool_, budget_));
  const RequestState* leader =
      link.leader == scheduler::kNoLeader ? nullptr : running_[link.leader].get();
  Status status = idle_.back()->reserve(request, leader, link);
  if (status.code() != Code::kEngineOverloaded) return status;
  for (const auto& state : idle_) state->drop_buffers();
  return idle_.back()->reserve(request, leader, link);
}

Admission StepLoop::admit(Request& request, Clock::time_point now, Status& status) {
  TESSERA_CHECK(has_room());
  if (is_full_ && !running_.empty()) return Admission::kWaits;
  scheduler::Link link = find_leader(request);
  status = reserve(request, link);
  is_full_ = status.code() == Code::kEngineOverloaded;
  if (is_full_) {
    // A request alone waits for transfers that hold blocks: its own need is within the limits.
    status = Status::ok();
    return Admission::kWaits;
  }
  if (!status.is_ok()) return Admission::kRefused;
  idle_.back()->begin(std::move(request), now);
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  links_.push_back(link);
  return Admission::kAdmitted;
}

void StepLoop::run_pass(std::vector<Completion>& completed) {
  const Clock::time_point start = Clock::now();
  plan();
  group_by_adapter();
  PassTimes times;
  times.plan_us = microseconds_since(start);
  forward(times);
  for (const auto& state : running_) {
    state->pass() = times;
    state->pass().is_decode = state->is_decoding();
  }
  narrow_late();
  work_.cells += head_.select(running_, *workspace_);
  for (const auto& state : running_) state->end_pass();
  observe(microseconds_since(start));
  end_failed(completed);
  for (size_t i = running_.size(); i-- > 0;) {
    if (running_[i]->is_done()) completed.push_back(retire(i, Status::ok()));
  }
}

/// Rows of one adapter stand together, so that its matrices are read once for all of them. Those
/// that stand on each other have the same one, and keep their order.
void StepLoop::group_by_adapter() {
  const auto adapter_of = [this](uint32_t share) {
    return running_[plan_[share].runnable]->request().adapter.get();
  };
  share_order_.resize(plan_.size());
  std::iota(share_order_.begin(), share_order_.end(), 0u);
  const bool has_adapters =
      std::any_of(share_order_.begin(), share_order_.end(),
                  [&](uint32_t share) { return adapter_of(share) != nullptr; });
  if (!has_adapters) return;
  std::sort(share_order_.begin(), share_order_.end(), [&](uint32_t a, uint32_t b) {
    const lora::Adapter* of_a = adapter_of(a);
    const lora::Adapter* of_b = adapter_of(b);
    return of_a == of_b ? a < b : std::less<>()(of_a, of_b);
  });
  grouped_.clear();
  for (const uint32_t share : share_order_) grouped_.push_back(plan_[share]);
  plan_.swap(grouped_);
}

/// Rows that requests share are written for all of them: no prompt gets further than the furthest.
void StepLoop::note_prompt_rows() {
  uint32_t end = 0;
  for (const scheduler::Share& share : plan_) {
    if (running_[share.runnable]->prompt_left() > 0) end = std::max(end, share.first + share.rows);
  }
  for (const auto& state : running_) state->note_prompt_rows(end);
}

void StepLoop::forward(PassTimes& times) {
  const Clock::time_point start = Clock::now();
  batch_.build(plan_, running_, links_);
  note_prompt_rows();
  decoder_.forward(batch_.forward_batch(), *workspace_);
  const uint64_t rolled_back = epoch_.rolled_back_rows();
  epoch_.settle(plan_, running_, links_, batch_, *workspace_);
  counters_.rolled_back_tokens += epoch_.rolled_back_rows() - rolled_back;
  times.rows = static_cast<uint32_t>(batch_.forward_batch().tokens.size());
  times.forward_us = microseconds_since(start);
  times.projections_us = workspace_->times().projections_us;
  times.attention_us = workspace_->times().attention_us;
  ++counters_.forward_passes;
}

/// Their indices are those of before the pass, and nobody has been retired since.
void StepLoop::end_failed(std::vector<Completion>& completed) {
  const std::span<const uint32_t> failed = epoch_.failed();
  for (size_t i = failed.size(); i-- > 0;) {
    completed.push_back(retire(
        failed[i], {Code::kModelNotFinite, "the model's numbers for this request are not finite"}));
  }
}

Completion StepLoop::retire(size_t index, Status status) {
  std::unique_ptr<RequestState> state = std::move(running_[index]);
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  scheduler::unlink(links_, static_cast<uint32_t>(index));
  Completion completion = completion_of(*state, std::move(status));
  answer(*state, completion);
  completion.timings = state->timings();
  completion.passes = state->passes();
  completion.timings.total_us = microseconds_since(state->request().submitted);
  if (options_.kv.is_enabled) state->keep_kv();
  state->release();
  is_full_ = false;
  idle_.push_back(std::move(state));
  return completion;
}

}  // namespace tessera::engine
