// The end of a product: low-rank terms, bias, rounding. Included by *.cu only.
#pragma once

#include "cuda/kernels/multiply_tile.h"

namespace tessera::ops::cuda {

/// Rows and columns of the product where the block's tile begins.
struct Corner {
  uint32_t row;
  uint32_t column;
};

TESSERA_DEVICE bool has(uint32_t first, uint32_t count, uint32_t at) {
  return at >= first && at - first < count;
}

/// True where [first, first + count) and a tile's side from `at` on have one in common.
TESSERA_DEVICE bool meets(uint32_t first, uint32_t count, uint32_t at) {
  return first < at + kMultiplyTile && at < first + count;
}

/// Adds a term to those elements of the tile that it is of; the others keep their bits.
TESSERA_DEVICE void add_term(const Term& term, const Corner& corner, uint16_t* x_tile,
                             uint16_t* w_tile, TileSums& tile) {
  TileSums added;
  clear(added);
  multiply_tile(
      term.rank,
      [&](uint32_t i) -> const uint16_t* {
        if (!has(term.first_row, term.rows, corner.row + i)) return nullptr;
        return term.inner + static_cast<size_t>(corner.row + i) * kRankMax;
      },
      [&](uint32_t i) -> const uint16_t* {
        if (!has(term.first_column, term.columns, corner.column + i)) return nullptr;
        return term.b + static_cast<size_t>(corner.column + i - term.first_column) * term.rank;
      },
      x_tile, w_tile, added);
  for_sums([&](uint32_t row, uint32_t column, uint32_t n, uint32_t i) {
    const bool is_own = has(term.first_row, term.rows, corner.row + row) &&
                        has(term.first_column, term.columns, corner.column + column);
    const uint32_t own_column = corner.column + column - term.first_column;
    const float scale = is_own && term.scales != nullptr ? term.scales[own_column] : 1.0f;
    const float sum = (tile.sums[n][i] + added.sums[n][i]) * scale;
    tile.sums[n][i] = is_own ? sum : tile.sums[n][i];
  });
}

TESSERA_DEVICE void store(const Product& product, uint32_t row, uint32_t column, float sum) {
  if (row >= product.rows || column >= product.columns) return;
  if (product.bias != nullptr) sum += tessera::cuda::widen(product.bias[column]);
  const size_t at = static_cast<size_t>(row) * product.columns + column;
  if (product.y != nullptr) product.y[at] = tessera::cuda::narrow(sum);
  if (product.y_f32 != nullptr) product.y_f32[at] = sum;
}

/// The sums of a tile with their terms into y. `x_tile` and `w_tile` are scratch.
TESSERA_DEVICE void finish(const Product& product, const Corner& corner, uint16_t* x_tile,
                           uint16_t* w_tile, TileSums& tile) {
  for (uint32_t i = 0; i < product.term_count; ++i) {
    const Term& term = product.terms[i];
    if (!meets(term.first_row, term.rows, corner.row)) continue;
    if (!meets(term.first_column, term.columns, corner.column)) continue;
    add_term(term, corner, x_tile, w_tile, tile);
  }
  for_sums([&](uint32_t row, uint32_t column, uint32_t n, uint32_t i) {
    store(product, corner.row + row, corner.column + column, tile.sums[n][i]);
  });
}

}  // namespace tessera::ops::cuda
