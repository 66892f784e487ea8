#include "engine/head.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

#include "engine/elapsed.h"

namespace tessera::engine {
namespace {

const int32_t* level_tokens(const RunningRequest& state, uint32_t step) {
  return state.has_level(step) ? state.candidates(step).data() : nullptr;
}

uint32_t level_size(const RunningRequest& state, uint32_t step) {
  return state.has_level(step) ? static_cast<uint32_t>(state.candidates(step).size()) : 0;
}

uint32_t terminal_count(const RunningRequest& state) {
  if (state.task().reads_tokens()) return 0;
  return static_cast<uint32_t>(state.binding().terminal_tokens().size());
}

const model::Adapter* adapter_of(const RunningRequest& state) {
  const lora::Adapter* adapter = state.request().adapter.get();
  return adapter == nullptr ? nullptr : &adapter->numbers();
}

std::span<const uint32_t> codes_without_token(const RunningRequest& state, uint32_t step) {
  if (state.task().reads_tokens()) return {};
  return state.binding().codes_without_token(step);
}

bool is_full(const RunningRequest& state) { return state.request().norm == beam::ScoreNorm::kFull; }

}  // namespace

/// Finds who is due and lays out the arrays. Requests that want the same codes stand together, and
/// among them those of one adapter: they are multiplied together.
Result<scheduler::HeadWork> Head::collect(std::span<RunningRequest* const> running,
                                          model::PassMemory& memory) {
  due_.clear();
  for (RunningRequest* const state : running) {
    if (!state->awaits_selection() || state->reads_hidden()) continue;
    for (const RunningRequest::DueRows& rows : state->due()) {
      due_.push_back({state, &rows, static_cast<uint32_t>(rows.beams.nodes.size())});
    }
  }
  std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
    const int32_t* of_a = level_tokens(*a.state, a.rows->step);
    const int32_t* of_b = level_tokens(*b.state, b.rows->step);
    return of_a == of_b ? std::less<>()(adapter_of(*a.state), adapter_of(*b.state))
                        : std::less<>()(of_a, of_b);
  });
  rows_.clear();
  scheduler::HeadWork work;
  double levels_read = 0, ends_read = 0;
  const int32_t* last_level = nullptr;
  size_t codes = 0, terminals = 0, sets = 0;
  for (Due& due : due_) {
    const uint32_t level = level_size(*due.state, due.rows->step);
    const uint32_t ends = terminal_count(*due.state);
    due.row = rows_.size();
    due.code = codes;
    due.terminal = terminals;
    due.token_set = sets;
    due.token_sets = (level > 0 ? 1 : 0) + (ends > 0 ? 1 : 0);
    const uint32_t first = due.state->logit_row() + due.rows->first;
    for (uint32_t b = 0; b < due.count; ++b) rows_.push_back(first + b);
    codes += size_t{due.count} * level;
    terminals += size_t{due.count} * ends;
    sets += due.token_sets;
    const uint32_t vocab = is_full(*due.state) ? decoder_.config().vocab_size : 0;
    work.cells += static_cast<double>(due.count) * (static_cast<double>(level) + ends + vocab);
    const int32_t* const tokens = level_tokens(*due.state, due.rows->step);
    if (std::exchange(last_level, tokens) != tokens) levels_read += level;
    ends_read = std::max<double>(ends_read, ends);
    work.columns = std::max({work.columns, levels_read + ends_read, static_cast<double>(vocab)});
  }
  token_sets_.resize(sets);
  next_terminal_.resize(rows_.size());
  const Result<float*> results = memory.results(codes + terminals + rows_.size());
  if (!results.is_ok()) return results.status();
  code_logits_ = results.value();
  terminal_logits_ = code_logits_ + codes;
  log_sum_exp_ = terminal_logits_ + terminals;
  return work;
}

Status Head::multiply(model::PassMemory& memory) {
  requests_.clear();
  for (const Due& due : due_) {
    ops::HeadTokens* set = token_sets_.data() + due.token_set;
    const uint32_t step = due.rows->step;
    if (due.state->has_level(step)) *set++ = {due.state->candidates(step), code_logits_ + due.code};
    if (terminal_count(*due.state) > 0)
      *set++ = {due.state->binding().terminal_tokens(), terminal_logits_ + due.terminal};
    requests_.push_back({std::span(rows_).subspan(due.row, due.count),
                         std::span(token_sets_).subspan(due.token_set, due.token_sets),
                         is_full(*due.state) ? log_sum_exp_ + due.row : nullptr,
                         adapter_of(*due.state)});
  }
  return decoder_.head(requests_, memory);
}

beam::StepLogits Head::logits_of(const Due& due) {
  const RunningRequest& state = *due.state;
  beam::StepLogits logits;
  const uint32_t step = due.rows->step;
  logits.level_size = level_size(state, step);
  if (state.has_level(step)) {
    float* codes = code_logits_ + due.code;
    for (const uint32_t code : codes_without_token(state, step)) {
      for (uint32_t b = 0; b < due.count; ++b)
        codes[size_t{b} * logits.level_size + code] = -std::numeric_limits<float>::infinity();
    }
    logits.codes = {codes, size_t{due.count} * logits.level_size};
  }
  if (const uint32_t ends = terminal_count(state); ends > 0) {
    float* next = next_terminal_.data() + due.row;
    for (uint32_t b = 0; b < due.count; ++b)
      next[b] = terminal_logits_[due.terminal + size_t{b} * ends + due.rows->beams.ended[b]];
    logits.terminal = {next, due.count};
  }
  if (is_full(state)) logits.log_sum_exp = {log_sum_exp_ + due.row, due.count};
  return logits;
}

void Head::take(const Due& due) {
  const Clock::time_point start = Clock::now();
  RunningRequest& state = *due.state;
  state.take(*due.rows, logits_of(due), *scratch_);
  state.pass().select_us += microseconds_since(start);
}

Status Head::give_hidden(RunningRequest& state, model::PassMemory& memory) {
  const Clock::time_point start = Clock::now();
  for (const RunningRequest::DueRows& rows : state.due()) {
    const auto count = static_cast<uint32_t>(rows.beams.nodes.size());
    const auto hidden = decoder_.hidden(memory, state.logit_row() + rows.first, count);
    if (!hidden.is_ok()) return hidden.status();
    state.take(rows, hidden.value(), *scratch_);
  }
  state.pass().head_us = 0;
  state.pass().select_us = microseconds_since(start);
  return Status::ok();
}

Result<scheduler::HeadWork> Head::select(std::span<RunningRequest* const> running,
                                         model::PassMemory& memory) {
  const Clock::time_point start = Clock::now();
  const Result<scheduler::HeadWork> work = collect(running, memory);
  if (!work.is_ok()) return work;
  if (!due_.empty()) TESSERA_RETURN_IF_ERROR(multiply(memory));
  const float head_us = microseconds_since(start);
  for (const Due& due : due_) {
    due.state->pass().head_us = head_us;
    due.state->pass().select_us = 0;
  }
  for (const Due& due : due_) take(due);
  for (RunningRequest* const state : running) {
    if (!state->awaits_selection()) continue;
    if (state->reads_hidden()) TESSERA_RETURN_IF_ERROR(give_hidden(*state, memory));
    const Clock::time_point taken = Clock::now();
    state->advance();
    state->pass().fork_us = microseconds_since(taken);
  }
  return work;
}

}  // namespace tessera::engine
