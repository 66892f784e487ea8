#include "scheduler/admission_controller.h"

#include <gtest/gtest.h>

namespace tessera::scheduler {
namespace admission_controller_test {

constexpr double kOwnUs = 10e3;

AdmissionController::Candidate candidate(size_t cls, double budget_us, double now_us = 0) {
  return {.cls = cls, .alone_us = kOwnUs, .now_us = now_us, .budget_us = budget_us};
}

/// Five seconds of three times the capacity, nearly all of it by one class: a hundredth is by
/// `other`. The time now.
double overload(AdmissionController& controller, size_t cls, size_t other = 0) {
  double now_us = 0;
  for (int i = 0; i < 1500; ++i) {
    now_us += kOwnUs / 3;
    controller.judge(candidate(i % 100 == 50 ? other : cls, 1e6, now_us));
  }
  return now_us;
}

TEST(AdmissionController, ForecastsWhatItJudgesByButForTheRequestItself) {
  AdmissionController controller;
  controller.note_progress(80e3, 0.5);
  const double wait_us = controller.forecast(1, 20e3, 0).wait_us;
  EXPECT_DOUBLE_EQ(wait_us, (80e3 + 20e3) * 0.5 * kMarginFirst);
  auto asked = candidate(1, wait_us + kOwnUs * 0.5 * kMarginFirst + 1);
  asked.queued_us = 20e3;
  EXPECT_EQ(controller.judge(asked).verdict, Verdict::kAdmitted);
  asked.budget_us -= 2;
  EXPECT_EQ(controller.judge(asked).verdict, Verdict::kTooBusy);
}

TEST(AdmissionController, SaysThatNothingIsToBeWaitedForWhereTheEngineIsEmpty) {
  AdmissionController controller;
  const auto forecast = controller.forecast(2, 0, 0);
  EXPECT_EQ(forecast.wait_us, 0);
  EXPECT_EQ(forecast.turn_us, 0);
}

TEST(AdmissionController, ForecastsTheTurnThatItRefusesBy) {
  AdmissionController controller;
  controller.note_progress(500e3, 1);
  const double now_us = overload(controller, 2);
  const double turn_us = controller.forecast(2, 0, now_us).turn_us;
  ASSERT_GT(turn_us, 0);
  const auto refused = controller.judge(candidate(2, 1e6, now_us));
  EXPECT_EQ(refused.verdict, Verdict::kNoTurn);
  EXPECT_GE(refused.retry_after_us, turn_us * 0.9);
  EXPECT_EQ(controller.forecast(2, 0, now_us + turn_us * 1.2).turn_us, 0);
}

TEST(AdmissionController, AdmitsAClassThatAsksAloneAsLongAsItEndsInTime) {
  AdmissionController controller;
  constexpr double kLongUs = 60e6, kBudgetUs = 600e6;
  auto asked = candidate(1, kBudgetUs);
  asked.alone_us = kLongUs;
  uint32_t admitted = 0;
  for (; controller.judge(asked).verdict == Verdict::kAdmitted; ++admitted) {
    asked.queued_us += kLongUs;
  }
  EXPECT_EQ(admitted, 6u);  // of margin kMarginFirstShort
  EXPECT_EQ(controller.judge(asked).verdict, Verdict::kTooBusy);
}

}  // namespace admission_controller_test
}  // namespace tessera::scheduler
