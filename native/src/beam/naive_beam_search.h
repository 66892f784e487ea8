// Test only: the beam search as its rules read, level by level on lists of SIDs and doubles, and
// the comparison of its answer with that of a decode.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "beam/brute_force_oracle.h"
#include "beam/decode_loop.h"
#include "catalogue/view.h"

namespace tessera::beam {

/// Relative tolerance of scores that go through exp and log in float.
inline constexpr double kTolerance = 1e-4;

Sid sid_of(const catalogue::View& view, catalogue::NodeIndex node);

/// Score descending, then SID.
std::vector<OraclePath> ranked(const catalogue::View& view, const std::vector<Finished>& finished);

/// Equal lists: exactly, or where scores are inexact up to swaps of paths whose scores lie within
/// the tolerance. Fails the running test.
void expect_same_paths(const std::vector<OraclePath>& actual,
                       const std::vector<OraclePath>& expected, bool is_exact);

struct Hypothesis {
  Sid path;  // codes, then terminal tokens
  double score = 0;

  Sid codes() const {
    return Sid(path.begin(), std::find(path.begin(), path.end(), kTerminalCode));
  }
  uint32_t ended() const { return static_cast<uint32_t>(path.size() - codes().size()); }
};

/// One step: its candidates, best first, and how many of them were kept on either count.
struct NaiveStep {
  std::vector<Hypothesis> candidates;
  std::vector<Hypothesis> running;
  size_t width = 0;
};

/// `margin` is the smallest score distance on which a decision hung.
class NaiveBeamSearch {
 public:
  NaiveBeamSearch(const std::vector<Sid>& sids, const OracleModel& model,
                  const DecodeOptions& options)
      : NaiveBeamSearch(sids, sids, model, options) {}
  /// Finds those of `sids` alone, which are among the live SIDs.
  NaiveBeamSearch(const std::vector<Sid>& sids, const std::vector<Sid>& live,
                  const OracleModel& model, const DecodeOptions& options)
      : sids_(sids.begin(), sids.end()), live_(live), model_(model), options_(options) {}

  std::vector<OraclePath> run();
  double margin() const { return margin_; }
  const std::vector<NaiveStep>& steps() const { return steps_; }

 private:
  void expand(const Hypothesis& beam, std::vector<Hypothesis>& candidates) const;
  std::vector<Hypothesis> choose(const std::vector<Hypothesis>& candidates, uint32_t width);
  std::vector<Hypothesis> choose_with_terminals(const std::vector<Hypothesis>& candidates,
                                                uint32_t width);
  void note_margin(const std::vector<Hypothesis>& candidates, uint32_t width);

  const std::set<Sid> sids_;
  const std::vector<Sid> live_;
  const OracleModel& model_;
  const DecodeOptions options_;
  std::vector<OraclePath> finished_;
  std::vector<NaiveStep> steps_;
  double margin_ = 1e9;
};

}  // namespace tessera::beam
