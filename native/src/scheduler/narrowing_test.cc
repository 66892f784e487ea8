#include "scheduler/narrowing.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::scheduler {
namespace narrowing_test {

constexpr uint32_t kChunk = 64;

/// Stated anew: passes times what one pass costs.
double needed_us(const PassCost& cost, const RequestWork& after, double beams) {
  const double pairs = beams * (after.prompt_tokens + 1.0);
  const double pass = cost.pass_us + cost.row_us * beams + cost.pair_us * pairs +
                      (cost.cell_us * beams + cost.column_us) * after.cells_per_beam;
  return after.selections * pass;
}

TEST(Narrowing, GivesTheWidestOfTheHalvedWidthsThatFits) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  uint32_t narrowed = 0, whole = 0, hopeless = 0;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const PassCost cost{100 * share(random), 10 * share(random), 0.1 * share(random),
                        0.01 * share(random), 0.1 * share(random)};
    RequestWork after;
    after.prompt_tokens = after.length = static_cast<uint32_t>(1 + random() % 500);
    after.selections = static_cast<uint32_t>(random() % 5);
    after.cells_per_beam = 1000 * share(random);
    const auto width = static_cast<uint32_t>(1 + random() % 600);
    const double slowdown = 1 + 3 * share(random);
    const double budget_us = 50'000 * share(random);
    const Narrowing narrowing = narrow(cost, after, width, slowdown, budget_us, kChunk);
    const auto fits = [&](double beams) {
      return needed_us(cost, after, beams) * slowdown * kNarrowingReserve <= budget_us;
    };
    ASSERT_GE(narrowing.width, 1u);
    ASSERT_LE(narrowing.width, width);
    ASSERT_EQ(narrowing.fits, fits(narrowing.width)) << "case " << i;
    ASSERT_TRUE(narrowing.fits || narrowing.width == 1);
    for (uint32_t wider = width; wider > narrowing.width; wider /= 2) {
      ASSERT_FALSE(fits(wider)) << "case " << i << ", width " << wider;
    }
    ++(!narrowing.fits ? hopeless : narrowing.width < width ? narrowed : whole);
  }
  EXPECT_GT(narrowed, 100u);
  EXPECT_GT(whole, 100u);
  EXPECT_GT(hopeless, 100u);
}

TEST(Narrowing, KeepsTheWidthWhenNothingFollowsTheSelection) {
  const PassCost cost{100, 1, 1, 1};
  EXPECT_EQ(narrow(cost, {8, 8, 0, 0, 10}, 512, 1, 0, kChunk).width, 512u);
  EXPECT_TRUE(narrow(cost, {8, 8, 0, 0, 10}, 512, 1, 0, kChunk).fits);
}

}  // namespace narrowing_test
}  // namespace tessera::scheduler
