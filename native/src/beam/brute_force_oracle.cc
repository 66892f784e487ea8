#include "beam/brute_force_oracle.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::beam {
namespace {

double log_sum_exp_of(const std::vector<double>& values) {
  const double peak = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - peak);
  return peak + std::log(sum);
}

/// Codes of `prefix` without the terminal tokens at its end.
Sid codes_of(const Sid& prefix) {
  Sid codes = prefix;
  while (!codes.empty() && codes.back() == kTerminalCode) codes.pop_back();
  return codes;
}

}  // namespace

double oracle_step_score(const std::vector<Sid>& sids, const std::vector<Sid>& live,
                         const OracleModel& model, const Sid& prefix, uint32_t code, ScoreNorm norm,
                         uint32_t terminal_count) {
  const OracleLogits logits = model(prefix);
  const double logit = code == kTerminalCode ? logits.terminal : logits.codes[code];
  if (norm == ScoreNorm::kFull) return logit - logits.log_sum_exp;
  const Sid codes = codes_of(prefix);
  const bool is_ended = codes.size() < prefix.size();
  const std::vector<Sid>& ending = norm == ScoreNorm::kLevel ? live : sids;
  const bool has_terminal =
      terminal_count > 0 &&
      (is_ended || std::find(ending.begin(), ending.end(), codes) != ending.end());
  std::vector<double> values;
  if (!is_ended && norm == ScoreNorm::kLevel) values = logits.codes;
  if (!is_ended && norm == ScoreNorm::kAllowed) {
    std::set<uint32_t> allowed;
    for (const Sid& sid : sids) {
      if (sid.size() > codes.size() && std::equal(codes.begin(), codes.end(), sid.begin())) {
        allowed.insert(sid[codes.size()]);
      }
    }
    for (const uint32_t child : allowed) values.push_back(logits.codes[child]);
  }
  if (has_terminal) values.push_back(logits.terminal);
  return logit - log_sum_exp_of(values);
}

std::vector<OraclePath> brute_force(const std::vector<Sid>& sids, const OracleModel& model,
                                    ScoreNorm norm, uint32_t terminal_count) {
  std::vector<OraclePath> paths;
  for (const Sid& sid : std::set<Sid>(sids.begin(), sids.end())) {
    Sid path = sid;
    path.insert(path.end(), terminal_count, kTerminalCode);
    OraclePath scored{sid, 0};
    for (size_t step = 0; step < path.size(); ++step) {
      const Sid prefix(path.begin(), path.begin() + step);
      scored.score +=
          oracle_step_score(sids, sids, model, prefix, path[step], norm, terminal_count);
    }
    paths.push_back(scored);
  }
  std::stable_sort(paths.begin(), paths.end(),
                   [](const OraclePath& a, const OraclePath& b) { return a.score > b.score; });
  return paths;
}

}  // namespace tessera::beam
