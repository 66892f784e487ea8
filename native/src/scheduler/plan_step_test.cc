#include "scheduler/plan_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tessera::scheduler {
namespace plan_step_test {

Runnable prompt(uint32_t tokens, uint32_t length = 0, uint8_t priority = 0, int64_t slack_us = 0) {
  return {tokens, length, 0, priority, slack_us};
}
Runnable decode(uint32_t rows, uint8_t priority = 0) { return {8, 8, rows, priority, 0}; }

std::vector<Slice> planned(const std::vector<Runnable>& runnable, const Budget& budget,
                           std::vector<Link> links = {}) {
  links.resize(runnable.size());
  PlanScratch scratch;
  std::vector<Slice> plan;
  plan_step(runnable, links, budget, scratch, plan);
  return plan;
}

using Slices = std::vector<Slice>;

TEST(PlanStep, NothingRunningGivesAnEmptyPlan) { EXPECT_EQ(planned({}, {8, 8}), Slices{}); }

TEST(PlanStep, DecodesGoBeforePromptsAndBothShareThePass) {
  EXPECT_EQ(planned({prompt(10), decode(4)}, {8, 8}), (Slices{{1, 8, 4}, {0, 0, 4}}));
}

TEST(PlanStep, BeamsOfManyRequestsShareAPass) {
  EXPECT_EQ(planned({decode(4), decode(2), decode(2)}, {8, 8}),
            (Slices{{0, 8, 4}, {1, 8, 2}, {2, 8, 2}}));
}

TEST(PlanStep, ADecodeThatDoesNotFitIsNotOvertakenByAYoungerDecode) {
  EXPECT_EQ(planned({decode(6), decode(6), decode(1)}, {8, 8}), (Slices{{0, 8, 6}}));
}

TEST(PlanStep, TheOldestDecodeGoesBeforeAnUrgentOneAndUrgentBeforeOthers) {
  EXPECT_EQ(planned({decode(4, 2), decode(4, 2), decode(4, 0)}, {8, 8}),
            (Slices{{0, 8, 4}, {2, 8, 4}}));
}

TEST(PlanStep, RowsLeftByAWaitingDecodeServePrompts) {
  EXPECT_EQ(planned({decode(6), decode(6), prompt(5)}, {8, 8}), (Slices{{0, 8, 6}, {2, 0, 2}}));
}

TEST(PlanStep, ShortPromptsGoFirstButForAQuarterThatTheOldestIsSureOf) {
  EXPECT_EQ(planned({prompt(100), prompt(9), prompt(3)}, {64, 16}),
            (Slices{{0, 0, 4}, {2, 0, 3}, {1, 0, 9}}));
}

TEST(PlanStep, WhatShortPromptsLeaveGoesToTheLongOne) {
  EXPECT_EQ(planned({prompt(100), prompt(3)}, {64, 16}), (Slices{{0, 0, 4}, {1, 0, 3}, {0, 4, 9}}));
}

TEST(PlanStep, UrgentPromptsGoBeforeShorterOnesAndLessSlackBreaksTies) {
  EXPECT_EQ(planned({prompt(1), prompt(5, 0, 1), prompt(8, 0, 0)}, {64, 12}),
            (Slices{{0, 0, 1}, {2, 0, 8}, {1, 0, 3}}));
  EXPECT_EQ(planned({prompt(1), prompt(8, 0, 0, 50), prompt(8, 0, 0, 20)}, {64, 12}),
            (Slices{{0, 0, 1}, {2, 0, 8}, {1, 0, 3}}));
}

TEST(PlanStep, APromptGoesOnWhereItStopped) {
  EXPECT_EQ(planned({prompt(100, 40)}, {64, 16}), (Slices{{0, 40, 16}}));
}

TEST(PlanStep, SharedPositionsAreComputedOnceAndTheOthersGoOnFromThere) {
  // Request 1 shares 10 tokens with 0, and 2 shares 6 with 1.
  EXPECT_EQ(planned({prompt(12), prompt(14), prompt(8)}, {64, 64}, {{}, {0, 10}, {1, 6}}),
            (Slices{{0, 0, 12}, {2, 6, 2}, {1, 10, 4}}));
}

TEST(PlanStep, AFollowerComputesForItsLeaderWhenItsTurnComesFirst) {
  EXPECT_EQ(planned({prompt(3), prompt(100), prompt(22)}, {64, 40}, {{}, {}, {1, 20}}),
            (Slices{{0, 0, 3}, {2, 0, 22}, {1, 20, 15}}));
}

TEST(PlanStep, ThePassEndsInTimeButMovesOn) {
  Budget budget{256, 256, 1000, {20, 10, 0, 0}};
  EXPECT_EQ(planned({prompt(200)}, budget), (Slices{{0, 0, 98}}));
  EXPECT_EQ(planned({prompt(200), decode(130)}, budget),
            (Slices{{1, 8, 130}, {0, 0, kPromptRowsMin}}));
  budget.time_us = 100;
  budget.cost = {0, 10, 0, 0};
  EXPECT_EQ(planned({prompt(200)}, budget), (Slices{{0, 0, kPromptRowsMinAlone}}));
}

TEST(PlanStep, APassIsNotCutBelowSixteenTimesItsFixedPart) {
  const Budget budget{256, 256, 1, {100, 10, 0, 0}};
  EXPECT_EQ(planned({prompt(200)}, budget), (Slices{{0, 0, 150}}));
}

TEST(PlanStep, ThePassOfFourRequestsMayTakeTwiceThatOfOne) {
  const Budget budget{256, 256, 1000, {20, 10, 0, 0}};
  EXPECT_EQ(planned({prompt(256)}, budget), (Slices{{0, 0, 98}}));
  EXPECT_EQ(planned({prompt(256), decode(10), decode(10), decode(10)}, budget),
            (Slices{{1, 8, 10}, {2, 8, 10}, {3, 8, 10}, {0, 0, 168}}));
}

TEST(PlanStep, TheOldestIsSureOfAQuarterOfTheRowsThatThePassHasTimeFor) {
  const Budget budget{256, 256, 500, {0, 10, 0, 0}};
  EXPECT_EQ(planned({prompt(200), prompt(100), decode(6), decode(4)}, budget),
            (Slices{{2, 8, 6}, {3, 8, 4}, {0, 0, 22}, {1, 0, 68}}));
}

TEST(PlanStep, AFullPassHasNoRowsForTheOldestPromptEither) {
  EXPECT_EQ(planned({prompt(200), decode(64)}, {64, 64}), (Slices{{1, 8, 64}}));
}

TEST(PlanStep, WhatAnEncoderReadsGoesInOnePassOfTheOldestWhateverTimeItTakes) {
  const auto encoded = [](uint32_t uncut, uint32_t length = 0) {
    Runnable made = prompt(uncut + 1, length);
    made.uncut = uncut;
    return made;
  };
  const Budget budget{256, 64, 500, {0, 10, 0, 0}};
  // The second does not fit beside the first in the time; a third that is short does.
  EXPECT_EQ(planned({encoded(200), encoded(90), encoded(9)}, budget), (Slices{{0, 0, 200}}));
  EXPECT_EQ(planned({encoded(20), encoded(90), encoded(9)}, budget),
            (Slices{{0, 0, 20}, {2, 0, 10}, {0, 20, 1}}));
  // Rows that decodes have are waited for; the start token may come in the next pass.
  EXPECT_EQ(planned({encoded(200), decode(64)}, {256, 64}), (Slices{{1, 8, 64}}));
  EXPECT_EQ(planned({encoded(200), decode(56)}, {256, 64}), (Slices{{1, 8, 56}, {0, 0, 200}}));
  EXPECT_EQ(planned({encoded(200, 200), decode(64)}, {256, 64}),
            (Slices{{1, 8, 64}, {0, 200, 1}}));
}

/// Requests with prompts and decodes, taken forward by plans. Tokens are few, so prefixes abound.
struct World {
  std::vector<std::vector<int32_t>> prompts;
  std::vector<Runnable> runnable;
  std::vector<Link> links;
  PlanScratch scratch;
  std::vector<Slice> plan;
  uint64_t prompt_rows = 0;

