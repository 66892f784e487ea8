// The scans of every instruction set against the portable one, and whole selections at sizes where
// thresholds, chunks and ties all matter, against sorting everything.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "base/test_allocations.h"
#include "beam/export.h"
#include "beam/scan.h"
#include "beam/select.h"
#include "catalogue/builder.h"
#include "platform/cpu_features.h"

namespace tessera::beam {
namespace select_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<const ScanKernels*> kernels_here() {
  std::vector<const ScanKernels*> kernels = {&kPortableScan};
#if defined(__x86_64__)
  const platform::CpuFeatures features = platform::detect_cpu_features();
  if (features.avx2_fma) kernels.push_back(&kAvx2Scan);
  if (features.avx512) kernels.push_back(&kAvx512Scan);
#endif
  return kernels;
}

float random_logit(std::mt19937_64& random) {
  const float special[] = {kInfinity, -kInfinity, std::nanf(""), -0.0f,
                           0.0f,      1e30f,      -1e30f,        1e-40f};
  if (random() % 16 == 0) return special[random() % std::size(special)];
  return static_cast<float>(static_cast<int64_t>(random() % 2001) - 1000) / 128.0f;
}

template <typename Code>
void expect_equal_scans(uint32_t level_size) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<float> logits(level_size);
    for (float& logit : logits) logit = random_logit(random);
    std::vector<Code> codes;
    for (uint32_t code = 0; code < level_size; ++code) {
      if (random() % 3 != 0) codes.push_back(static_cast<Code>(code));
    }
    const bool is_dense = seed % 4 == 0;
    const auto count = is_dense ? level_size : static_cast<uint32_t>(codes.size());
    ScanRun run;
    run.logits = logits.data();
    run.codes = is_dense ? nullptr : codes.data();
    run.code_bytes = sizeof(Code);
    run.begin = static_cast<uint32_t>(random() % (count + 1));
    run.end = static_cast<uint32_t>(run.begin + random() % (count - run.begin + 1));
    run.first_child = static_cast<uint32_t>(random() % 0xFFFF0000u);
    run.beam_score = random() % 8 == 0 ? -0.0f : random_logit(random);
    run.norm = random() % 8 == 0 ? 0.0f : random_logit(random);
    const float threshold = random() % 3 == 0 ? -kInfinity : random_logit(random);
    std::vector<CandidateKey> expected(count + kScanSlack);
    expected.resize(kPortableScan.scan(run, threshold, expected.data()));
    std::vector<float> gathered(run.end - run.begin);
    kPortableScan.gather(run, gathered.data());
    for (const ScanKernels* kernels : kernels_here()) {
      SCOPED_TRACE(kernels->name);
      std::vector<CandidateKey> keys(count + kScanSlack);
      keys.resize(kernels->scan(run, threshold, keys.data()));
      ASSERT_EQ(keys, expected);
      std::vector<float> out(gathered.size());
      kernels->gather(run, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(gathered[i]));
        const size_t code = is_dense ? run.begin + i : codes[run.begin + i];
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(logits[code]));
      }
    }
  }
}

TEST(Scan, EveryInstructionSetGivesTheSameKeysForByteCodes) { expect_equal_scans<uint8_t>(200); }
TEST(Scan, EveryInstructionSetGivesTheSameKeysForWordCodes) { expect_equal_scans<uint16_t>(700); }
TEST(Scan, EveryInstructionSetGivesTheSameKeysForWideCodes) { expect_equal_scans<uint32_t>(90); }

