#include "cuda/device/kernel.h"

#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/multiply_terms.h"
#include "cuda/kernels/multiply_tile.h"

namespace tessera::ops::cuda {

using tessera::cuda::narrow;

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
  finish(product, corner, x_tile, w_tile, tile);
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
