#include "scheduler/class_credit.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::scheduler {
namespace class_credit_test {

TEST(ClassShares, GiveWhatIsAskedAndThenTheWeights) {
  const auto modest = class_shares({0.2, 0.1, 0.0});
  EXPECT_GE(modest[0], 0.2);
  EXPECT_GE(modest[1], 0.1);
  const auto all = class_shares({9, 9, 9});
  EXPECT_DOUBLE_EQ(all[0], 4.0 / 7);
  EXPECT_DOUBLE_EQ(all[1], 2.0 / 7);
  EXPECT_DOUBLE_EQ(all[2], 1.0 / 7);
  // High asks for a tenth: the others share what it leaves.
  const auto rest = class_shares({0.1, 9, 9});
  EXPECT_DOUBLE_EQ(rest[1], 0.6);
  EXPECT_DOUBLE_EQ(rest[2], 0.3);
  // The only class that asks gets everything.
  EXPECT_DOUBLE_EQ(class_shares({0, 0, 9})[2], 1);
}

/// Requests of 65 ms in random order of classes at `factor` times what there is, from the first
/// moment of the overload until `to_us`: the parts of what is begun from `from_us` on.
std::array<double, kClasses> begun(double factor, std::array<double, kClasses> mix,
                                   double from_us = 2e6, double to_us = 62e6) {
  std::mt19937 random(1);
  std::exponential_distribution<double> gap(factor / 65e3);
  std::discrete_distribution<size_t> cls(mix.begin(), mix.end());
  ClassCredits credits;
  std::array<double, kClasses> work{};
  for (double now_us = 0; now_us < to_us; now_us += gap(random)) {
    const size_t c = cls(random);
    credits.note_asked(c, 65e3, now_us);
    if (credits.until_turn_us(c, now_us) > 0) continue;
    credits.take(c, 65e3);
    if (now_us >= from_us) work[c] += 65e3;
  }
  for (double& one : work) one /= to_us - from_us;
  return work;
}

TEST(ClassCredits, KeepTheSharesOfASlowEngine) {
  for (const double factor : {3.0, 10.0}) {
    const auto work = begun(factor, {1, 1, 1});
    for (size_t c = 0; c < kClasses; ++c) {
      const double share = kClassWeights[c] / 7.0;
      EXPECT_NEAR(work[c] / share, 1, 0.1) << factor << " times, class " << c;
    }
  }
}

TEST(ClassCredits, KeepTheSharesFromTheFirstMomentOfAnOverload) {
  for (const double factor : {3.0, 10.0}) {
    const auto work = begun(factor, {1, 1, 1}, 0, 10e6);
    const double sum = work[0] + work[1] + work[2];
    for (size_t c = 0; c < kClasses; ++c) {
      EXPECT_NEAR(work[c] / sum / (kClassWeights[c] / 7.0), 1, 0.1)
          << factor << " times, class " << c;
    }
  }
}

TEST(ClassCredits, LeaveNothingUndoneForAClassThatAsksForLittle) {
  const auto work = begun(3, {0.02, 0.49, 0.49});
  EXPECT_GE(work[0] + work[1] + work[2], 0.95);
  EXPECT_NEAR(work[1] / work[2], 2, 0.2);
}

TEST(ClassCredits, HoldNobodyBackWhileThereIsEnough) {
  const auto work = begun(0.5, {0, 0, 1});
  EXPECT_NEAR(work[2], 0.5, 0.05);
}

TEST(ClassCredits, GiveOutWhatBecomesAnswersAndNotWhatIsPredicted) {
  ClassCredits credits;
  double begun_us = 0;
  constexpr double kStep = 10e3, kEnd = 30e6;
  for (double now_us = 0; now_us < kEnd; now_us += kStep) {
    credits.note_asked(0, kStep * 3, now_us);
    credits.note_asked(1, kStep * 3, now_us);
    // Of each second of predicted work the engine does 0.7.
    credits.note_done(kStep * 0.7, now_us);
    for (const size_t cls : {size_t{0}, size_t{1}}) {
      if (credits.until_turn_us(cls, now_us) > 0) continue;
      credits.take(cls, kStep);
      if (now_us >= kEnd / 2) begun_us += kStep;
    }
  }
  EXPECT_NEAR(begun_us / (kEnd / 2), 0.7 * 1.05, 0.02);
}

TEST(ClassCredits, DoNotTakeIdleTimeForLackOfCapacity) {
  ClassCredits credits;
  double now_us = 0;
  for (int i = 0; i < 100; ++i) {
    credits.note_idle(now_us += 1e6);
    credits.note_done(10e3, now_us += 10e3);
  }
  double taken_us = 0;
  for (int i = 0; i < 3000; ++i) {
    credits.note_asked(2, 30e3, now_us += 10e3);
    credits.note_done(10e3, now_us);
    if (credits.until_turn_us(2, now_us) > 0) continue;
    credits.take(2, 30e3);
    taken_us += 30e3;
  }
  EXPECT_GE(taken_us / 30e6, 1);
}

TEST(ClassCredits, TakeTurnsOnlyAmongClassesThatAsk) {
  ClassCredits credits;
  double now_us = 0;
  for (int i = 0; i < 100; ++i) {
    credits.note_asked(1, 65e3, now_us += 10e3);
    ASSERT_EQ(credits.until_turn_us(1, now_us), 0);
    credits.take(1, 65e3);
  }
  credits.note_asked(2, 65e3, now_us);
  EXPECT_GT(credits.until_turn_us(1, now_us), 0);
  EXPECT_EQ(credits.until_turn_us(2, now_us), 0);
}

TEST(ClassCredits, SayWhenTheTurnComes) {
  ClassCredits credits;
  double now_us = 0;
  for (int i = 0; i < 100; ++i) {
    now_us += 10e3;
    credits.note_asked(0, 1e3, now_us);
    credits.note_asked(1, 65e3, now_us);
    if (credits.until_turn_us(1, now_us) == 0) credits.take(1, 65e3);
  }
  const double wait_us = credits.until_turn_us(1, now_us);
  ASSERT_GT(wait_us, 0);
  EXPECT_NEAR(credits.until_turn_us(1, now_us + wait_us / 2), wait_us / 2, 1);
  now_us += wait_us * 1.001;
  credits.note_asked(1, 65e3, now_us);
  EXPECT_EQ(credits.until_turn_us(1, now_us), 0);
}

}  // namespace class_credit_test
}  // namespace tessera::scheduler
