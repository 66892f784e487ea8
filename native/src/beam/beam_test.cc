// Beam search and export against brute force and against naive restatements of the rules, in double
// precision, over thousands of seeded cases.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "beam/decode_loop.h"
#include "beam/export.h"
#include "beam/naive_beam_search.h"
#include "beam/random_case.h"

namespace tessera::beam {
namespace beam_test {

constexpr uint64_t kCatalogues = 300;
constexpr uint64_t kCasesPerCatalogue = 12;
constexpr uint64_t kCases = kCatalogues * kCasesPerCatalogue;

std::string snapshot_path() {
  // Memory where there is some: each snapshot is synced to its disk.
  const std::filesystem::path folder = std::filesystem::is_directory("/dev/shm")
                                           ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path();
  return folder / ("tessera-beam-" + std::to_string(::getpid()) + ".tsra");
}

class BeamTest : public testing::Test {
 protected:
  ~BeamTest() override { std::filesystem::remove(snapshot_path()); }

  /// Calls body(case, random, index) for kCases seeds, several per catalogue; stops at the first
  /// failure.
  template <typename Body>
  void for_cases(uint64_t first_seed, Body&& body) {
    for (uint64_t c = 0; c < kCatalogues; ++c) {
      std::mt19937_64 random(first_seed + c);
      const RandomCase test = random_case(random, snapshot_path());
      for (uint64_t i = 0; i < kCasesPerCatalogue; ++i) {
        SCOPED_TRACE("seed " + std::to_string(first_seed + c) + " case " + std::to_string(i));
        body(test, random, i);
        if (HasFatalFailure()) return;
      }
    }
  }

  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
  platform::ThreadPool threads_{2};
};

TEST_F(BeamTest, FullWidthsGiveExactlyTheBruteForceRanking) {
  for_cases(1000, [&](const RandomCase& test, std::mt19937_64& random, uint64_t i) {
    const bool is_exact = i % 2 == 0;
    const OracleModel model = random_model(random(), test.level_sizes, is_exact);
    DecodeOptions options;
    options.widths = {1000};
    options.terminal_count = static_cast<uint32_t>(random() % 4);
    options.norm = is_exact ? ScoreNorm::kFull : static_cast<ScoreNorm>(random() % 3);
    const auto finished = decode_loop(test.reach, model, options, *scratch_);
    expect_same_paths(ranked(test.reach.view(), finished),
                      brute_force(test.sids, model, options.norm, options.terminal_count),
                      is_exact);
  });
}

TEST_F(BeamTest, NarrowWidthsGiveWhatTheRulesSayLevelByLevel) {
  uint64_t skipped = 0;
  for_cases(2000, [&](const RandomCase& test, std::mt19937_64& random, uint64_t i) {
    const bool is_exact = i % 2 == 0;
    const OracleModel model = random_model(random(), test.level_sizes, is_exact);
    DecodeOptions options;
    const uint64_t width_limit = random() % 4 == 0 ? 80 : 8;
    for (size_t level = 0; level < 1 + random() % 4; ++level) {
      options.widths.push_back(static_cast<uint32_t>(1 + random() % width_limit));
    }
    options.terminal_count = static_cast<uint32_t>(random() % 4);
    options.norm = is_exact ? ScoreNorm::kFull : static_cast<ScoreNorm>(random() % 3);
    NaiveBeamSearch naive(test.sids, model, options);
    const std::vector<OraclePath> expected = naive.run();
    if (!is_exact && naive.margin() < kTolerance) {
      ++skipped;  // rounding may decide otherwise; exact cases cover ties
      return;
    }
    const auto finished = decode_loop(test.reach, model, options, *scratch_);
    expect_same_paths(ranked(test.reach.view(), finished), expected, is_exact);
  });
  EXPECT_LT(skipped, kCases / 20);
}

struct Candidate {
  double score;
  Sid sid;
  bool ends;
};

/// Beams at nodes of the first level, as after one step of this width, and all that may follow.
struct SecondStep {
  Beams beams;
  uint32_t level_size = 0;
  std::vector<float> codes;
  std::vector<float> terminal;
  std::vector<float> log_sum_exp;
  std::vector<Candidate> candidates;
};

SecondStep second_step(const RandomCase& test, const OracleModel& model, uint32_t width,
                       std::mt19937_64& random) {
  SecondStep step;
  step.level_size = test.snapshot->depth() > 1 ? test.snapshot->level_size(1) : 0;
  const uint64_t nodes = std::min<uint64_t>(width, test.snapshot->nodes_at_level(0));
  for (catalogue::NodeIndex node = 1; node <= nodes; ++node) {
    step.beams.nodes.push_back(node);
    step.beams.scores.push_back(-static_cast<float>(random() % 64) / 64.0f);
    step.beams.ended.push_back(0);
    const Sid prefix = sid_of(test.reach.view(), node);
    const OracleLogits logits = model(prefix);
    step.codes.insert(step.codes.end(), logits.codes.begin(),
                      logits.codes.begin() + step.level_size);
    step.terminal.push_back(static_cast<float>(logits.terminal));
    step.log_sum_exp.push_back(static_cast<float>(logits.log_sum_exp));
    std::set<Sid> below;
    for (const Sid& sid : test.sids) {
      if (sid.size() > 1 && sid[0] == prefix[0]) below.insert({sid[0], sid[1]});
      if (sid == prefix) below.insert(prefix);
    }
    for (const Sid& sid : below) {
      const double logit = sid.size() == 1 ? logits.terminal : logits.codes[sid[1]];
      step.candidates.push_back(
          {step.beams.scores.back() + (logit - logits.log_sum_exp), sid, sid.size() == 1});
    }
  }
  return step;
}

/// Hugging Face's rule, restated on numbers: of the 2 * width best candidates those that end are
/// accepted when among the first width, and the first width of those that do not end run on.
TEST_F(BeamTest, OneTerminalTokenFollowsTheRuleOfHuggingFace) {
  uint64_t accepted = 0;
  uint64_t refused = 0;
  for_cases(3000, [&](const RandomCase& test, std::mt19937_64& random, uint64_t) {
    const OracleModel model = random_model(random(), test.level_sizes, true);
    const uint32_t width = static_cast<uint32_t>(1 + random() % 6);
    const SecondStep given = second_step(test, model, width, random);
    std::vector<Candidate> all = given.candidates;
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.sid < b.sid;
    });
    all.resize(std::min<size_t>(all.size(), 2 * width));
    std::vector<OraclePath> running;
    std::vector<OraclePath> finished;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].ends) {
        (rank < width ? accepted : refused) += 1;
        if (rank < width) finished.push_back({all[rank].sid, all[rank].score});
      } else if (running.size() < width) {
        running.push_back({all[rank].sid, all[rank].score});
      }
    }
    Step step;
    select(given.beams, {given.codes, given.level_size, given.terminal, given.log_sum_exp},
           test.reach, {width, 1, ScoreNorm::kFull}, *scratch_, step);
    ASSERT_EQ(step.finished.size(), finished.size());
    for (size_t i = 0; i < finished.size(); ++i) {
      ASSERT_EQ(sid_of(test.reach.view(), step.finished[i].node), finished[i].sid);
      ASSERT_EQ(step.finished[i].score, finished[i].score);
      ASSERT_EQ(given.beams.nodes[step.finished_parents[i]], step.finished[i].node);
    }
    ASSERT_EQ(step.next.nodes.size(), running.size());
    for (size_t i = 0; i < running.size(); ++i) {
      const catalogue::NodeIndex node = step.next.nodes[i];
      ASSERT_EQ(sid_of(test.reach.view(), node), running[i].sid);
      ASSERT_EQ(step.next.scores[i], running[i].score);
      ASSERT_EQ(given.beams.nodes[step.parents[i]], test.snapshot->parent(node));
      ASSERT_EQ(step.codes[i], running[i].sid.back());
    }
  });
  EXPECT_GT(accepted, kCases / 10);
  EXPECT_GT(refused, kCases / 10);
}

