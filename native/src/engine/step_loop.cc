#include "engine/step_loop.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "platform/memory.h"

namespace tessera::engine {
namespace {

float microseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}

}  // namespace

StepLoop::StepLoop(const EngineOptions& options, const model::Decoder& decoder,
                   device::Device& device, std::unique_ptr<model::Workspace> workspace,
                   LoopCounters& counters)
    : options_(options),
      decoder_(decoder),
      device_(device),
      counters_(counters),
      workspace_(std::move(workspace)),
      select_scratch_(beam::make_scratch()),
      arena_(device, decoder.block_layout().bytes(), platform::available_memory_bytes()) {}

Status StepLoop::admit(Request request, Clock::time_point now) {
  TESSERA_CHECK(has_room());
  if (idle_.empty()) idle_.push_back(std::make_unique<RequestState>(decoder_, device_, arena_));
  Status begun = idle_.back()->begin(std::move(request), now);
  if (!begun.is_ok()) {
    idle_.back()->release();  // a refused request must not pin its snapshot
    return begun;
  }
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  return Status::ok();
}

void StepLoop::run_pass(std::vector<Completion>& completed) {
  runnable_.clear();
  for (const auto& state : running_) runnable_.push_back(state->runnable());
  scheduler::plan_step(runnable_, {row_budget(options_), options_.prefill_chunk_tokens}, plan_);
  forward();
  uint32_t row = 0;
  for (const scheduler::Share& share : plan_) {
    row += share.rows;
    RequestState& state = *running_[share.runnable];
    if (state.awaits_selection()) select(state, row);
  }
  for (size_t i = running_.size(); i-- > 0;) {
    if (running_[i]->is_done()) completed.push_back(retire(i, Status::ok()));
  }
}

void StepLoop::forward() {
  const Clock::time_point start = Clock::now();
  tokens_.clear();
  groups_.clear();
  for (const scheduler::Share& share : plan_)
    running_[share.runnable]->append_rows(share.rows, tokens_, groups_);
  decoder_.forward({tokens_, groups_}, *workspace_);
  const float elapsed_us = microseconds_since(start);
  for (const scheduler::Share& share : plan_) {
    RequestState& state = *running_[share.runnable];
    (state.is_decoding() ? state.timings().decode_us : state.timings().prefill_us) += elapsed_us;
    (state.is_decoding() ? counters_.decode_tokens : counters_.prefill_tokens) += share.rows;
    state.rows_computed(share.rows);
  }
  ++counters_.forward_passes;
}

void StepLoop::select(RequestState& state, uint32_t last_row_end) {
  const Clock::time_point head_start = Clock::now();
  const Binding& binding = state.binding();
  const beam::Beams& beams = state.beams();
  const auto count = static_cast<uint32_t>(beams.nodes.size());
  rows_.resize(count);
  std::iota(rows_.begin(), rows_.end(), last_row_end - count);

  beam::StepLogits logits;
  if (state.has_level()) {
    const std::span<const int32_t> tokens = binding.level_tokens(state.level());
    logits.level_size = static_cast<uint32_t>(tokens.size());
    code_logits_.resize(size_t{count} * tokens.size());
    decoder_.logits(*workspace_, rows_, tokens, code_logits_);
    for (const uint32_t code : binding.codes_without_token(state.level())) {
      for (uint32_t b = 0; b < count; ++b) {
        code_logits_[size_t{b} * tokens.size() + code] = -std::numeric_limits<float>::infinity();
      }
    }
    logits.codes = code_logits_;
  }
  const auto terminal_count = static_cast<uint32_t>(binding.terminal_tokens().size());
  if (terminal_count > 0) {
    terminal_logits_.resize(size_t{count} * terminal_count);
    decoder_.logits(*workspace_, rows_, binding.terminal_tokens(), terminal_logits_);
    next_terminal_.resize(count);
    for (uint32_t b = 0; b < count; ++b) {
      next_terminal_[b] = terminal_logits_[size_t{b} * terminal_count + beams.ended[b]];
    }
    logits.terminal = next_terminal_;
  }
  if (state.request().norm == beam::ScoreNorm::kFull) {
    log_sum_exp_.resize(count);
    decoder_.log_sum_exp(*workspace_, rows_, log_sum_exp_);
    logits.log_sum_exp = log_sum_exp_;
  }
  state.timings().head_us += microseconds_since(head_start);

  const Clock::time_point select_start = Clock::now();
  beam::select(beams, logits, binding.reach(),
               {state.width(), terminal_count, state.request().norm}, *select_scratch_, step_);
  state.apply(step_);
  state.timings().select_us += microseconds_since(select_start);
}

Completion StepLoop::retire(size_t index, Status status) {
  std::unique_ptr<RequestState> state = std::move(running_[index]);
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  Completion completion;
  completion.ticket = state->request().ticket;
  completion.status = std::move(status);
  completion.widths_used = state->widths_used();
  if (completion.status.is_ok()) export_items(*state, completion);
  completion.timings = state->timings();
  completion.timings.total_us = microseconds_since(state->request().submitted);
  state->release();
  idle_.push_back(std::move(state));
  return completion;
}

void StepLoop::export_items(RequestState& state, Completion& completion) {
  const Clock::time_point start = Clock::now();
  const Request& request = state.request();
  completion.answer =
      beam::export_items(state.finished(), state.binding().reach(),
                         {request.result_count, request.items_per_sid}, device_.threads());
  state.timings().export_us = microseconds_since(start);
}

}  // namespace tessera::engine
