#include "engine/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "engine/elapsed.h"

namespace tessera::engine {

Loop::Loop(const EngineOptions& options, device::Device& processor, const model::Decoder& decoder,
           kv::Pool& pool, std::unique_ptr<Passes> passes, const scheduler::PassCost& cost,
           LoopCounters& counters)
    : options_(options),
      processor_(processor),
      counters_(counters),
      decoder_(decoder),
      pool_(pool),
      passes_(std::move(passes)),
      budget_(decoder.memory(), decoder.block_layout().bytes(), options.kv_bytes_max),
      cost_model_(cost) {}

Loop::~Loop() { drop_lenders(); }

scheduler::Link Loop::find_leader(const Request& request) {
  if (!shares_prompts() || !request.task->needs().shares_blocks) return {};
  prompts_.clear();
  for (const auto& state : running_) {
    const bool reads_alike =
        state->request().adapter == request.adapter && state->task().needs().shares_blocks;
    prompts_.emplace_back(reads_alike ? std::span<const int32_t>(state->request().prompt)
                                      : std::span<const int32_t>());
  }
  return scheduler::find_leader(prompts_, request.prompt);
}

Loop::Lender Loop::find_lender(const Request& request) {
  prompts_.clear();
  for (const auto& state : lenders_) {
    const bool reads_alike = state->request().adapter == request.adapter;
    prompts_.emplace_back(reads_alike ? std::span<const int32_t>(state->request().prompt)
                                      : std::span<const int32_t>());
  }
  const scheduler::Link link = scheduler::find_leader(prompts_, request.prompt);
  if (link.leader == scheduler::kNoLeader) return {};
  return {lenders_[link.leader].get(), link.shared};
}

RunningRequest& Loop::idle() {
  if (idle_.empty()) {
    idle_.push_back(
        std::make_unique<RunningRequest>(decoder_, pool_, budget_, passes_->rows_max()));
  }
  return *idle_.back();
}

/// Room for the request in the state that it will have, beside the running request of the link.
Status Loop::reserve_beside(const Request& request, scheduler::Link& link) {
  const RunningRequest* leader =
      link.leader == scheduler::kNoLeader ? nullptr : running_[link.leader].get();
  return idle().reserve(request, leader, link);
}

/// Reserves beside an ended request, where that has more of the prompt. Where room is short, all
/// that idles and all that lenders hold is given back first.
Status Loop::reserve(const Request& request, scheduler::Link& link) {
  const bool may_borrow = request.task->needs().lends_prompt;
  const Lender lender = may_borrow ? find_lender(request) : Lender{};
  Status status;
  if (lender.shared > link.shared) {
    scheduler::Link to_lender{running(), lender.shared};
    status = idle().reserve(request, lender.state, to_lender);
    // All that they share is computed: nothing is left to compute for each other.
    if (status.is_ok()) link = {};
  } else {
    status = reserve_beside(request, link);
  }
  if (status.code() != Code::kEngineOverloaded) return status;
  drop_lenders();
  for (const auto& state : idle_) state->drop_buffers();
  return reserve_beside(request, link);
}

void Loop::part_with(std::unique_ptr<RunningRequest> state, bool is_answered) {
  const bool lends = is_answered && shares_prompts() && state->prompt_left() == 0 &&
                     state->task().needs().lends_prompt;
  if (lends) {
    lenders_.push_back(std::move(state));
    return;
  }
  state->release();
  idle_.push_back(std::move(state));
}

void Loop::drop_lenders() {
  for (auto& state : lenders_) part_with(std::move(state), false);
  lenders_.clear();
}

Admission Loop::admit(Request& request, Clock::time_point now, Status& status) {
  TESSERA_CHECK(has_room());
  if (is_full_ && !running_.empty()) return Admission::kWaits;
  scheduler::Link link = find_leader(request);
  status = reserve(request, link);
  is_full_ = status.code() == Code::kEngineOverloaded;
  // Transfers that hold blocks end, and a request's own need is within the limits. Memory of beams
  // that the device lacks while nothing runs it will lack later.
  if (is_full_ && (!running_.empty() || !idle_.back()->lacks_beams())) {
    status = Status::ok();
    return Admission::kWaits;
  }
  if (!status.is_ok()) {
    if (status.code() == Code::kEngineUnavailable) health_ = status;
    return Admission::kRefused;
  }
  idle_.back()->begin(std::move(request), now);
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  links_.push_back(link);
  return Admission::kAdmitted;
}

void Loop::plan() {
  const Clock::time_point now = Clock::now();
  runnable_.clear();
  for (const auto& state : running_) runnable_.push_back(state->runnable(now));
  const scheduler::Budget budget{options_.batch_rows_max, options_.prefill_chunk_tokens,
                                 static_cast<double>(options_.pass_time_target_us),
                                 cost_model_.cost()};
  scheduler::plan_step(runnable_, links_, budget, plan_scratch_, plan_);
  TESSERA_CHECK(!plan_.empty());
  work_ = {};
  for (const scheduler::Slice& slice : plan_) {
    const bool is_prompt = runnable_[slice.runnable].decode_rows == 0;
    work_.add_rows(slice.rows, slice.first, is_prompt);
    (is_prompt ? counters_.prefill_tokens : counters_.decode_tokens) += slice.rows;
  }
}

/// The time that prompts may make a pass of so many requests (plan_step.cc).
uint32_t Loop::rows_in_time(double row_us, double fixed_us) const {
  if (options_.pass_time_target_us == 0 || !(row_us > 0)) return UINT32_MAX;
  const double alone_us =
      std::max<double>(options_.pass_time_target_us, scheduler::kPassParts * fixed_us);
  const double rows = alone_us * std::sqrt(static_cast<double>(running())) / row_us;
  return std::max(scheduler::kPromptRowsMinAlone,
                  static_cast<uint32_t>(std::min<double>(rows, options_.batch_rows_max)));
}

void Loop::narrow_late() {
  const double slowdown = std::max(1.0, running() * sharing_.rate());
  const Clock::time_point now = Clock::now();
  for (const auto& state : running_) {
    if (!state->awaits_selection()) continue;
    const double rows = std::max(1u, state->pass().rows);
    const double row_us = cost().row_us_among(rows);
    state->set_pass_rows(row_us > 0 ? cost().fixed_us(rows) / row_us : 0);
    state->set_rows_in_time(rows_in_time(row_us, cost().fixed_us(rows)));
    if (!state->request().allows_partial || state->reads_hidden()) continue;
    scheduler::RequestWork after = state->work();
    after.selections -= std::min(after.selections, 1u);
    const double budget_us =
        std::chrono::duration<double, std::micro>(state->request().deadline - now).count();
    state->narrow_to(scheduler::narrow(cost(), after, state->width(), slowdown, budget_us,
                                       options_.prefill_chunk_tokens));
  }
}

/// Counts the experts of the last computed pass.
void Loop::count_experts() {
  const model::ExpertUse use = passes_->expert_use();
  work_.experts = static_cast<double>(use.touched);
  counters_.expert_rows += use.rows;
  counters_.expert_places += use.places;
  counters_.experts_touched += use.touched;
}

/// The pass, and the selections that follow from it.
Status Loop::compute(PassTimes& times) {
  TESSERA_RETURN_IF_ERROR(passes_->forward(running_, plan_, links_, times));
  counters_.rolled_back_tokens += passes_->take_rolled_back_rows();
  count_experts();
  for (const auto& state : running_) {
    state->pass() = times;
    state->pass().is_decode = state->is_decoding();
  }
  narrow_late();
  const Result<scheduler::HeadWork> head = passes_->select(running_);
  if (!head.is_ok()) return head.status();
  work_.head = head.value();
  return Status::ok();
}

void Loop::run_pass(std::vector<Completion>& completed) {
  const Clock::time_point start = Clock::now();
  if (!health_.is_ok()) return fail(health_, completed);
  drop_lenders();
  plan();
  passes_->order(running_, plan_);
  PassTimes times;
  times.plan_us = microseconds_since(start);
  const Status status = compute(times);
  ++counters_.forward_passes;
  if (!status.is_ok()) return fail(status, completed);
  observe(microseconds_since(start));
  for (const auto& state : running_) state->end_pass();
  conclude(completed);
}

void Loop::observe(double actual_us) {
  scheduler::PassWork planned = work_;
  planned.experts = 0;  // counted since
  counters_.predicted_us += static_cast<uint64_t>(cost_model_.cost().predict_us(planned));
  counters_.actual_us += static_cast<uint64_t>(actual_us);
  cost_model_.observe(work_, actual_us);
  sharing_.busy(actual_us);
}

void Loop::conclude(std::vector<Completion>& completed) {
  for (size_t i = running_.size(); i-- > 0;) {
    const RunningRequest& state = *running_[i];
    if (state.has_failed()) {
      completed.push_back(retire(i, not_finite()));
    } else if (state.is_done()) {
      completed.push_back(retire(i, Status::ok()));
    }
  }
}

void Loop::fail(const Status& status, std::vector<Completion>& completed) {
  const bool lacks_memory = status.code() == Code::kEngineOverloaded;
  if (!lacks_memory) health_ = {Code::kEngineUnavailable, status.message()};
  for (size_t i = running_.size(); i-- > 0;) {
    running_[i]->drop_computed();
    completed.push_back(retire(i, lacks_memory ? status : health_));
  }
}

double Loop::left_us() const {
  double left = 0;
  for (const auto& state : running_) left += alone_us(state->work());
  return left;
}

Completion Loop::retire(size_t index, Status status) {
  std::unique_ptr<RunningRequest> state = std::move(running_[index]);
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  scheduler::unlink(links_, static_cast<uint32_t>(index));
  Completion completion = completion_of(*state, std::move(status));
  answer(*state, completion);
  completion.timings = state->timings();
  completion.passes = state->passes();
  completion.timings.total_us = microseconds_since(state->request().submitted);
  if (options_.kv.is_enabled) state->keep_kv();
  is_full_ = false;
  part_with(std::move(state), completion.status.is_ok());
  return completion;
}

Completion Loop::completion_of(const RunningRequest& state, Status status) {
  Completion completion;
  completion.ticket = state.request().ticket;
  completion.task = state.request().task;
  completion.status = std::move(status);
  completion.widths_used = state.widths_used();
  completion.prefix_reused_tokens = state.prefix_reused_tokens();
  completion.kv_tokens = state.kv().found();
  completion.kv_tiers = state.kv().tiers();
  completion.kv_is_lossy = !state.kv().is_exact();
  completion.kv_inherited_tokens = state.kv().inherited_tokens();
  completion.kv_versions_back = state.kv().versions_back();
  completion.kv_wait_us = state.request().kv.waited_us;
  if (completion.status.is_ok() && state.kv().is_revoked()) {
    completion.status = {Code::kCancelled, "the user was erased while the request ran"};
  }
  counters_.prefix_reused_tokens += completion.prefix_reused_tokens;
  sharing_.served(alone_us(RunningRequest::work_of(state.request(), decoder_.config())) -
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