TEST_F(BeamTest, ExportGivesItemsByPathThenPolicyUnderBothCaps) {
  for_cases(4000, [&](const RandomCase& test, std::mt19937_64& random, uint64_t) {
    const ExportOptions options{static_cast<uint32_t>(random() % 50),
                                static_cast<uint32_t>(random() % 4)};
    // Paths finish in any order, some twice, with tied scores.
    std::map<Sid, double> best;
    std::vector<Finished> finished;
    for (uint64_t i = 0; i < random() % 60; ++i) {
      const Sid& sid = test.sids[random() % test.sids.size()];
      const float score = -static_cast<float>(random() % 5);
      finished.push_back({score, test.snapshot->find_node(sid)});
      best[sid] = best.count(sid) ? std::max<double>(best[sid], score) : score;
    }
    std::vector<std::pair<double, Sid>> paths;
    for (const auto& [sid, score] : best) paths.emplace_back(-score, sid);
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> ids;
    std::vector<double> scores;
    std::vector<Sid> item_sids;
    for (const auto& [minus_score, sid] : paths) {
      std::vector<std::pair<double, std::string>> items;
      for (size_t i = 0; i < test.sids.size(); ++i) {
        if (test.sids[i] == sid) items.emplace_back(-test.priorities[i], test.item_ids[i]);
      }
      std::sort(items.begin(), items.end());
      for (size_t i = 0; i < items.size(); ++i) {
        if (ids.size() == options.result_count) break;
        if (options.items_per_sid > 0 && i == options.items_per_sid) break;
        ids.push_back(items[i].second);
        scores.push_back(-minus_score);
        item_sids.push_back(sid);
      }
    }
    const Exported exported = export_items(finished, test.reach, options, threads_);
    ASSERT_EQ(exported.item_ordinals.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(test.snapshot->item_id(exported.item_ordinals[i]), ids[i]);
      ASSERT_EQ(exported.item_scores[i], scores[i]);
      const uint32_t path = exported.item_paths[i];
      ASSERT_EQ(exported.path_scores[path], scores[i]);
      ASSERT_EQ(Sid(exported.path_codes.begin() + exported.path_offsets[path],
                    exported.path_codes.begin() + exported.path_offsets[path + 1]),
                item_sids[i]);
    }
    const std::set<Sid> used(item_sids.begin(), item_sids.end());
    ASSERT_EQ(exported.path_scores.size(), used.size());
    ASSERT_EQ(exported.path_offsets.size(), used.size() + 1);
  });
}

}  // namespace beam_test
}  // namespace tessera::beam
