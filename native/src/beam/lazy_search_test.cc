// Searches that compute what can still change the answer against those that compute everything, and
// their certificates against brute force, over seeded catalogues, views, policies and models.
#include "beam/lazy_search.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "beam/decode_loop.h"
#include "beam/item_model.h"
#include "beam/random_case.h"
#include "beam/scan.h"
#include "catalogue/view_editor.h"

namespace tessera::beam {
namespace lazy_search_test {

using catalogue::Reach;
using catalogue::View;

constexpr uint64_t kSeeds = 1500;

/// One search of a random version, eligibility, policy and model.
struct Question {
  std::shared_ptr<const View> view;
  Reach reach;
  OracleModel model;
  std::shared_ptr<const catalogue::ItemPolicy> policy;
  LazyOptions options;
};

class LazySearchTest : public testing::Test {
 protected:
  ~LazySearchTest() override { std::filesystem::remove(path_); }

  Question draw(std::mt19937_64& random) {
    const RandomCase test =
        random_case(random, path_, [](uint64_t i) { return ItemModel::test_attributes(i).json(); });
    ItemModel items(test);
    Question question;
    question.view = View::of(test.snapshot);
    if (random() % 2 == 0) {
      catalogue::ViewEditor editor(*question.view);
      for (const catalogue::Change& change : random_batch(items, random, 12)) {
        editor.apply(change);
        items.apply(change);
      }
      question.view = editor.finish();
    }
    const ModelFilter filter = random_filter(items, random);
    question.reach = Reach(question.view, compile_eligibility(*question.view, filter.request));
    const bool is_exact = random() % 2 == 0;
    question.model = random_model(random(), test.level_sizes, is_exact);
    catalogue::ItemPolicyRequest policy;
    if (random() % 3 == 0) policy.order_by = "bid";
    if (random() % 3 == 0) {
      policy.diversity = {{"country", static_cast<uint32_t>(1 + random() % 2)}};
    }
    question.policy = catalogue::ItemPolicy::compile(*question.view, policy).value();
    LazyOptions& options = question.options;
    options.terminal_count = static_cast<uint32_t>(random() % 3);
    options.norm = is_exact ? ScoreNorm::kFull : static_cast<ScoreNorm>(random() % 3);
    options.answer = {static_cast<uint32_t>(1 + random() % 8), static_cast<uint32_t>(random() % 3),
                      question.policy.get()};
    const uint64_t width_limit = random() % 3 == 0 ? 80 : 8;
    for (uint32_t s = 0; s < question.view->depth() + options.terminal_count; ++s) {
      options.widths.push_back(static_cast<uint32_t>(1 + random() % width_limit));
    }
    return question;
  }

