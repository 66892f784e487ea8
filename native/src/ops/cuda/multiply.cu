#include "device/cuda/kernel.h"

#include "ops/cuda/multiply_kernels.h"

namespace tessera::ops::cuda {

using tessera::cuda::Chunk;
using tessera::cuda::multiply_16x8x16;
using tessera::cuda::narrow;
using tessera::cuda::pair_at;
using tessera::cuda::widen;

constexpr uint32_t kDepth = 32;           // of k that a tile in shared memory has
constexpr uint32_t kStride = kDepth + 8;  // 16 bytes more: eight rows at once in different banks

/// Rows [first, first + 64) of a matrix, elements [at, at + kDepth); zero beyond `rows` and k.
template <typename RowOf>
TESSERA_DEVICE void load_tile(const uint16_t* matrix, uint32_t first, uint32_t rows, uint32_t k,
                              uint32_t at, const RowOf& row_of, uint16_t* tile) {
  constexpr uint32_t kChunks = kDepth / 8;
  for (uint32_t i = threadIdx.x; i < kMultiplyTile * kChunks; i += kMultiplyThreads) {
    const uint32_t row = i / kChunks, element = at + i % kChunks * 8;
    Chunk chunk = {{0, 0, 0, 0}};
    if (first + row < rows && element < k) {
      chunk = *reinterpret_cast<const Chunk*>(
          matrix + static_cast<size_t>(row_of(first + row)) * k + element);
    }
    *reinterpret_cast<Chunk*>(tile + row * kStride + i % kChunks * 8) = chunk;
  }
}

TESSERA_DEVICE void store(const Product& product, uint32_t row, uint32_t column, float sum) {
  if (row >= product.rows || column >= product.columns) return;
  if (product.bias != nullptr) sum += widen(product.bias[column]);
  const size_t at = static_cast<size_t>(row) * product.columns + column;
  if (product.y != nullptr) product.y[at] = narrow(sum);
  if (product.y_f32 != nullptr) product.y_f32[at] = sum;
}

/// Each of four warps has 16 rows and all 64 columns of the block.
TESSERA_KERNEL tessera_multiply(Product product) {
  TESSERA_SHARED(uint16_t, x_tile, kMultiplyTile * kStride);
  TESSERA_SHARED(uint16_t, w_tile, kMultiplyTile * kStride);
  const uint32_t first_row = blockIdx.y * kMultiplyTile, first_column = blockIdx.x * kMultiplyTile;
  const uint32_t warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  float sums[kMultiplyTile / 8][4];
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    for (uint32_t i = 0; i < 4; ++i) sums[n][i] = 0;
  }
  for (uint32_t at = 0; at < product.k; at += kDepth) {
    __syncthreads();  // all have read the tiles before
    load_tile(
        product.x, first_row, product.rows, product.k, at,
        [&](uint32_t row) { return product.x_rows != nullptr ? product.x_rows[row] : row; },
        x_tile);
    load_tile(
        product.w, first_column, product.columns, product.k, at,
        [&](uint32_t row) {
          return product.w_rows != nullptr ? static_cast<uint32_t>(product.w_rows[row]) : row;
        },
        w_tile);
    __syncthreads();
    for (uint32_t k = 0; k < kDepth; k += 16) {
      const uint16_t* low = x_tile + (warp * 16 + g) * kStride + k + 2 * t;
      const uint16_t* high = low + 8 * kStride;
      const uint32_t a[4] = {pair_at(low), pair_at(high), pair_at(low + 8), pair_at(high + 8)};
      for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
        const uint16_t* column = w_tile + (n * 8 + g) * kStride + k + 2 * t;
        const uint32_t b[2] = {pair_at(column), pair_at(column + 8)};
        multiply_16x8x16(a, b, sums[n]);
      }
    }
  }
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    const uint32_t row = first_row + warp * 16 + g, column = first_column + n * 8 + 2 * t;
    store(product, row, column, sums[n][0]);
    store(product, row, column + 1, sums[n][1]);
    store(product, row + 8, column, sums[n][2]);
    store(product, row + 8, column + 1, sums[n][3]);
  }
}

}  // namespace tessera::ops::cuda
