// Matrix products on a card: BF16 by BF16, sums in F32 in the order of k by tensor cores, one
// kernel for all shapes. An element's bits depend on its row, its column and k alone, which a
// library that chooses an algorithm by the shape of the batch does not promise.
//
//   tessera_multiply   grid (ceil(columns / 64), ceil(rows / 64)), block kMultiplyThreads
#pragma once

#include <cstdint>

namespace tessera::ops::cuda {

inline constexpr uint32_t kMultiplyThreads = 128;
inline constexpr uint32_t kMultiplyTile = 64;  // rows and columns of a block

/// y[i][j] = x[row i] . w[row j] + bias[j]. REQUIRES: k a multiple of 8, rows aligned to 16 bytes.
struct Product {
  const uint16_t* x = nullptr;       // [..][k]
  const uint32_t* x_rows = nullptr;  // [rows] of x; null: row i
  uint32_t rows = 0;
  uint32_t k = 0;
  const uint16_t* w = nullptr;  // [..][k]
  // [columns] of w; null: row j. A column of a negative row is minus infinity.
  const int32_t* w_rows = nullptr;
  uint32_t columns = 0;
  const uint16_t* bias = nullptr;  // [columns]; null: none
  uint16_t* y = nullptr;           // [rows][columns], or null
  float* y_f32 = nullptr;          // the same unrounded, or null
};

}  // namespace tessera::ops::cuda
