// INT8 products in plain C++: the definition that the vector sets must equal.
#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

size_t operand_row_bytes(size_t k) {
  return panel_tiles(PanelType::kI8, k) * panel_tile_depth(PanelType::kI8);
}

/// [k]
inline void place_tile(const int8_t* values, size_t k, size_t row, size_t tile, void* operand) {
  char* to = static_cast<char*>(operand) + row * operand_row_bytes(k);
  __builtin_memcpy(to + tile * panel_tile_depth(PanelType::kI8), values,
                   panel_tile_depth(PanelType::kI8));
}

/// One row times one half of one tile.
inline void multiply_tile(const int8_t* x, const int8_t* w, int32_t* products) {
  constexpr size_t kSlots = panel_slots(PanelType::kI8);
  for (size_t group = 0; group < kPanelGroups; ++group, x += kSlots) {
    for (size_t j = 0; j < kPanelHalf; ++j, w += kSlots) {
      products[j] += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3];
    }
  }
}

}  // namespace

#include "device/cpu/int8_rows_portable.inc"

#include "device/cpu/int8_rows.inc"
#include "device/cpu/int8_sums.inc"

namespace {

void multiply(const PanelProduct& p) {
  const size_t tiles = panel_tiles(PanelType::kI8, p.k);
  for (size_t column = 0; column < p.columns; column += kPanelHalf) {
    const int8_t* w = static_cast<const int8_t*>(p.panels) +
                      column / kPanelColumns * p.panel_stride +
                      column % kPanelColumns / kPanelHalf * kPanelHalfTile;
    const float* w_scales = scales_of_columns(p, column);
    const size_t columns = p.columns - column < kPanelHalf ? p.columns - column : kPanelHalf;
    for (size_t i = 0; i < p.rows; ++i) {
      const int8_t* x = static_cast<const int8_t*>(p.x) + i * p.x_row_bytes;
      float sums[kPanelHalf] = {};
      for (size_t tile = 0; tile < tiles; ++tile) {
        int32_t products[kPanelHalf] = {};
        multiply_tile(x + tile * kTileDepth, w + tile * kPanelTile, products);
        add_tile(products, p.x_scales[i * tiles + tile], w_scales + tile * kPanelColumns, sums);
      }
      finish_row(p, i, column, columns, sums);
    }
  }
}

void multiply_static(const PanelProduct& p) {
  const size_t tiles = panel_tiles(PanelType::kI8, p.k);
  for (size_t column = 0; column < p.columns; column += kPanelHalf) {
    const int8_t* w = static_cast<const int8_t*>(p.panels) +
                      column / kPanelColumns * p.panel_stride +
                      column % kPanelColumns / kPanelHalf * kPanelHalfTile;
    const size_t columns = p.columns - column < kPanelHalf ? p.columns - column : kPanelHalf;
    for (size_t i = 0; i < p.rows; ++i) {
      const int8_t* x = static_cast<const int8_t*>(p.x) + i * p.x_row_bytes;
      int32_t products[kPanelHalf] = {};
      for (size_t tile = 0; tile < tiles; ++tile) {
        multiply_tile(x + tile * kTileDepth, w + tile * kPanelTile, products);
      }
      finish_static_row(p, i, column, columns, products);
    }
  }
}

}  // namespace

PanelKernels int8_portable() {
  return {.operand_row_bytes = operand_row_bytes,
          .write_operand = write_int8_rows,
          .multiply = multiply,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = multiply_static};
}

}  // namespace tessera::device::cpu
