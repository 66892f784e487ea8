#include "beam/out_of_reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

namespace tessera::beam {
namespace out_of_reach_test {

TEST(IsDoubtful, WhereTheCodesOrThoseInFrontHaveLittleProbability) {
  std::vector<float> scores(256, std::log(0.9f / 256));  // the first sixteen are in front
  EXPECT_TRUE(is_doubtful(scores, 256, 256));
  scores[0] = std::log(0.06f);
  EXPECT_FALSE(is_doubtful(scores, 256, 256));
  EXPECT_TRUE(is_doubtful(std::span(scores).first(64), 256, 256));
  EXPECT_FALSE(is_doubtful(std::vector{std::log(0.4f), std::log(0.01f)}, 4, 4));
  EXPECT_TRUE(is_doubtful(std::vector{std::log(0.3f), std::log(0.01f)}, 4, 4));
  // A quarter of the codes may be had: it need not have more than a quarter of the probability.
  EXPECT_FALSE(is_doubtful(std::span(scores).first(64), 256, 64));
  EXPECT_TRUE(is_doubtful({}, 256, 256));
}

TEST(IsOutOfReach, WhereHalfOfThePathsAreNotToBeHadAboveTheCut) {
  std::vector<float> next{-9, -2, -7, -3, -8, -4};
  EXPECT_FALSE(is_out_of_reach(-5.0f, next, 6));
  EXPECT_TRUE(is_out_of_reach(-4.0f, next, 6));  // where they are equal the first code decides
  EXPECT_FALSE(is_out_of_reach(-4.0f, next, 4));
  EXPECT_TRUE(is_out_of_reach(-5.0f, next, 7));
  EXPECT_FALSE(is_out_of_reach(-1.0f, next, 13)) << "too few are known";
  EXPECT_FALSE(is_out_of_reach(std::nullopt, next, 6)) << "nothing was cut off";
}

}  // namespace out_of_reach_test
}  // namespace tessera::beam
