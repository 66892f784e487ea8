#include "engine/head.h"

#include <chrono>
#include <limits>
#include <numeric>

#include "beam/follow.h"

namespace tessera::engine {

uint64_t Head::cells_per_row(const RequestState& state, const model::Decoder& decoder) {
  uint64_t cells = state.binding().terminal_tokens().size();
  if (state.has_level()) cells += state.binding().level_tokens(state.level()).size();
  if (state.request().norm == beam::ScoreNorm::kFull) cells += decoder.config().vocab_size;
  return cells;
}

beam::StepLogits Head::multiply(const RequestState& state, model::Workspace& workspace) {
  const Binding& binding = state.binding();
  const beam::Beams& beams = state.beams();
  const auto count = static_cast<uint32_t>(beams.nodes.size());
  rows_.resize(count);
  std::iota(rows_.begin(), rows_.end(), state.logit_row());

  beam::StepLogits logits;
  if (state.has_level()) {
    const std::span<const int32_t> tokens = binding.level_tokens(state.level());
    logits.level_size = static_cast<uint32_t>(tokens.size());
    code_logits_.resize(size_t{count} * tokens.size());
    decoder_.logits(workspace, rows_, tokens, code_logits_);
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
    decoder_.logits(workspace, rows_, binding.terminal_tokens(), terminal_logits_);
    next_terminal_.resize(count);
    for (uint32_t b = 0; b < count; ++b) {
      next_terminal_[b] = terminal_logits_[size_t{b} * terminal_count + beams.ended[b]];
    }
    logits.terminal = next_terminal_;
  }
  if (state.request().norm == beam::ScoreNorm::kFull) {
    log_sum_exp_.resize(count);
    decoder_.log_sum_exp(workspace, rows_, log_sum_exp_);
    logits.log_sum_exp = log_sum_exp_;
  }
  return logits;
}

void Head::select(RequestState& state, model::Workspace& workspace) {
  const Clock::time_point start = Clock::now();
  const beam::StepLogits logits = multiply(state, workspace);
  const Clock::time_point multiplied = Clock::now();
  const catalogue::Reach& reach = state.binding().reach();
  beam::SelectOptions options;
  options.terminal_count = static_cast<uint32_t>(state.binding().terminal_tokens().size());
  options.norm = state.request().norm;
  if (state.request().kind == RequestKind::kScore) {
    beam::follow(state.beams(), logits, reach, options, state.route(), *scratch_, step_);
  } else {
    options.width = state.width();
    beam::select(state.beams(), logits, reach, options, *scratch_, step_);
  }
  state.apply(step_);
  using Microseconds = std::chrono::duration<float, std::micro>;
  state.timings().head_us += Microseconds(multiplied - start).count();
  state.timings().select_us += Microseconds(Clock::now() - multiplied).count();
}

}  // namespace tessera::engine
