// Adapters on a card: low-rank terms of the products of some rows (ops/low_rank.h), and rows of the
// embedding and of the head in place of the model's. Requests with different adapters, of different
// ranks, and without any are rows of one pass.
//
//   tessera_project             grid (ceil(largest rank / 64), ceil(rows of the largest term / 64),
//                               terms * parts), block kMultiplyThreads: x A^T in BF16; then
//                               tessera_multiply with the same terms adds the products with B
//   tessera_replace_embedding   grid (rows), block kRowThreads, behind tessera_embed
//   tessera_replace_logits      grid (ceil(columns / kRowThreads), rows), block kRowThreads, behind
//                               tessera_multiply: a warp per 32 columns
//
// A row's bits: the sum with the model's weights, plus the canonical sum with B of the rounded
// product with A. They depend on the row and its adapter alone; rows without one are not touched.
#pragma once

#include <cstdint>

namespace tessera::ops::cuda {

inline constexpr uint32_t kRankMax = 128;  // as ops::kRankMax
inline constexpr uint32_t kPartsMax = 3;   // matrices whose outputs are columns of one product

/// The factors of one matrix; what of a rank a multiple of 8 does not need is zero.
struct LowRank {
  const uint16_t* a = nullptr;  // [rank][inputs]
  const uint16_t* b = nullptr;  // [outputs][rank], the scale within
  uint32_t rank = 0;            // a multiple of 8; 0: none
};

/// Rows of a table that stand in place of the model's.
struct ReplacedRows {
  const int32_t* ids = nullptr;  // ascending
  uint32_t count = 0;
  const uint16_t* rows = nullptr;  // [count][size], aligned to 16 bytes
};

/// Rows of a pass that run with one adapter.
struct AdaptedRows {
  uint32_t first = 0;
  uint32_t rows = 0;                  // 0: spare
  const LowRank* matrices = nullptr;  // of all the model's
  ReplacedRows embedding, head;
};

/// Which matrices make the columns of a product.
struct LowRankParts {
  uint32_t count = 0;
  uint32_t matrices[kPartsMax] = {0, 0, 0};
  uint32_t first_columns[kPartsMax + 1] = {0, 0, 0, 0};  // ascending; the last part's end too
};

/// The low-rank terms of a product.
struct LowRankTerms {
  const AdaptedRows* terms = nullptr;  // [count], no two of the same row
  uint32_t count = 0;
  LowRankParts parts;
  uint16_t* inner = nullptr;  // [parts][rows of the pass][kRankMax]: x A^T
  uint32_t inner_rows = 0;    // rows of the pass
};

struct ReplacedLogits {
  const AdaptedRows* terms = nullptr;
  uint32_t count = 0;
  const uint16_t* x = nullptr;       // [rows of the pass][k]
  const uint32_t* x_rows = nullptr;  // [rows of the grid] of x; null: row i
  uint32_t k = 0;                    // a multiple of 8
  const int32_t* ids = nullptr;      // [columns]: tokens; null: column i is token i
  uint32_t columns = 0;
  float* y = nullptr;  // [rows of the grid][columns]
};

}  // namespace tessera::ops::cuda
