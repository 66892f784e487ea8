// Test only: every path of a small catalogue, scored in double precision by an independent route:
// no trie arrays, no beams, only the list of SIDs. With full widths a beam search must return
// exactly these lists.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "beam/select.h"

namespace tessera::beam {

using Sid = std::vector<uint32_t>;

/// Logits of the language model after `prefix` (codes of the path, then terminal tokens as
/// kTerminalCode): `codes` per code of the level `prefix.size()` (empty when only terminals can
/// follow), the next terminal's logit, and the log of the sum of the exponentials over the whole
/// vocabulary.
struct OracleLogits {
  std::vector<double> codes;
  double terminal = 0;
  double log_sum_exp = 0;
};
using OracleModel = std::function<OracleLogits(const Sid& prefix)>;

struct OraclePath {
  Sid sid;
  double score = 0;
};

/// Log-probability of choosing `code` after `prefix` under `norm`, of a request that may get the
/// given SIDs of those that are live.
double oracle_step_score(const std::vector<Sid>& sids, const std::vector<Sid>& live,
                         const OracleModel& model, const Sid& prefix, uint32_t code, ScoreNorm norm,
                         uint32_t terminal_count);

/// All distinct SIDs with the scores of their paths (terminal tokens included), best first, ties in
/// SID order.
std::vector<OraclePath> brute_force(const std::vector<Sid>& sids, const OracleModel& model,
                                    ScoreNorm norm, uint32_t terminal_count);

}  // namespace tessera::beam
