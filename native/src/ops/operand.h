// The left side of matrix products, in the form that the device's kernels for one panel type want
// (device::PanelKernels says which). Written once, then read by every product that shares it.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"

namespace tessera::ops {

/// Owns nothing: the workspace of a pass reserves memory for the largest operand.
struct Operand {
  device::PanelType type = device::PanelType::kF32;  // of the panels it is multiplied with
  void* data = nullptr;                              // 64-byte aligned, whole blocks of rows
  float* scales = nullptr;  // [rows][operand_scales(k)] where rows are quantised
  uint64_t rows = 0;
  uint64_t k = 0;
  float fixed_scale = 0;  // of all tiles, where rows are quantised; 0: each has its own
  /// Factors of each k and the padding of its last tile, where scales are static (StaticRows).
  const float* factors = nullptr;
  const float* offsets = nullptr;
};

/// Rows [first_row, first_row + rows) of `operand`, on the calling thread.
void write_rows(const device::PanelKernels& kernels, const float* x, uint64_t x_stride,
                uint64_t first_row, uint64_t rows, const Operand& operand);

/// Columns [column, column + columns) of these rows, of an operand with static scales; x is of the
/// first of them. Other columns may be written meanwhile. REQUIRES: as device::StaticRows.
void write_columns(const device::PanelKernels& kernels, const float* x, uint64_t x_stride,
                   uint64_t first_row, uint64_t rows, uint64_t column, uint64_t columns,
                   const Operand& operand);

/// Before the first value of an operand with static scales is written.
void clear_marks(const Operand& operand);

/// Bytes of Operand::data for `rows` rows of k elements.
uint64_t operand_bytes(const device::Device& device, device::PanelType type, uint64_t rows,
                       uint64_t k);

/// Writes all rows of `operand` from x, [operand.rows] rows of operand.k floats that lie x_stride
/// floats apart.
void write_operand(device::Device& device, const float* x, uint64_t x_stride,
                   const Operand& operand);

/// Writes rows [first_row, first_row + rows) of `operand` from the same rows of x.
void write_operand(device::Device& device, const float* x, uint64_t x_stride, uint64_t first_row,
                   uint64_t rows, const Operand& operand);

/// Writes rows [first_row, first_row + rows.size()) of `operand` from the given rows of x.
void write_operand(device::Device& device, const float* x, uint64_t x_stride,
                   std::span<const uint32_t> rows, uint64_t first_row, const Operand& operand);

}  // namespace tessera::ops
