#include "scheduler/admission.h"

#include <gtest/gtest.h>

namespace tessera::scheduler {
namespace {

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
  EXPECT_EQ(decide({1000, 0, 700}, 1).verdict, Verdict::kHopeless);
  EXPECT_EQ(decide({1000, 1e9, 700}, 1).verdict, Verdict::kHopeless);
  EXPECT_EQ(decide({1000, 0, 800}, 1).verdict, Verdict::kAdmit);  // within the doubt
}

TEST(Admission, ADeadlineThatThoseAheadMakeUnreachableComesWithAHint) {
  const AdmissionDecision decision = decide({1000, 5000, 2000}, 1);
  EXPECT_EQ(decision.verdict, Verdict::kTooBusy);
  EXPECT_DOUBLE_EQ(decision.retry_after_us, 6000 - 2000 * kDoubt);
  EXPECT_EQ(decide({1000, 5000, 2000}, 0.25).verdict, Verdict::kAdmit);
}

TEST(Admission, MoreLoadNeverAdmitsMore) {
  for (double ahead = 0; ahead < 10'000; ahead += 100) {
    const bool fewer = decide({500, ahead, 3000}, 1).verdict == Verdict::kAdmit;
    const bool more = decide({500, ahead + 100, 3000}, 1).verdict == Verdict::kAdmit;
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

}  // namespace
}  // namespace tessera::scheduler
