#include "engine/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "engine/elapsed.h"

namespace tessera::engine {

Loop::Loop(const EngineOptions& options, const model::ModelConfig& config,
           device::Device& processor, uint64_t block_bytes, const scheduler::PassCost& cost,
           LoopCounters& counters)
    : options_(options),
      config_(config),
      processor_(processor),
      counters_(counters),
      budget_(processor, block_bytes, options.kv_bytes_max),
      cost_model_(cost) {}

Status Loop::check(const Request&) const { return Status::ok(); }

void Loop::plan() {
  const Clock::time_point now = Clock::now();
  runnable_.clear();
  for (uint32_t i = 0; i < running(); ++i) runnable_.push_back(at(i).runnable(now));
  const scheduler::Budget budget{options_.batch_rows_max, options_.prefill_chunk_tokens,
                                 static_cast<double>(options_.pass_time_target_us),
                                 cost_model_.cost()};
  scheduler::plan_step(runnable_, links_, budget, plan_scratch_, plan_);
  TESSERA_CHECK(!plan_.empty());
  work_ = {};
  for (const scheduler::Share& share : plan_) {
    const bool is_prompt = runnable_[share.runnable].decode_rows == 0;
    work_.add_rows(share.rows, share.first, is_prompt);
    (is_prompt ? counters_.prefill_tokens : counters_.decode_tokens) += share.rows;
  }
}

void Loop::narrow_late() {
  const double slowdown = std::max(1.0, running() * sharing_.rate());
  const Clock::time_point now = Clock::now();
  for (uint32_t i = 0; i < running(); ++i) {
    RunningRequest& state = at(i);
    if (!state.request().allows_partial || !state.awaits_selection()) continue;
    scheduler::RequestWork after = state.work();
    after.selections -= std::min(after.selections, 1u);
    const double budget_us =
        std::chrono::duration<double, std::micro>(state.request().deadline - now).count();
    state.narrow_to(scheduler::narrow(cost(), after, state.width(), slowdown, budget_us,
                                      options_.prefill_chunk_tokens));
  }
}

void Loop::observe(float actual_us) {
  counters_.predicted_us += static_cast<uint64_t>(cost_model_.cost().predict_us(work_));
  counters_.actual_us += static_cast<uint64_t>(actual_us);
  cost_model_.observe(work_, actual_us);
  sharing_.busy(actual_us);
}

double Loop::left_us() {
  double left = 0;
  for (uint32_t i = 0; i < running(); ++i) left += alone_us(at(i).work());
  return left;
}

Completion Loop::completion_of(const RunningRequest& state, Status status) {
  Completion completion;
  completion.ticket = state.request().ticket;
  completion.status = std::move(status);
  completion.widths_used = state.widths_used();
  completion.prefix_reused_tokens = state.prefix_reused_tokens();
  completion.kv_tokens = state.kv().found();
  completion.kv_is_lossy = !state.kv().is_exact();
  completion.kv_inherited_tokens = state.kv().inherited_tokens();
  completion.kv_versions_back = state.kv().versions_back();
  completion.kv_wait_us = state.request().kv.waited_us;
  if (completion.status.is_ok() && state.kv().is_revoked()) {
    completion.status = {Code::kCancelled, "the user was dropped while the request ran"};
  }
  counters_.prefix_reused_tokens += completion.prefix_reused_tokens;
  sharing_.served(alone_us(RunningRequest::work_of(state.request(), config_)) -
                  alone_us(state.work()));
  return completion;
}

void Loop::answer(RunningRequest& state, Completion& completion) {
  if (!completion.status.is_ok()) return;
  const Clock::time_point start = Clock::now();
  state.task_run().answer(state, processor_.threads(), completion);
  state.timings().export_us = microseconds_since(start);
}

}  // namespace tessera::engine
