#include "kv/load_plan.h"

#include <algorithm>

namespace tessera::kv {
namespace {

double transfer_us(double bytes, double bytes_per_us) {
  return bytes_per_us > 0 ? bytes / bytes_per_us : 0;
}

/// Prefill of what is behind `context` tokens: every token sees those before it.
double compute_us(double context, double prompt, const Rates& rates) {
  const double fresh = std::max(0.0, prompt - context);
  const double pairs = fresh * (context + fresh / 2);
  return fresh * rates.compute_token_us + pairs * rates.compute_token_pair_us;
}

}  // namespace

LoadPlan plan_load(const LoadQuestion& question, const Rates& rates) {
  const double prompt = question.prompt_tokens;
  const double hidden = static_cast<double>(question.hidden_us);
  LoadPlan best;
  const bool is_whole = !question.state.empty();
  best.compute_all_us = compute_us(is_whole ? 0 : question.device_tokens, prompt, rates);
  best.predicted_us = best.compute_all_us;
  double load_us = 0;
  for (const TierIndex from : question.state)
    load_us += transfer_us(static_cast<double>(question.block_bytes), rates.bytes_per_us[from]);
  for (uint32_t count = is_whole ? 0 : 1; count <= question.missing.size(); ++count) {
    if (count > 0) {
      const TierIndex from = question.missing[count - 1];
      const bool is_first = count == 1 || question.missing[count - 2] != from;
      const double rate = rates.bytes_per_us[from];
      const uint64_t queued = is_first ? question.queued_bytes[from] : 0;
      load_us += transfer_us(static_cast<double>(queued), rate);
      load_us += transfer_us(static_cast<double>(question.block_bytes), rate);
    }
    if (is_whole && count < question.missing.size()) continue;
    const double context = std::min(prompt, question.device_tokens + double{kBlockTokens} * count);
    const double predicted = std::max(0.0, load_us - hidden) + compute_us(context, prompt, rates);
    if (predicted > best.predicted_us) continue;
    best.blocks = count;
    best.loads_state = is_whole;
    best.load_us = load_us;
    best.predicted_us = predicted;
  }
  return best;
}

}  // namespace tessera::kv
