#include "beam/out_of_reach.h"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::beam {
namespace {

TEST(IsDoubtful, WhereTheCodesInFrontAreNoLikelierThanADrawnOne) {
  // Of 256 codes 1/256 each is -5.55; the sixteenth counts.
  std::vector<float> scores(256, -6.0f);
  EXPECT_TRUE(is_doubtful(scores, 256));
  std::fill_n(scores.begin(), 15, -3.0f);
  EXPECT_TRUE(is_doubtful(scores, 256));
  scores[15] = -5.5f;
  EXPECT_FALSE(is_doubtful(scores, 256));
  // Of fewer candidates the last.
  EXPECT_FALSE(is_doubtful(std::vector<float>{-1.0f, -5.5f}, 256));
  EXPECT_TRUE(is_doubtful(std::vector<float>{-1.0f, -5.6f}, 256));
  EXPECT_FALSE(is_doubtful({}, 256));
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

}  // namespace
}  // namespace tessera::beam