  uint32_t enter(std::vector<int32_t> tokens, uint8_t priority, bool may_share) {
    std::vector<std::span<const int32_t>> running(prompts.begin(), prompts.end());
    links.push_back(may_share ? find_leader(running, tokens) : Link{});
    Runnable entering = prompt(static_cast<uint32_t>(tokens.size()), 0, priority);
    if (links.back().leader != kNoLeader)
      entering.length = std::min(links.back().shared, runnable[links.back().leader].length);
    prompts.push_back(std::move(tokens));
    runnable.push_back(entering);
    return static_cast<uint32_t>(runnable.size() - 1);
  }
  void pass(const Budget& budget) {
    plan_step(runnable, links, budget, scratch, plan);
    uint32_t rows = 0;
    uint32_t prompt_part = 0;
    std::vector<uint32_t> shared(runnable.size());
    for (const Slice& slice : plan) {
      ASSERT_GT(slice.rows, 0u);
      rows += slice.rows;
      Runnable& chosen = runnable[slice.runnable];
      if (chosen.decode_rows > 0) {
        ASSERT_EQ(slice.rows, chosen.decode_rows);
        chosen.decode_rows = 0;
        continue;
      }
      prompt_part += slice.rows;
      ASSERT_EQ(slice.first, chosen.length) << "rows that nobody stands on";
      ASSERT_LE(slice.first + slice.rows, chosen.prompt_tokens);
      shared_with(links, slice.runnable, shared);
      for (size_t i = 0; i < runnable.size(); ++i) {
        runnable[i].length =
            std::max(runnable[i].length, std::min(shared[i], slice.first + slice.rows));
      }
    }
    prompt_rows += prompt_part;
    ASSERT_LE(rows, budget.rows);
    ASSERT_LE(prompt_part, budget.prompt_rows);
    const bool waiting = std::any_of(runnable.begin(), runnable.end(), [](const Runnable& r) {
      return r.length < r.prompt_tokens || r.decode_rows > 0;
    });
    ASSERT_TRUE(rows > 0 || !waiting) << "no progress";
  }
};

TEST(PlanStep, EveryMixEndsWithinItsWorkAndComputesEachSharedPositionOnce) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Budget budget{16, 1 + static_cast<uint32_t>(random() % 16)};
    World world;
    uint64_t work = 0;
    for (uint32_t i = 0, n = 1 + random() % 8; i < n; ++i) {
      std::vector<int32_t> tokens(1 + random() % 40);
      for (int32_t& token : tokens) token = random() % 16 == 0 ? 1 : 0;
      work += tokens.size();
      world.enter(std::move(tokens), static_cast<uint8_t>(random() % 3), true);
    }
    uint64_t unique = 0;  // every last token, and every shorter prefix once
    std::vector<std::vector<int32_t>> prefixes;
    for (const auto& tokens : world.prompts) {
      ++unique;
      for (size_t size = 1; size < tokens.size(); ++size)
        prefixes.emplace_back(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(size));
    }
    std::sort(prefixes.begin(), prefixes.end());
    unique +=
        static_cast<uint64_t>(std::unique(prefixes.begin(), prefixes.end()) - prefixes.begin());
    for (uint64_t passes = 0; passes <= work; ++passes) {
      world.pass(budget);
      if (HasFatalFailure()) return;
    }
    for (const Runnable& r : world.runnable) EXPECT_EQ(r.length, r.prompt_tokens);
    EXPECT_EQ(world.prompt_rows, unique);
  }
}

