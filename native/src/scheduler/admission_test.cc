#include "scheduler/admission.h"

#include <gtest/gtest.h>

namespace tessera::scheduler {
namespace admission_test {

constexpr PassCost kCost{100, 10, 0.5, 0.25};

TEST(Admission, ARequestAloneTakesItsPassesAndItsWork) {
  // Two chunks of the prompt, the second with the first selection, then two passes of 4 beams.
  const RequestWork work{20, 0, 3, 4, 100};
  const double prompt = 2 * 100 + 20 * 10 + (20 * 21 / 2) * 0.5 + 100 * 0.25;
  const double decode = 2 * (100 + 4 * 10 + 4 * 21 * 0.5 + 4 * 100 * 0.25);
  EXPECT_DOUBLE_EQ(alone_us(kCost, work, 16), prompt + decode);
}

TEST(Admission, WhatIsComputedNoLongerCounts) {
  EXPECT_DOUBLE_EQ(alone_us(kCost, {20, 20, 1, 4, 100}, 16), 100 + 40 + 4 * 21 * 0.5 + 100);
  EXPECT_DOUBLE_EQ(alone_us(kCost, {20, 20, 0, 4, 100}, 16), 0);
}

TEST(Admission, ADeadlineThatCannotBeMetEvenAloneIsHopeless) {
  EXPECT_EQ(decide({1000, 0, 700}, 1, 1).outlook, Outlook::kHopeless);
  EXPECT_EQ(decide({1000, 1e9, 700}, 1, 1).outlook, Outlook::kHopeless);
  EXPECT_EQ(decide({1000, 0, 800}, 1, 1).outlook, Outlook::kInTime);  // within the doubt
}

TEST(Admission, ADeadlineThatThoseAheadMakeUnreachableComesWithAHint) {
  const AdmissionDecision decision = decide({1000, 5000, 2000}, 1, 1);
  EXPECT_EQ(decision.outlook, Outlook::kTooBusy);
  EXPECT_DOUBLE_EQ(decision.retry_after_us, 6000 - 2000);
  EXPECT_EQ(decide({1000, 5000, 2000}, 0.25, 1).outlook, Outlook::kInTime);
  EXPECT_EQ(decide({1000, 5000, 2000}, 0.25, 2).outlook, Outlook::kTooBusy);
}

TEST(Admission, AMarginDoesNotRefuseARequestThatIsAlone) {
  EXPECT_EQ(decide({1000, 0, 1100}, 1, 3).outlook, Outlook::kInTime);
  EXPECT_EQ(decide({1000, 10, 1100}, 1, 3).outlook, Outlook::kTooBusy);
}

/// Late answers of `count`, each `gap_us` after the one before, of a server that takes up to 1.6
/// times the prediction and is always offered more than it can do.
uint32_t late_of(Punctuality& punctuality, int count, double gap_us) {
  uint32_t random = 1;
  uint32_t late = 0;
  for (int i = 0; i < count; ++i) {
    random = random * 1664525 + 1013904223;
    const double takes = 1 + 0.6 * (random >> 8) / double(1 << 24);
    const double now = i * gap_us;
    if (takes > punctuality.margin()) {
      ++late;
      punctuality.late(now - 100, now);
    } else {
      punctuality.in_time(now);
    }
  }
  return late;
}

TEST(Admission, LateAnswersRaiseTheMarginUntilFewAreLate) {
  for (const double gap_us : {1e3, 100e3, 1e6}) {
    Punctuality punctuality(kMarginFirst);
    EXPECT_LT(late_of(punctuality, 100'000, gap_us), 100'000 * 0.006) << gap_us;
  }
}

TEST(Admission, TheMarginFallsWhenPredictionsAreGood) {
  Punctuality punctuality(kMarginFirst);
  constexpr double kGap = 1e3;
  late_of(punctuality, 1000, kGap);
  const double begun_us = 1000 * kGap;
  for (int i = 0; i < 1000; ++i) punctuality.in_time(begun_us + i * 60e3);
  EXPECT_LT(punctuality.margin(), 1.05);
}

// The machine stood still for a while: that says nothing of the minutes after it, where a few
// answers would take an hour to tell.
TEST(Admission, AMarginThatADisturbanceRaisedFallsByTime) {
  Punctuality punctuality(kMarginFirst);
  for (int i = 1; i <= 20; ++i) punctuality.late(i * 1e3, i * 1e3);
  ASSERT_EQ(punctuality.margin(), 4);
  for (int i = 1; i <= 40; ++i) punctuality.in_time(i * 1e6);
  EXPECT_LE(punctuality.margin(), 2);
}

TEST(Admission, RequestsAdmittedBeforeARaiseDoNotRaiseAgain) {
  Punctuality punctuality(kMarginFirst);
  punctuality.late(100, 200);
  const double once = punctuality.margin();
  for (int i = 0; i < 50; ++i) punctuality.late(150, 300);
  EXPECT_DOUBLE_EQ(punctuality.margin(), once);
  punctuality.late(250, 400);
  EXPECT_GT(punctuality.margin(), once);
}

TEST(Admission, MoreLoadNeverAdmitsMore) {
  for (double ahead = 0; ahead < 10'000; ahead += 100) {
    const bool fewer = decide({500, ahead, 3000}, 1, 1).outlook == Outlook::kInTime;
    const bool more = decide({500, ahead + 100, 3000}, 1, 1).outlook == Outlook::kInTime;
    EXPECT_TRUE(fewer || !more) << ahead;
  }
}

TEST(Admission, TheSharingRateFollowsWhatAnswersTake) {
  SharingRate sharing;
  EXPECT_DOUBLE_EQ(sharing.rate(), 1);
  for (int i = 0; i < 300; ++i) {
    sharing.busy(250);
    sharing.served(1000);
  }
  EXPECT_NEAR(sharing.rate(), 0.25, 0.02);
}

TEST(SharingRate, WhatHasNotBeenAnsweredSaysNothingOfIt) {
  SharingRate sharing;
  sharing.busy(5e6);  // the first request of a service, and a long one
  EXPECT_EQ(sharing.rate(), 1);
  sharing.served(5e6);
  EXPECT_NEAR(sharing.rate(), 1, 0.02);
}

TEST(SharingRate, FollowsWhatRequestsShare) {
  SharingRate sharing;
  for (int i = 0; i < 200; ++i) {
    sharing.busy(4'000);
    sharing.served(10'000);
  }
  EXPECT_NEAR(sharing.rate(), 0.4, 0.01);
  for (int i = 0; i < 200; ++i) {
    sharing.busy(9'000);
    sharing.served(10'000);
  }
  EXPECT_NEAR(sharing.rate(), 0.9, 0.01);
}

}  // namespace admission_test
}  // namespace tessera::scheduler
