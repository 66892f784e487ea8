#include "ops/operand.h"

#include <algorithm>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

uint64_t operand_bytes(const device::Device& device, device::PanelType type, uint64_t rows,
                       uint64_t k) {
  const device::PanelKernels& kernels = device.kernels().panel(type);
  const uint64_t blocks = (rows + kernels.row_block - 1) / kernels.row_block;
  return blocks * kernels.row_block * kernels.operand_row_bytes(k);
}

void write_rows(const device::PanelKernels& kernels, const float* x, uint64_t x_stride,
                uint64_t first_row, uint64_t rows, const Operand& operand) {
  if (operand.type == device::PanelType::kStaticI8) {
    write_columns(kernels, x, x_stride, first_row, rows, 0, operand.k, operand);
  } else if (operand.fixed_scale > 0) {
    TESSERA_CHECK(kernels.write_scaled_operand != nullptr);
    kernels.write_scaled_operand(x, x_stride, first_row, rows, operand.k, operand.fixed_scale,
                                 operand.data, operand.scales);
  } else {
    kernels.write_operand(x, x_stride, first_row, rows, operand.k, operand.data, operand.scales);
  }
}

void write_columns(const device::PanelKernels& kernels, const float* x, uint64_t x_stride,
                   uint64_t first_row, uint64_t rows, uint64_t column, uint64_t columns,
                   const Operand& operand) {
  TESSERA_CHECK(operand.factors != nullptr && operand.offsets != nullptr);
  kernels.write_static({.x = x,
                        .x_stride = x_stride,
                        .first_row = first_row,
                        .rows = rows,
                        .column = column,
                        .columns = columns,
                        .k = operand.k,
                        .factors = operand.factors,
                        .offsets = operand.offsets,
                        .operand = operand.data,
                        .marks = operand.scales});
}

void clear_marks(const Operand& operand) {
  TESSERA_CHECK(operand.type == device::PanelType::kStaticI8);
  std::fill_n(operand.scales, operand.rows, 0.0f);
}

void write_operand(device::Device& device, const float* x, uint64_t x_stride,
                   const Operand& operand) {
  write_operand(device, x, x_stride, 0, operand.rows, operand);
}

void write_operand(device::Device& device, const float* x, uint64_t x_stride, uint64_t first_row,
                   uint64_t rows, const Operand& operand) {
  TESSERA_CHECK(x_stride >= operand.k && first_row + rows <= operand.rows);
  const device::PanelKernels& kernels = device.kernels().panel(operand.type);
  for_rows(device, rows, operand.k, [&](uint64_t begin, uint64_t end) {
    const uint64_t row = first_row + begin;
    write_rows(kernels, x + row * x_stride, x_stride, row, end - begin, operand);
  });
}

void write_operand(device::Device& device, const float* x, uint64_t x_stride,
                   std::span<const uint32_t> rows, uint64_t first_row, const Operand& operand) {
  TESSERA_CHECK(x_stride >= operand.k && first_row + rows.size() <= operand.rows);
  const device::PanelKernels& kernels = device.kernels().panel(operand.type);
  for_rows(device, rows.size(), operand.k, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      write_rows(kernels, x + rows[i] * x_stride, x_stride, first_row + i, 1, operand);
    }
  });
}

}  // namespace tessera::ops
