#include "device/cuda/kernel.h"

#include "ops/cuda/multiply_kernels.h"
#include "ops/cuda/multiply_tile.h"

namespace tessera::ops::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::narrow;
using tessera::cuda::widen;

TESSERA_DEVICE void store(const Product& product, uint32_t row, uint32_t column, float sum) {
  if (row >= product.rows || column >= product.columns) return;
  if (product.bias != nullptr) sum += widen(product.bias[column]);
  if (product.w_rows != nullptr && product.w_rows[column] < 0) sum = bits_float(0xFF800000u);
  const size_t at = static_cast<size_t>(row) * product.columns + column;
  if (product.y != nullptr) product.y[at] = narrow(sum);
  if (product.y_f32 != nullptr) product.y_f32[at] = sum;
}

/// Adds the product of a term's part to the rows and columns that it has of the tile.
TESSERA_DEVICE void add_term(const LowRankTerms& low_rank, const AdaptedRows& term, uint32_t part,
                             uint32_t first_row, uint32_t first_column, uint16_t* x_tile,
                             uint16_t* w_tile, TileSums& tile) {
  const uint32_t begin = low_rank.parts.first_columns[part];
  const uint32_t end = low_rank.parts.first_columns[part + 1];
  const LowRank& factors = term.matrices[low_rank.parts.matrices[part]];
  const bool is_beside = first_row >= term.first + term.rows ||
                         first_row + kMultiplyTile <= term.first || first_column >= end ||
                         first_column + kMultiplyTile <= begin;
  if (is_beside || factors.rank == 0) return;  // the same for the whole block
  const auto has_row = [&](uint32_t row) {
    return row >= term.first && row < term.first + term.rows;
  };
  const auto has_column = [&](uint32_t column) { return column >= begin && column < end; };
  const uint16_t* inner =
      low_rank.inner + static_cast<size_t>(part) * low_rank.inner_rows * kRankMax;
  TileSums added;
  clear(added);
  multiply_tile(
      factors.rank,
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t row = first_row + i;
        return has_row(row) ? inner + static_cast<size_t>(row) * kRankMax : nullptr;
      },
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t column = first_column + i;
        return has_column(column) ? factors.b + static_cast<size_t>(column - begin) * factors.rank
                                  : nullptr;
      },
      x_tile, w_tile, added);
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 * 8;
      const uint32_t column = first_column + n * 8 + 2 * (threadIdx.x % 4) + i % 2;
      if (has_row(row) && has_column(column)) tile.sums[n][i] += added.sums[n][i];
    }
  }
}

TESSERA_KERNEL tessera_multiply(Product product) {
  TESSERA_SHARED(uint16_t, x_tile, kTileElements);
  TESSERA_SHARED(uint16_t, w_tile, kTileElements);
  const uint32_t first_row = blockIdx.y * kMultiplyTile, first_column = blockIdx.x * kMultiplyTile;
  TileSums tile;
  clear(tile);
  multiply_tile(
      product.k,
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t row = first_row + i;
        if (row >= product.rows) return nullptr;
        const uint32_t from = product.x_rows != nullptr ? product.x_rows[row] : row;
        return product.x + static_cast<size_t>(from) * product.k;
      },
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t column = first_column + i;
        if (column >= product.columns) return nullptr;
        const int32_t from =
            product.w_rows != nullptr ? product.w_rows[column] : static_cast<int32_t>(column);
        return from < 0 ? nullptr : product.w + static_cast<size_t>(from) * product.k;
      },
      x_tile, w_tile, tile);
  for (uint32_t term = 0; term < product.low_rank.count; ++term) {
    for (uint32_t part = 0; part < product.low_rank.parts.count; ++part) {
      add_term(product.low_rank, product.low_rank.terms[term], part, first_row, first_column,
               x_tile, w_tile, tile);
    }
  }
  for_sums(tile, [&](uint32_t row, uint32_t column, float sum) {
    store(product, first_row + row, first_column + column, sum);
  });
}

}  // namespace tessera::ops::cuda
