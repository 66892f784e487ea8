// The emulation itself: it must see what it is there to see.
#include "cuda/device/kernel.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <vector>

namespace tessera::simt {
namespace simt_test {

TEST(Simt, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<int> counts(3 * 2 * 64);
  run({.grid = {3, 2, 1}, .block = {64, 1, 1}},
      [&] { counts[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] += 1; });
  EXPECT_EQ(counts, std::vector<int>(counts.size(), 1));
}

TEST(Simt, SharedMemoryBeginsAsNanAndIsOnePerBlock) {
  std::vector<float> before(4), after(4);
  run({.grid = {4, 1, 1}, .block = {64, 1, 1}}, [&] {
    TESSERA_SHARED(float, value, 1);
    if (threadIdx.x == 63) {
      before[blockIdx.x] = value[0];
      value[0] = static_cast<float>(blockIdx.x);
    }
    __syncthreads();
    if (threadIdx.x == 0) after[blockIdx.x] = value[0];
  });
  for (unsigned block = 0; block < 4; ++block) {
    EXPECT_TRUE(std::isnan(before[block]));
    EXPECT_EQ(after[block], static_cast<float>(block));
  }
}

/// Each thread takes its neighbour's value, with the barrier that this needs or without.
std::vector<unsigned> neighbours(uint64_t seed, bool has_barrier) {
  std::vector<unsigned> taken(64);
  run({.block = {64, 1, 1}, .seed = seed}, [&] {
    TESSERA_SHARED(unsigned, values, 64);
    values[threadIdx.x] = threadIdx.x;
    if (has_barrier) __syncthreads();
    taken[threadIdx.x] = values[(threadIdx.x + 1) % 64];
  });
  return taken;
}

TEST(Simt, AMissingBarrierShows) {
  EXPECT_NE(neighbours(1, false), neighbours(2, false));
  EXPECT_EQ(neighbours(1, true), neighbours(2, true));
}

TEST(Simt, RefusesABarrierThatSomeThreadsDoNotReach) {
  EXPECT_THROW(run({.block = {64, 1, 1}},
                   [] {
                     if (threadIdx.x < 32) __syncthreads();
                   }),
               std::logic_error);
}

TEST(Simt, WarpFunctionsGiveWhatTheLanesGave) {
  std::vector<int> up(64), across(64), all(64);
  std::vector<uint32_t> votes(64);
  run({.block = {64, 1, 1}}, [&] {
    const auto own = static_cast<int>(threadIdx.x);
    up[threadIdx.x] = __shfl_up_sync(cuda::kFullWarp, own, 2);
    across[threadIdx.x] = __shfl_xor_sync(cuda::kFullWarp, own, 5);
    all[threadIdx.x] = __shfl_sync(cuda::kFullWarp, own, 7);
    votes[threadIdx.x] = __ballot_sync(cuda::kFullWarp, threadIdx.x % 3 == 0);
  });
  for (int i = 0; i < 64; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(up[at], i % 32 < 2 ? i : i - 2);
    EXPECT_EQ(across[at], i ^ 5);
    EXPECT_EQ(all[at], i / 32 * 32 + 7);
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(votes[at] >> lane & 1u, (i / 32 * 32 + lane) % 3 == 0 ? 1u : 0u);
    }
  }
}

TEST(Simt, TheTensorProductIsThatOfTheMatrices) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> draw(-1, 1);
  float a[16][16], b[16][8], d[16][8];
  for (auto& row : a) {
    for (float& value : row) value = cuda::widen(cuda::narrow(draw(random)));
  }
  for (auto& row : b) {
    for (float& value : row) value = cuda::widen(cuda::narrow(draw(random)));
  }
  run({.block = {32, 1, 1}}, [&] {
    const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
    const auto pair = [](float low, float high) {
      return uint32_t{cuda::narrow(low)} | uint32_t{cuda::narrow(high)} << 16;
    };
    const uint32_t left[4] = {
        pair(a[g][2 * t], a[g][2 * t + 1]), pair(a[g + 8][2 * t], a[g + 8][2 * t + 1]),
        pair(a[g][2 * t + 8], a[g][2 * t + 9]), pair(a[g + 8][2 * t + 8], a[g + 8][2 * t + 9])};
    const uint32_t right[2] = {pair(b[2 * t][g], b[2 * t + 1][g]),
                               pair(b[2 * t + 8][g], b[2 * t + 9][g])};
    float sums[4] = {0, 0, 0, 0};
    cuda::multiply_16x8x16(left, right, sums);
    d[g][2 * t] = sums[0];
    d[g][2 * t + 1] = sums[1];
    d[g + 8][2 * t] = sums[2];
    d[g + 8][2 * t + 1] = sums[3];
  });
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double sum = 0;
      for (int k = 0; k < 16; ++k) sum += double{a[row][k]} * b[k][column];
      EXPECT_NEAR(d[row][column], sum, 1e-5) << row << ", " << column;
    }
  }
}

}  // namespace simt_test
}  // namespace tessera::simt