TEST(Scan, LogSumExpIsTheSameEverywhereAndCloseToDoublePrecision) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<float> values(1 + random() % 5000);
    const double spread = static_cast<double>(random() % 40) + 0.5;
    double peak = -1e300;
    for (float& value : values) {
      value = static_cast<float>((static_cast<double>(random() % 100003) / 100003 - 0.5) * spread);
      peak = std::max<double>(peak, value);
    }
    double sum = 0;
    for (const float value : values) sum += std::exp(value - peak);
    const float expected =
        kPortableScan.log_sum_exp(values.data(), static_cast<uint32_t>(values.size()));
    EXPECT_NEAR(expected, peak + std::log(sum), 3e-6);
    for (const ScanKernels* kernels : kernels_here()) {
      const float actual =
          kernels->log_sum_exp(values.data(), static_cast<uint32_t>(values.size()));
      ASSERT_EQ(std::bit_cast<uint32_t>(actual), std::bit_cast<uint32_t>(expected))
          << kernels->name;
    }
  }
}

TEST(Scan, LogSumExpOfNothingIsMinusInfinity) {
  const float values[] = {-kInfinity, std::nanf(""), -kInfinity};
  for (const ScanKernels* kernels : kernels_here()) {
    EXPECT_EQ(kernels->log_sum_exp(values, 0), -kInfinity);
    EXPECT_EQ(kernels->log_sum_exp(values, 3), -kInfinity);
  }
}

/// A catalogue of two levels and a state in the middle of a search: beams at all nodes of the first
/// level.
class SelectTest : public testing::Test {
 protected:
  SelectTest() {
    catalogue::CatalogueInput input;
    std::mt19937_64 random(5);
    for (uint32_t i = 0; i < 60000; ++i) {
      input.codes.push_back(static_cast<uint32_t>(random() % 48));
      input.codes.push_back(static_cast<uint32_t>(random() % kLevelSize));
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add(std::to_string(i));
    }
    for (uint32_t code = 0; code < kLevelSize; ++code) {  // one node with every child
      input.codes.insert(input.codes.end(), {48, code});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("dense-" + std::to_string(code));
    }
    const std::string path = std::filesystem::temp_directory_path() /
                             ("tessera-select-" + std::to_string(::getpid()) + ".tsra");
    EXPECT_TRUE(catalogue::build_snapshot(input, path, {}).is_ok());
    snapshot_ = catalogue::Snapshot::open(path).value();
    reach_ = catalogue::Reach(catalogue::View::of(snapshot_));
    std::filesystem::remove(path);
  }

  static constexpr uint32_t kLevelSize = 5000;

  /// `distinct` logits, none above the norm of `full`: few make ties.
  void fill(uint64_t seed, uint32_t distinct) {
    std::mt19937_64 random(seed);
    beams_ = {};
    for (catalogue::NodeIndex node = 1; node <= snapshot_->nodes_at_level(0); ++node) {
      beams_.nodes.push_back(node);
      beams_.scores.push_back(-static_cast<float>(random() % distinct) / 8.0f);
      beams_.ended.push_back(0);
    }
    std::shuffle(beams_.nodes.begin(), beams_.nodes.end(), random);
    logits_.resize(beams_.nodes.size() * kLevelSize);
    for (float& logit : logits_) logit = -static_cast<float>(random() % distinct) / 16.0f;
    log_sum_exp_.assign(beams_.nodes.size(), 3.25f);
  }

  void select(uint32_t width, ScoreNorm norm, Step& step) {
    beam::select(beams_, {logits_, kLevelSize, {}, log_sum_exp_}, reach_, {width, 0, norm},
                 *scratch_, step);
  }

  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  catalogue::Reach reach_;
  std::unique_ptr<Scratch, ScratchDeleter> scratch_ = make_scratch();
  Beams beams_;
  std::vector<float> logits_;
  std::vector<float> log_sum_exp_;
};

