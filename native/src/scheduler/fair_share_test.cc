#include "scheduler/fair_share.h"

#include <gtest/gtest.h>

#include <deque>

namespace tessera::scheduler {
namespace fair_share_test {

std::array<double, kClasses> served_with(const std::array<double, kClasses>& work_us,
                                         const std::array<bool, kClasses>& is_waiting) {
  FairShare share;
  std::array<double, kClasses> served{};
  for (int i = 0; i < 7000; ++i) {
    const size_t cls = share.next(is_waiting);
    share.served(cls, work_us[cls]);
    served[cls] += work_us[cls];
  }
  return served;
}

TEST(FairShare, ClassesThatAlwaysWaitGetTheirSharesOfTheWorkWhateverItsPieces) {
  for (const auto& work : {std::array{100.0, 100.0, 100.0}, std::array{10.0, 500.0, 90.0}}) {
    const auto served = served_with(work, {true, true, true});
    const double sum = served[0] + served[1] + served[2];
    EXPECT_NEAR(served[0] / sum, 4.0 / 7, 0.01);
    EXPECT_NEAR(served[1] / sum, 2.0 / 7, 0.01);
    EXPECT_NEAR(served[2] / sum, 1.0 / 7, 0.01);
  }
}

TEST(FairShare, WhatOneClassDoesNotUseGoesToTheOthers) {
  const auto served = served_with({100, 100, 100}, {true, false, true});
  EXPECT_NEAR(served[0] / served[2], 4, 0.02);
}

TEST(FairShare, AClassThatWasEmptyHasNoClaimToTheTimeGoneBy) {
  FairShare share;
  for (int i = 0; i < 1000; ++i) share.served(0, 100);
  share.began_waiting(2);
  int high = 0;
  for (int i = 0; i < 50; ++i) {
    const size_t cls = share.next({true, false, true});
    share.served(cls, 100);
    high += cls == 0;
  }
  EXPECT_NEAR(high, 40, 1);
}

// Against the queue itself, emptied one by one: no request that is predicted is done later.
TEST(FairShare, WorkBeforeARequestIsWhatTheQueueDoesBeforeIt) {
  for (size_t cls = 0; cls < kClasses; ++cls) {
    const std::array<double, kClasses> waiting{400, 900, 300};
    FairShare share;
    std::array<int, kClasses> left{4, 9, 3};
    ++left[cls];  // the new one, last of its class
    double done = 0;
    while (left[cls] > 0) {
      const size_t next = share.next({left[0] > 0, left[1] > 0, left[2] > 0});
      share.served(next, 100);
      --left[next];
      done += 100;
    }
    EXPECT_NEAR(work_before_us(waiting, cls, 100), done - 100, 150) << "class " << cls;
  }
}

TEST(FairShare, PlacesAreKeptForClassesThatDoNotFillTheQueue) {
  EXPECT_TRUE(has_place({0, 0, 0}, 1, 4));
  EXPECT_FALSE(has_place({0, 0, 4}, 1, 4));
  // Of 160 places each class is sure of ten.
  EXPECT_TRUE(has_place({139, 0, 0}, 0, 160));
  EXPECT_FALSE(has_place({140, 0, 0}, 0, 160));
  EXPECT_TRUE(has_place({140, 0, 0}, 2, 160));
  EXPECT_FALSE(has_place({140, 10, 10}, 2, 160));
  EXPECT_FALSE(has_place({130, 20, 10}, 2, 160));
}

}  // namespace fair_share_test
}  // namespace tessera::scheduler
