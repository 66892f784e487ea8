#include "scheduler/plan_step.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::scheduler {
namespace {

std::vector<std::pair<uint32_t, uint32_t>> planned(std::vector<Runnable> runnable, Budget budget) {
  std::vector<Share> plan;
  plan_step(runnable, budget, plan);
  std::vector<std::pair<uint32_t, uint32_t>> shares;
  for (const Share& share : plan) shares.emplace_back(share.runnable, share.rows);
  return shares;
}

using Shares = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(PlanStep, NothingRunningGivesAnEmptyPlan) { EXPECT_EQ(planned({}, {8, 8}), Shares{}); }

TEST(PlanStep, DecodesGoBeforePromptsAndBothShareThePass) {
  EXPECT_EQ(planned({{10, 0}, {0, 4}}, {8, 8}), (Shares{{1, 4}, {0, 4}}));
}

TEST(PlanStep, PromptChunksAreCutAtThePromptBudget) {
  EXPECT_EQ(planned({{10, 0}, {10, 0}}, {64, 12}), (Shares{{0, 10}, {1, 2}}));
}

TEST(PlanStep, ADecodeThatDoesNotFitIsNotOvertakenByAYoungerDecode) {
  EXPECT_EQ(planned({{0, 6}, {0, 6}, {0, 1}}, {8, 8}), (Shares{{0, 6}}));
}

TEST(PlanStep, RowsLeftByAWaitingDecodeServePrompts) {
  EXPECT_EQ(planned({{0, 6}, {0, 6}, {5, 0}}, {8, 8}), (Shares{{0, 6}, {2, 2}}));
}

TEST(PlanStep, EveryRequestEndsWithinTheWorkItBringsWhateverTheMix) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Budget budget{16, 1 + static_cast<uint32_t>(random() % 16)};
    std::vector<Runnable> runnable;
    uint64_t work = 0;
    for (uint32_t i = 0, n = 1 + random() % 6; i < n; ++i) {
      const uint32_t rows = 1 + random() % 16;
      runnable.push_back(random() % 2 == 0 ? Runnable{rows * 3, 0} : Runnable{0, rows});
      work += rows * 3;
    }
    std::vector<Share> plan;
    for (uint64_t passes = 0;; ++passes) {
      ASSERT_LE(passes, work) << "no progress";
      plan_step(runnable, budget, plan);
      uint32_t rows = 0;
      for (const Share& share : plan) {
        ASSERT_GT(share.rows, 0u);
        rows += share.rows;
        Runnable& chosen = runnable[share.runnable];
        if (chosen.decode_rows > 0) {
          ASSERT_EQ(share.rows, chosen.decode_rows);
          chosen.decode_rows = 0;
        } else {
          ASSERT_LE(share.rows, chosen.prompt_rows);
          chosen.prompt_rows -= share.rows;
        }
      }
      ASSERT_LE(rows, budget.rows);
      bool waiting = false;
      for (const Runnable& r : runnable) waiting = waiting || r.prompt_rows + r.decode_rows > 0;
      if (!waiting) break;
      ASSERT_GT(rows, 0u);
    }
  }
}

}  // namespace
}  // namespace tessera::scheduler