TEST_F(SelectTest, AStepEqualsSortingEveryCandidate) {
  for (const uint32_t distinct : {1u, 3u, 1000u, 1000000u}) {
    fill(distinct, distinct);
    struct Candidate {
      float score;
      catalogue::NodeIndex node;
      uint32_t parent;
    };
    std::vector<Candidate> all;
    for (uint32_t b = 0; b < beams_.nodes.size(); ++b) {
      const catalogue::Children children = snapshot_->children(beams_.nodes[b]);
      for (uint32_t i = 0; i < children.codes.size(); ++i) {
        const float logit = logits_[size_t{b} * kLevelSize + children.codes[i]];
        all.push_back({beams_.scores[b] + (logit - 3.25f), children.first_child + i, b});
      }
    }
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.node < b.node;
    });
    for (const uint32_t width : {1u, 7u, 512u, 5000u, 200000u}) {
      SCOPED_TRACE("distinct " + std::to_string(distinct) + " width " + std::to_string(width));
      Step step;
      select(width, ScoreNorm::kFull, step);
      const size_t count = std::min<size_t>(width, all.size());
      ASSERT_EQ(step.finished.size(), count);
      ASSERT_TRUE(step.next.nodes.empty());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(step.finished[i].node, all[i].node) << i;
        ASSERT_EQ(step.finished[i].score, all[i].score) << i;
        ASSERT_EQ(step.finished_parents[i], all[i].parent) << i;
      }
    }
  }
}

TEST_F(SelectTest, AStepWithoutCandidatesSelectsNothing) {
  Step step;
  step.parents = {7};
  beam::select({}, {}, reach_, {4, 0, ScoreNorm::kFull}, *scratch_, step);
  EXPECT_TRUE(step.next.nodes.empty() && step.parents.empty() && step.finished.empty());
}

TEST_F(SelectTest, LogitsThatAreNotNumbersRankLast) {
  fill(3, 1000);
  std::fill_n(logits_.begin(), kLevelSize, std::nanf(""));
  Step step;
  select(200000, ScoreNorm::kFull, step);
  const size_t unranked = snapshot_->children(beams_.nodes[0]).codes.size();
  ASSERT_GT(step.finished.size(), unranked);
  const size_t first = step.finished.size() - unranked;
  EXPECT_GT(step.finished[first - 1].score, -kInfinity);
  for (size_t i = first; i < step.finished.size(); ++i) {
    ASSERT_EQ(step.finished[i].score, -kInfinity);
    ASSERT_EQ(step.finished_parents[i], 0u);
  }
}

TEST_F(SelectTest, ExportOnTwoThreadsEqualsExportOnOne) {
  std::vector<Finished> finished;
  for (catalogue::NodeIndex node = 1; node < snapshot_->node_count(); ++node) {
    if (snapshot_->is_terminal(node)) finished.push_back({static_cast<float>(node % 97), node});
  }
  ASSERT_GT(finished.size(), 50000u);
  platform::ThreadPool one(1);
  platform::ThreadPool two(2);
  const Exported expected = export_items(finished, reach_, {40000, 0}, one);
  const Exported actual = export_items(finished, reach_, {40000, 0}, two);
  EXPECT_EQ(expected.item_ordinals.size(), 40000u);
  EXPECT_EQ(actual.item_ordinals, expected.item_ordinals);
  EXPECT_EQ(actual.item_paths, expected.item_paths);
  EXPECT_EQ(actual.path_offsets, expected.path_offsets);
  EXPECT_EQ(actual.path_codes, expected.path_codes);
  for (size_t i = 0; i < actual.item_ordinals.size(); i += 37) {
    const catalogue::NodeIndex node = snapshot_->node_of(actual.item_ordinals[i]);
    const uint32_t* codes = actual.path_codes.data() + actual.path_offsets[actual.item_paths[i]];
    ASSERT_EQ(snapshot_->find_node(std::span(codes, 2)), node);
  }
}

TEST_F(SelectTest, TheSteadyStateAllocatesNothing) {
  fill(4, 1000);
  Step step;
  for (const ScoreNorm norm : {ScoreNorm::kFull, ScoreNorm::kLevel, ScoreNorm::kAllowed}) {
    select(512, norm, step);
    const uint64_t before = allocation_count();
    select(512, norm, step);
    EXPECT_EQ(allocation_count(), before);
  }
}

}  // namespace select_test
}  // namespace tessera::beam
