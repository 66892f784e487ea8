// The card's tiles of experts against what laying the rows out costs, tile by tile.
#include "ops/expert_tiles.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tessera::ops {
namespace expert_tiles_test {

/// Rows of the tiles when they are laid out one by one.
uint64_t laid_out(const std::vector<uint32_t>& groups, uint32_t tile) {
  uint64_t padded = 0;
  for (uint32_t left : groups) {
    while (left > 0) {
      left -= left < tile ? left : tile;
      padded += tile;
    }
  }
  return padded;
}

TEST(ExpertTiles, TheTileIsTheLargestThatPadsHalfAtMostAndTheSmallestWhereNoneDoes) {
  std::mt19937 random(3);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  uint32_t seen[129] = {};
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<uint32_t> groups(1 + below(128));
    const uint32_t most = 1 + below(300);
    for (uint32_t& rows : groups) rows = below(most);
    uint64_t real = 0;
    for (const uint32_t rows : groups) real += rows;
    const uint32_t tile = expert_tile(groups);
    ++seen[tile];
    EXPECT_EQ(padded_rows(groups, tile), laid_out(groups, tile));
    for (const uint32_t other : {128u, 64u, 32u, 16u}) {
      const bool fits = 2 * laid_out(groups, other) <= 3 * real;
      EXPECT_FALSE(other > tile && fits) << other;
      EXPECT_TRUE(other != tile || tile == 16 || fits) << other;
    }
  }
  for (const uint32_t tile : kExpertTiles) EXPECT_GT(seen[tile], 0u) << tile;
}

TEST(ExpertTiles, ChangeWherePaddedRowsAreMoreThanOneAndAHalfOfTheRealOnes) {
  const std::vector<uint32_t> at(8, 86), above(8, 85);  // 128 / 1.5 is between them
  EXPECT_EQ(expert_tile(at), 128u);
  EXPECT_EQ(expert_tile(above), 32u);  // two of 64 pad as far
  EXPECT_EQ(expert_tile(std::vector<uint32_t>(8, 60)), 64u);
  EXPECT_EQ(expert_tile(std::vector<uint32_t>(8, 1)), 16u);
  EXPECT_EQ(expert_tile(std::vector<uint32_t>(8, 0)), 128u);  // nothing to pad
}

}  // namespace expert_tiles_test
}  // namespace tessera::ops