TEST(PlanStep, AShortPromptWaitsForShorterOnesAloneWhateverLongOnesRun) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Budget budget{128, 8 + static_cast<uint32_t>(random() % 64)};
    World world;
    uint32_t ahead = 0;
    const auto own = static_cast<uint32_t>(1 + random() % 50);
    for (uint32_t i = 0, n = random() % 8; i < n; ++i) {
      const bool is_long = random() % 2 == 0;
      const auto tokens =
          static_cast<uint32_t>(is_long ? 1000 + random() % 5000 : 1 + random() % own);
      if (!is_long) ahead += tokens;
      world.enter(std::vector<int32_t>(tokens, 1), 0, false);
    }
    const uint32_t mine = world.enter(std::vector<int32_t>(own, 2), 0, false);
    const uint32_t sure = std::max(1u, budget.prompt_rows / kOldestPromptShare);
    const uint32_t rows_per_pass = budget.prompt_rows - sure;
    const uint32_t bound = (ahead + own + rows_per_pass - 1) / rows_per_pass;
    for (uint32_t passes = 0; passes < bound; ++passes) world.pass(budget);
    EXPECT_EQ(world.runnable[mine].length, own) << "bound " << bound;
  }
}

TEST(PlanStep, AnOldLongPromptOfTheLastClassEndsWhateverComesAfterIt) {
  const Budget budget{128, 64};
  World world;
  const uint32_t old = world.enter(std::vector<int32_t>(1000, 1), 2, false);
  const uint32_t bound = 1000 / (64 / kOldestPromptShare) + 1;
  for (uint32_t passes = 0; passes < bound; ++passes) {
    for (int i = 0; i < 4; ++i) world.enter(std::vector<int32_t>(30, 2), 0, false);
    world.pass(budget);
  }
  EXPECT_EQ(world.runnable[old].length, 1000u);
}

}  // namespace plan_step_test
}  // namespace tessera::scheduler
