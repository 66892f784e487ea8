#include "engine/admission_control.h"

#include <gtest/gtest.h>

namespace tessera::engine {
namespace admission_control_test {

using std::chrono::milliseconds;

class AdmissionControlTest : public testing::Test {
 protected:
  AdmissionControlTest() { admission_.note_progress({}, kAheadUs, 1); }

  bool is_admitted(milliseconds budget) {
    return admission_.judge({.own_us = kOwnUs, .now = kNow, .deadline = kNow + budget})
        .status.is_ok();
  }
  /// The end of one that was admitted, with 100 ms to its deadline.
  void ended(Code code, milliseconds after, bool was_short = false) {
    admission_.note_ended(
        {.submitted = kNow, .deadline = kNow + milliseconds(100), .was_short = was_short},
        Status(code, "ended"), kNow + after);
  }

  static constexpr double kOwnUs = 10e3, kAheadUs = 80e3;
  static constexpr milliseconds kEnough{110};  // with the margin of a beginning
  static constexpr Clock::time_point kNow{std::chrono::seconds(100)};
  AdmissionControl admission_{{}};
};

TEST_F(AdmissionControlTest, ALateAnswerMakesTheNextAdmissionsMoreCareful) {
  EXPECT_TRUE(is_admitted(kEnough));
  ended(Code::kDeadlineExceeded, milliseconds(100));
  EXPECT_FALSE(is_admitted(kEnough));
}

TEST_F(AdmissionControlTest, SoDoesACallerThatGivesUpAtItsDeadline) {
  ended(Code::kCancelled, milliseconds(95));
  EXPECT_FALSE(is_admitted(kEnough));
}

TEST_F(AdmissionControlTest, ACallerThatGoesAwayEarlierSaysNothing) {
  ended(Code::kCancelled, milliseconds(50));
  EXPECT_TRUE(is_admitted(kEnough));
}

TEST_F(AdmissionControlTest, LateAnswersOfAnOverloadSayNothingOfCalmTimes) {
  ended(Code::kDeadlineExceeded, milliseconds(100), true);
  EXPECT_TRUE(is_admitted(kEnough));
}

}  // namespace admission_control_test
}  // namespace tessera::engine
