// A block's tile of a matrix product. Included by *.cu only.
#pragma once

#include "cuda/device/kernel.h"
#include "cuda/kernels/multiply_kernels.h"

namespace tessera::ops::cuda {

constexpr uint32_t kDepth = 32;           // of k that a tile in shared memory has
constexpr uint32_t kStride = kDepth + 8;  // 16 bytes more: eight rows at once in different banks
constexpr uint32_t kTileElements = kMultiplyTile * kStride;

/// Of a thread: rows and columns of its block's tile as multiply_16x8x16 has them, for each of four
/// warps 16 rows and all columns.
struct TileSums {
  float sums[kMultiplyTile / 8][4];
};

TESSERA_DEVICE void clear(TileSums& tile) {
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    for (uint32_t i = 0; i < 4; ++i) tile.sums[n][i] = 0;
  }
}

/// Calls visit(row, column, n, i) for each sums[n][i] of the thread's, from 0 in the tile.
template <typename Visit>
TESSERA_DEVICE void for_sums(const Visit& visit) {
  const uint32_t row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  TESSERA_UNROLL
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    const uint32_t column = n * 8 + 2 * (threadIdx.x % 4);
    TESSERA_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      visit(row + (i / 2) * 8, column + i % 2, n, i);
    }
  }
}

/// Elements [at, at + kDepth) of the tile's rows: row_at(i) is row i, or null for zeros; zero
/// beyond k too.
template <typename RowAt>
TESSERA_DEVICE void load_tile(uint32_t k, uint32_t at, const RowAt& row_at, uint16_t* tile) {
  constexpr uint32_t kChunks = kDepth / 8;
  for (uint32_t i = threadIdx.x; i < kMultiplyTile * kChunks; i += kMultiplyThreads) {
    const uint32_t row = i / kChunks, element = at + i % kChunks * 8;
    const uint16_t* from = row_at(row);
    tessera::cuda::Chunk chunk = {{0, 0, 0, 0}};
    if (from != nullptr && element < k) {
      chunk = *reinterpret_cast<const tessera::cuda::Chunk*>(from + element);
    }
    *reinterpret_cast<tessera::cuda::Chunk*>(tile + row * kStride + i % kChunks * 8) = chunk;
  }
}

/// tile += x w^T over k, in its order. REQUIRES: k a multiple of 8, rows aligned to 16 bytes.
template <typename XRow, typename WRow>
TESSERA_DEVICE void multiply_tile(uint32_t k, const XRow& x_row, const WRow& w_row,
                                  uint16_t* x_tile, uint16_t* w_tile, TileSums& tile) {
  using tessera::cuda::pair_at;
  const uint32_t warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (uint32_t at = 0; at < k; at += kDepth) {
    __syncthreads();  // all have read the tiles before
    load_tile(k, at, x_row, x_tile);
    load_tile(k, at, w_row, w_tile);
    __syncthreads();
    for (uint32_t step = 0; step < kDepth; step += 16) {
      const uint16_t* low = x_tile + (warp * 16 + g) * kStride + step + 2 * t;
      const uint16_t* high = low + 8 * kStride;
      const uint32_t a[4] = {pair_at(low), pair_at(high), pair_at(low + 8), pair_at(high + 8)};
      for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
        const uint16_t* column = w_tile + (n * 8 + g) * kStride + step + 2 * t;
        const uint32_t b[2] = {pair_at(column), pair_at(column + 8)};
        tessera::cuda::multiply_16x8x16(a, b, tile.sums[n]);
      }
    }
  }
}

}  // namespace tessera::ops::cuda
