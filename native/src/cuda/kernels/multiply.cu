#include "cuda/device/kernel.h"

#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/multiply_tile.h"

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
  for_sums(tile, [&](uint32_t row, uint32_t column, float sum) {
    store(product, first_row + row, first_column + column, sum);
  });
}

}  // namespace tessera::ops::cuda
