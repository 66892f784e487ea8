// Products on a card that are not of a library (cuda/library): of chosen columns, as the head has
// them, and what adapters add to products. BF16 by BF16, sums in F32 in the order of k by tensor
// cores, one kernel for all shapes: an element's bits depend on its row, its column and k alone.
//
//   tessera_multiply   grid (ceil(columns / 64), ceil(rows / 64)), block kMultiplyThreads
//   tessera_multiply_i8  the same grid and block: INT8 sides, exact sums over each tile of k
//   tessera_quantise_rows  grid (rows), block kQuantiseThreads: the left side of such a product
//   tessera_project    grid (ceil(kRankMax / 64), ceil(most rows of a term / 64), terms), the same
//                      block: x A^T of every term, before the product that adds them
#pragma once

#include <cstdint>

namespace tessera::ops::cuda {

inline constexpr uint32_t kMultiplyThreads = 128;
inline constexpr uint32_t kQuantiseThreads = 256;
inline constexpr uint32_t kMultiplyTile = 64;  // rows and columns of a block
inline constexpr uint32_t kRankMax = 128;
inline constexpr uint32_t kOverlayColumns = 32;  // of a panel (ops/packed_matrix.h)
inline constexpr uint32_t kNoPanel = ~uint32_t{0};

/// A low-rank term of some rows and columns of a product (ops/low_rank.h): the sum of the product
/// and inner B^T, times the scales.
struct Term {
  uint32_t first_row = 0;
  uint32_t rows = 0;
  uint32_t first_column = 0;  // of the product; B and scales begin there
  uint32_t columns = 0;
  uint32_t rank = 0;              // a multiple of 8
  const uint16_t* a = nullptr;    // [rank][k]
  const uint16_t* b = nullptr;    // [columns][rank]
  const float* scales = nullptr;  // [columns]; null: all are 1
  uint16_t* inner = nullptr;      // [rows of the product][kRankMax] scratch: x A^T
};

/// Columns of w that are others for all rows of a product: whole panels.
struct Overlay {
  const uint32_t* places = nullptr;  // by panel of w: where among its own, or kNoPanel
  const uint16_t* own = nullptr;     // [panels * kOverlayColumns][k]
};

/// y[i][j] = x[row i] . w[row j] + bias[j]. REQUIRES: k a multiple of 8, rows aligned to 16 bytes.
struct Product {
  const float* sums = nullptr;  // [rows][columns]: x . w, where it is computed; null: it is not
  const uint16_t* x = nullptr;  // [..][k]
  const uint32_t* x_rows = nullptr;  // [rows] of x; null: row i
  uint32_t rows = 0;
  uint32_t k = 0;
  const uint16_t* w = nullptr;      // [..][k]
  const int32_t* w_rows = nullptr;  // [columns] of w; null: row j
  uint32_t columns = 0;
  const uint16_t* bias = nullptr;  // [columns]; null: none
  uint16_t* y = nullptr;           // [rows][columns], or null
  float* y_f32 = nullptr;          // the same unrounded, or null
  const Term* terms = nullptr;     // no two of the same row and column
  uint32_t term_count = 0;
  Overlay overlay;  // no places: none
};

inline constexpr uint32_t kQuantisedDepth = 64;  // of k with one scale: a tile

/// The sides of an INT8 product, in place of the x and w of a Product: both of whole tiles, each of
/// which has gone through the Hadamard transform (ops/quantise.h).
struct Quantised {
  const int8_t* x = nullptr;        // [rows][tiles * kQuantisedDepth]
  const float* x_scales = nullptr;  // [rows][tiles]
  const int8_t* w = nullptr;        // [columns][tiles * kQuantisedDepth]
  const float* w_scales = nullptr;  // [columns][tiles]
  uint32_t tiles = 0;
};

}  // namespace tessera::ops::cuda
