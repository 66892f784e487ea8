// A block of rows of an operand times panels of weights: the step that all products are made of.
// Private to ops.
#pragma once

#include <algorithm>

#include "ops/operand.h"
#include "ops/packed_matrix.h"

namespace tessera::ops {

inline constexpr uint64_t kRowBlock = 96;     // rows of one task at most: their tile stays in cache
inline constexpr uint64_t kMinRowBlock = 32;  // smaller blocks read weights too often
inline constexpr uint64_t kTasksPerThread = 4;      // so that threads finish at about the same time
inline constexpr uint64_t kProductsPerElement = 8;  // multiply-adds in the time of one element

/// Rows [first, first + rows) of the operand times `columns` columns of w from its panel `panel`
/// on: rows of y, y_stride floats apart. REQUIRES: `first` is a multiple of the kernels' row_block.
inline void multiply_panels(const device::PanelKernels& kernels, const Operand& x, uint64_t first,
                            uint64_t rows, const PackedMatrix& w, uint64_t panel, uint64_t columns,
                            float* y, uint64_t y_stride) {
  device::PanelProduct p;
  p.x_row_bytes = kernels.operand_row_bytes(x.k);
  p.x = static_cast<const char*>(x.data) + first * p.x_row_bytes;
  p.x_scales = x.scales + first * device::operand_scales(x.type, x.k);
  p.rows = rows;
  p.k = x.k;
  p.panels = w.panel(panel);
  p.panel_stride = w.panel_stride;
  p.w_scales = w.panel_scales(panel);
  p.columns = columns;
  p.y = y;
  p.y_stride = y_stride;
  (x.type == device::PanelType::kStaticI8 ? kernels.multiply_static : kernels.multiply)(p);
}

/// The same of one panel, into a tile: rows of kPanelColumns floats; of `width` columns, rows of as
/// many.
inline void multiply_panel(const device::PanelKernels& kernels, const Operand& x, uint64_t first,
                           uint64_t rows, const PackedMatrix& w, uint64_t panel, float* tile,
                           uint64_t width = device::kPanelColumns) {
  const uint64_t left = w.columns - panel * device::kPanelColumns;
  multiply_panels(kernels, x, first, rows, w, panel, std::min<uint64_t>(width, left), tile, width);
}

}  // namespace tessera::ops