  LazySearch search(const Question& question, uint32_t rows_max, const ThresholdRule* rule) {
    return lazy_loop(question.reach, question.model, question.options, rows_max, rule, *scratch_);
  }
  Exported answer(const Question& question, std::span<const Finished> finished) {
    ExportOptions options = question.options.answer;
    options.items_per_sid = std::max(options.items_per_sid, 1u);
    return export_items(finished, question.reach, options, threads_);
  }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("tessera-lazy-" + std::to_string(::getpid()) + ".tsra");
  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
  platform::ThreadPool threads_{1};
};

void expect_same(const Exported& told, const Exported& wanted) {
  ASSERT_EQ(told.item_ordinals, wanted.item_ordinals);
  ASSERT_EQ(told.item_scores, wanted.item_scores);
  ASSERT_EQ(told.path_codes, wanted.path_codes);
}

TEST_F(LazySearchTest, AnswersAreTheBitsOfTheSearchThatComputesEveryRow) {
  ThresholdRule rule;  // taught by searches of all kinds: its guesses are often wrong
  uint64_t rows = 0, rows_of_all = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    const LazyOptions& options = question.options;
    const DecodeOptions whole{options.widths, options.terminal_count, options.norm};
    const Exported wanted =
        answer(question, decode_loop(question.reach, question.model, whole, *scratch_));
    question.options.spare_rows = static_cast<uint32_t>(random() % 20);
    const bool is_one_by_one = random() % 4 == 0;
    const LazySearch lazy =
        search(question, is_one_by_one ? 1 : 1 + static_cast<uint32_t>(random() % 100),
               random() % 4 == 0 ? nullptr : &rule);
    expect_same(answer(question, lazy.finished()), wanted);
    if (HasFatalFailure()) return;
    lazy.teach(rule);
    question.options.is_eager = true;
    const LazySearch eager = search(question, 1024, nullptr);
    expect_same(answer(question, eager.finished()), wanted);
    if (HasFatalFailure()) return;
    ASSERT_LE(lazy.rows(), eager.rows() + question.options.spare_rows);
    ASSERT_EQ(lazy.certificate().is_certified, eager.certificate().is_certified);
    ASSERT_EQ(lazy.certificate().gap, eager.certificate().gap);
    rows += lazy.rows();
    rows_of_all += eager.rows();
  }
  EXPECT_LT(rows * 20, rows_of_all * 19);
}

/// The same question with widths that cut nothing off.
Question unbounded(Question question) {
  question.options.widths.assign(question.options.widths.size(), 4096);
  question.options.is_eager = true;
  return question;
}

TEST_F(LazySearchTest, ACertifiedAnswerIsTheBestOfAllAndAGapBoundsWhatWasMissed) {
  uint64_t certified = 0, missed = 0;
  for (uint64_t seed = 10'001; seed <= 10'000 + kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    if (random() % 2 == 0) {
      const auto selections = static_cast<uint32_t>(question.options.widths.size());
      const auto budget = static_cast<uint32_t>(1 + random() % 40);
      const RowShares shares =
          shares_of_budget(budget, selections, question.view->level_size(0), 8);
      question.options.widths = shares.widths;
      question.options.widths.back() = 64;
      question.options.spare_rows = shares.spare_rows;
      question.options.beam_width = static_cast<uint32_t>(random() % 4);
    }
    const LazySearch told = search(question, 16, nullptr);
    const Question all = unbounded(question);
    const LazySearch everything = search(all, 4096, nullptr);
    ASSERT_TRUE(everything.certificate().is_certified);
    const Certificate certificate = told.certificate();
    const Exported found = answer(question, told.finished());
    const Exported best = answer(question, everything.finished());
    if (certificate.is_certified) {
      ++certified;
      ASSERT_EQ(certificate.gap, kNothing);
      expect_same(found, best);
      if (HasFatalFailure()) return;
      continue;
    }
    const auto had = told.finished();
    for (const Finished& path : everything.finished()) {
      const bool is_found = std::any_of(had.begin(), had.end(),
                                        [&](const Finished& own) { return own.node == path.node; });
      const bool is_full = found.item_ordinals.size() == question.options.answer.result_count;
      const bool may_matter = !is_full || path.score > found.path_scores.back();
      if (is_found || !may_matter) continue;
      ++missed;
      ASSERT_LE(path.score, certificate.gap);
    }
  }
  EXPECT_GT(certified, kSeeds / 10);
  EXPECT_GT(missed, kSeeds / 10);
}

TEST_F(LazySearchTest, NeverComputesMoreRowsThanItsBudget) {
  for (uint64_t seed = 20'001; seed <= 20'300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    // Flat: nothing is ever proved out.
    question.model = [model = question.model](const Sid& prefix) {
      OracleLogits logits = model(prefix);
      std::fill(logits.codes.begin(), logits.codes.end(), 0.0);
      logits.terminal = 0;
      logits.log_sum_exp = 0;
      return logits;
    };
    const auto selections = static_cast<uint32_t>(question.options.widths.size());
    const auto budget = static_cast<uint32_t>(1 + random() % 60);
    const RowShares shares = shares_of_budget(budget, selections, question.view->level_size(0),
                                              static_cast<uint32_t>(1 + random() % 20));
    question.options.widths = shares.widths;
    question.options.spare_rows = shares.spare_rows;
    question.options.beam_width = static_cast<uint32_t>(random() % 10);
    const LazySearch told = search(question, 7, nullptr);
    EXPECT_LE(told.rows(), std::max(budget, selections - 1));
  }
}

/// A model that tells codes hardly apart, a random budget, and a beam to go on with.
Question hopeless(Question question, std::mt19937_64& random) {
  question.model = [model = question.model](const Sid& prefix) {
    OracleLogits logits = model(prefix);
    for (double& logit : logits.codes) logit /= 16;
    logits.terminal /= 16;
    logits.log_sum_exp = 6;
    return logits;
  };
  LazyOptions& options = question.options;
  RowShares shares = shares_of_budget(static_cast<uint32_t>(2 + random() % 80),
                                      static_cast<uint32_t>(options.widths.size()),
                                      question.view->level_size(0), options.answer.result_count);
  options.widths = std::move(shares.widths);
  options.spare_rows = shares.spare_rows;
  options.beam_width = static_cast<uint32_t>(1 + random() % 8);
  return question;
}

TEST_F(LazySearchTest, AProofIsGivenUpWhateverElseIsKnownForABeamsRowsAndPaths) {
  ThresholdRule rule;
  uint64_t given_up = 0;
  for (uint64_t seed = 40'001; seed <= 40'000 + kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = hopeless(draw(random), random);
    const LazySearch wanted = search(question, 4096, nullptr);
    Question other = question;
    const LazySearch told = search(other, static_cast<uint32_t>(1 + random() % 9), &rule);
    told.teach(rule);
    other.options.is_eager = true;
    other.options.shown = static_cast<uint32_t>(random() % 3);
    const LazySearch eager = search(other, static_cast<uint32_t>(1 + random() % 30), nullptr);
    const Exported found = answer(question, wanted.finished());
    for (const LazySearch* same : {&told, &eager}) {
      expect_same(answer(question, same->finished()), found);
      if (HasFatalFailure()) return;
      ASSERT_EQ(same->certificate().is_certified, wanted.certificate().is_certified);
      ASSERT_EQ(same->certificate().gap, wanted.certificate().gap);
    }
    other.options.beam_width = 0;
    if (eager.rows() >= search(other, 4096, nullptr).rows()) continue;
    ++given_up;
    for (size_t s = 0; s + 1 < question.options.widths.size(); ++s) {
      other.options.widths[s] = std::min(question.options.widths[s], question.options.beam_width);
    }
    const LazySearch beam = search(other, 4096, nullptr);
    ASSERT_EQ(eager.rows(), beam.rows());
    if (question.options.answer.is_diverse()) continue;
    const Exported of_beam = answer(question, beam.finished());
    ASSERT_GE(found.item_scores.size(), of_beam.item_scores.size());
    for (size_t i = 0; i < of_beam.item_scores.size(); ++i) {
      ASSERT_GE(found.item_scores[i], of_beam.item_scores[i]);
    }
  }
  EXPECT_GT(given_up, kSeeds / 50);
}

TEST_F(LazySearchTest, WhatIsNotANumberComesLastAndEndsNothing) {
  std::mt19937_64 random(7);
  Question question = draw(random);
  question.model = [model = question.model](const Sid& prefix) {
    OracleLogits logits = model(prefix);
    for (size_t i = 0; i < logits.codes.size(); i += 2) {
      logits.codes[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return logits;
  };
  const LazyOptions& options = question.options;
  const DecodeOptions whole{options.widths, options.terminal_count, options.norm};
  const auto wanted = decode_loop(question.reach, question.model, whole, *scratch_);
  expect_same(answer(question, search(question, 16, nullptr).finished()), answer(question, wanted));
}

TEST_F(LazySearchTest, ANarrowedSearchTellsWhatItTookBack) {
  for (uint64_t seed = 30'001; seed <= 30'300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Question question = draw(random);
    question.options.widths.assign(question.options.widths.size(), 64);
    const LazySearch whole = search(question, 4096, nullptr);
    LazySearch narrowed(question.reach, question.options);
    narrowed.narrow(1);
    std::vector<uint32_t> ones(question.options.widths.size(), 1);
    Question one = question;
    one.options.widths = ones;
    const LazySearch wanted = search(one, 4096, nullptr);
    EXPECT_LE(wanted.rows(), whole.rows() + ones.size());
    EXPECT_EQ(wanted.widths_used().size(), wanted.steps_taken());
  }
}

TEST(SharesOfBudget, GiveTheFirstStepHalfOfWhatTheAnswerCanSpare) {
  const auto expect = [](const RowShares& told, std::vector<uint32_t> widths, uint32_t spare_rows) {
    EXPECT_EQ(told.widths, widths);
    EXPECT_EQ(told.spare_rows, spare_rows);
  };
  expect(shares_of_budget(336, 4, 256, 10), {149, 75, 75, 10}, 37);
  expect(shares_of_budget(656, 4, 256, 50), {256, 164, 164, 50}, 72);
  expect(shares_of_budget(336, 4, 20, 10), {20, 139, 140, 10}, 37);
  expect(shares_of_budget(336, 2, 512, 10), {299, 10}, 37);
  expect(shares_of_budget(336, 1, 256, 10), {10}, 0);
  // Too few for a proof: what its first step needs beside the answer comes last.
  expect(shares_of_budget(261, 4, 256, 50), {102, 75, 75, 50}, 9);
  expect(shares_of_budget(153, 4, 256, 50), {51, 51, 51, 50}, 0);
  expect(shares_of_budget(1, 4, 256, 10), {1, 1, 1, 10}, 0);
}

TEST(Scores, NeverRiseAlongAPathWhateverTheNormIs) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0, 20);
  const ScanKernels* const all[] = {
    &kPortableScan,
#if defined(__x86_64__)
    __builtin_cpu_supports("avx2") ? &kAvx2Scan : nullptr,
    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl")
        ? &kAvx512Scan
        : nullptr,
#endif
  };
  for (const ScanKernels* kernels : all) {
    if (kernels == nullptr) continue;
    for (int round = 0; round < 2000; ++round) {
      std::vector<float> logits(1 + random() % 70);
      for (float& logit : logits) logit = normal(random);
      ScanRun run;
      run.logits = logits.data();
      run.end = static_cast<uint32_t>(logits.size());
      run.beam_score = -std::abs(normal(random)) / 4;
      run.norm = normal(random);  // often below logits, as no sum of exponentials is
      std::vector<CandidateKey> keys(logits.size() + kScanSlack);
      const uint32_t count = kernels->scan(run, kNothing, keys.data());
      ASSERT_EQ(count, logits.size());
      for (uint32_t i = 0; i < count; ++i) {
        const auto high = static_cast<uint32_t>(keys[i] >> 32);
        const auto score = std::bit_cast<float>((high >> 31) != 0 ? high : high ^ 0x7FFFFFFFu);
        ASSERT_LE(score, run.beam_score) << kernels->name;
      }
    }
  }
}

TEST(ThresholdRule, LearnsALineOfTheFeatures) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1);
  ThresholdRule rule;
  double error = 0;
  for (int i = 0; i < 400; ++i) {
    ThresholdFeatures x{1};
    for (size_t f = 1; f < x.size(); ++f) x[f] = -3 + normal(random);
    const double threshold = -2 + 0.5 * x[1] + 0.7 * x[2] - 0.3 * x[6] + 0.02 * normal(random);
    if (const auto guess = rule.guess(0, x); guess && i >= 300) {
      error = std::max(error, std::abs(guess->score - threshold));
      EXPECT_LT(guess->deviation, 0.1);
    }
    rule.observe(0, x, threshold);
  }
  EXPECT_GT(error, 0.0);
  EXPECT_LT(error, 0.12);
  EXPECT_FALSE(rule.guess(1, {}).has_value());
}

TEST(ThresholdRules, ForgetThoseThatWereNotUsedForLongest) {
  ThresholdRules rules;
  const auto kept = rules.of("kept");
  for (size_t i = 0; i < kThresholdRulesMax - 1; ++i) rules.of("other " + std::to_string(i));
  EXPECT_EQ(rules.of("kept"), kept);
  rules.of("one more");
  EXPECT_EQ(rules.of("kept"), kept);
  const auto other = rules.of("other 0");
  EXPECT_NE(other, nullptr);
}

TEST(Deviations, GrowWithWhatAPassCosts) {
  EXPECT_EQ(deviations_below(0.05, 150, 0), 0);
  const double few = deviations_below(0.05, 150, 8), many = deviations_below(0.05, 150, 400);
  EXPECT_LT(few, many);
  EXPECT_LE(many, 4);
}

}  // namespace lazy_search_test
}  // namespace tessera::beam
