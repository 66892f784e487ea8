#include "beam/naive_beam_search.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace tessera::beam {

Sid sid_of(const catalogue::View& view, catalogue::NodeIndex node) {
  std::array<uint32_t, catalogue::kMaxDepth> codes;
  const uint32_t depth = view.sid(node, codes);
  return Sid(codes.begin(), codes.begin() + depth);
}

std::vector<OraclePath> ranked(const catalogue::View& view, const std::vector<Finished>& finished) {
  std::vector<OraclePath> paths;
  for (const Finished& path : finished) paths.push_back({sid_of(view, path.node), path.score});
  std::sort(paths.begin(), paths.end(), [](const OraclePath& a, const OraclePath& b) {
    return a.score != b.score ? a.score > b.score : a.sid < b.sid;
  });
  return paths;
}

/// Equal lists: exactly, or where scores are inexact up to swaps of paths whose scores lie within
/// the tolerance.
void expect_same_paths(const std::vector<OraclePath>& actual,
                       const std::vector<OraclePath>& expected, bool is_exact) {
  ASSERT_EQ(actual.size(), expected.size());
  std::map<Sid, double> score_of;
  for (const OraclePath& path : expected) score_of[path.sid] = path.score;
  std::set<Sid> seen;
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_TRUE(score_of.count(actual[i].sid)) << "rank " << i;
    ASSERT_TRUE(seen.insert(actual[i].sid).second) << "rank " << i;
    if (is_exact) {
      ASSERT_EQ(actual[i].sid, expected[i].sid) << "rank " << i;
      ASSERT_EQ(actual[i].score, expected[i].score) << "rank " << i;
    } else {
      ASSERT_NEAR(actual[i].score, expected[i].score, kTolerance) << "rank " << i;
      ASSERT_NEAR(actual[i].score, score_of[actual[i].sid], kTolerance) << "rank " << i;
    }
  }
}

std::vector<OraclePath> NaiveBeamSearch::run() {
  std::vector<Hypothesis> beams = {{}};
  for (size_t level = 0; !beams.empty(); ++level) {
    std::vector<Hypothesis> candidates;
    for (const Hypothesis& beam : beams) expand(beam, candidates);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Hypothesis& a, const Hypothesis& b) {
                       return a.score != b.score ? a.score > b.score : a.codes() < b.codes();
                     });
    const uint32_t width = options_.widths[std::min<size_t>(level, options_.widths.size() - 1)];
    beams = options_.terminal_count == 0 ? choose(candidates, width)
                                         : choose_with_terminals(candidates, width);
    steps_.push_back({candidates, beams, width});
  }
  std::stable_sort(finished_.begin(), finished_.end(),
                   [](const OraclePath& a, const OraclePath& b) {
                     return a.score != b.score ? a.score > b.score : a.sid < b.sid;
                   });
  return finished_;
}

void NaiveBeamSearch::expand(const Hypothesis& beam, std::vector<Hypothesis>& candidates) const {
  const Sid codes = beam.codes();
  std::set<uint32_t> next;
  for (const Sid& sid : sids_) {
    const bool is_below =
        sid.size() > codes.size() && std::equal(codes.begin(), codes.end(), sid.begin());
    if (beam.ended() == 0 && is_below) next.insert(sid[codes.size()]);
  }
  if (options_.terminal_count > 0 && sids_.count(codes)) next.insert(kTerminalCode);
  const std::vector<Sid> sids(sids_.begin(), sids_.end());
  for (const uint32_t code : next) {
    Hypothesis candidate = beam;
    candidate.score += oracle_step_score(sids, live_, model_, beam.path, code, options_.norm,
                                         options_.terminal_count);
    candidate.path.push_back(code);
    candidates.push_back(candidate);
  }
}

std::vector<Hypothesis> NaiveBeamSearch::choose(const std::vector<Hypothesis>& candidates,
                                                uint32_t width) {
  std::vector<Hypothesis> running;
  for (size_t rank = 0; rank < candidates.size() && rank < width; ++rank) {
    const Sid codes = candidates[rank].codes();
    if (sids_.count(codes)) finished_.push_back({codes, candidates[rank].score});
    const auto after = sids_.upper_bound(codes);
    const bool goes_on = after != sids_.end() && after->size() > codes.size() &&
                         std::equal(codes.begin(), codes.end(), after->begin());
    if (goes_on) running.push_back(candidates[rank]);
  }
  note_margin(candidates, width);
  return running;
}

std::vector<Hypothesis> NaiveBeamSearch::choose_with_terminals(
    const std::vector<Hypothesis>& candidates, uint32_t width) {
  std::vector<Hypothesis> running;
  std::vector<Hypothesis> others;
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    if (candidates[rank].ended() == options_.terminal_count) {
      if (rank < width) {
        finished_.push_back({candidates[rank].codes(), candidates[rank].score});
      }
    } else {
      others.push_back(candidates[rank]);
      if (running.size() < width) running.push_back(candidates[rank]);
    }
  }
  note_margin(candidates, width);
  note_margin(others, width);
  return running;
}

void NaiveBeamSearch::note_margin(const std::vector<Hypothesis>& candidates, uint32_t width) {
  if (candidates.size() <= width) return;
  margin_ = std::min(margin_, candidates[width - 1].score - candidates[width].score);
}

}  // namespace tessera::beam
