#include "cuda/device/kernel.h"

#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/multiply_tile.h"

namespace tessera::ops::cuda {

using tessera::cuda::narrow;
using tessera::cuda::widen;

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

TESSERA_DEVICE const uint16_t* column_of(const Product& product, uint32_t column) {
  if (column >= product.columns) return nullptr;
  const auto from =
      product.w_rows != nullptr ? static_cast<uint32_t>(product.w_rows[column]) : column;
  if (product.overlay.places != nullptr) {
    const uint32_t place = product.overlay.places[from / kOverlayColumns];
    if (place != kNoPanel) {
      const size_t own = static_cast<size_t>(place) * kOverlayColumns + from % kOverlayColumns;
      return product.overlay.own + own * product.k;
    }
  }
  return product.w + static_cast<size_t>(from) * product.k;
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
    if (!has(term.first_row, term.rows, corner.row + row)) return;
    if (!has(term.first_column, term.columns, corner.column + column)) return;
    float& sum = tile.sums[n][i];
    sum += added.sums[n][i];
    if (term.scales != nullptr) sum *= term.scales[corner.column + column - term.first_column];
  });
}

TESSERA_DEVICE void store(const Product& product, uint32_t row, uint32_t column, float sum) {
  if (row >= product.rows || column >= product.columns) return;
  if (product.bias != nullptr) sum += widen(product.bias[column]);
  const size_t at = static_cast<size_t>(row) * product.columns + column;
  if (product.y != nullptr) product.y[at] = narrow(sum);
  if (product.y_f32 != nullptr) product.y_f32[at] = sum;
}

TESSERA_KERNEL tessera_multiply(Product product) {
  TESSERA_SHARED(uint16_t, x_tile, kTileElements);
  TESSERA_SHARED(uint16_t, w_tile, kTileElements);
  const Corner corner = {blockIdx.y * kMultiplyTile, blockIdx.x * kMultiplyTile};
  TileSums tile;
  clear(tile);
  if (product.sums != nullptr) {
    for_sums([&](uint32_t row, uint32_t column, uint32_t n, uint32_t i) {
      row += corner.row;
      column += corner.column;
      if (row >= product.rows || column >= product.columns) return;
      tile.sums[n][i] = product.sums[static_cast<size_t>(row) * product.columns + column];
    });
  } else {
    multiply_tile(
        product.k,
        [&](uint32_t i) -> const uint16_t* {
          const uint32_t row = corner.row + i;
          if (row >= product.rows) return nullptr;
          const uint32_t from = product.x_rows != nullptr ? product.x_rows[row] : row;
          return product.x + static_cast<size_t>(from) * product.k;
        },
        [&](uint32_t i) { return column_of(product, corner.column + i); }, x_tile, w_tile, tile);
  }
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

TESSERA_KERNEL tessera_project(const uint16_t* x, uint32_t k, const Term* terms) {
  TESSERA_SHARED(uint16_t, x_tile, kTileElements);
  TESSERA_SHARED(uint16_t, w_tile, kTileElements);
  const Term& term = terms[blockIdx.z];
  const Corner corner = {blockIdx.y * kMultiplyTile, blockIdx.x * kMultiplyTile};
  if (corner.row >= term.rows || corner.column >= term.rank) return;
  TileSums tile;
  clear(tile);
  multiply_tile(
      k,
      [&](uint32_t i) -> const uint16_t* {
        if (corner.row + i >= term.rows) return nullptr;
        return x + static_cast<size_t>(term.first_row + corner.row + i) * k;
      },
      [&](uint32_t i) -> const uint16_t* {
        if (corner.column + i >= term.rank) return nullptr;
        return term.a + static_cast<size_t>(corner.column + i) * k;
      },
      x_tile, w_tile, tile);
  for_sums([&](uint32_t row, uint32_t column, uint32_t n, uint32_t i) {
    row += corner.row;
    column += corner.column;
    if (row >= term.rows || column >= term.rank) return;
    const size_t at = static_cast<size_t>(term.first_row + row) * kRankMax + column;
    term.inner[at] = narrow(tile.sums[n][i]);
  });
}

}  // namespace tessera::ops::cuda
