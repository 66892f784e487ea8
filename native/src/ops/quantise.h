// Weights as INT8 panels: symmetric, one scale per output. Once at load; products over them are
// ops::matmul's, whose operands the kernels quantise row by row (docs/quantisation.md).
#pragma once

#include "ops/packed_matrix.h"

namespace tessera::ops {

/// Inputs of an INT8 product at most: 127 * 127 of them fit a 32-bit sum.
inline constexpr uint64_t kInt8InputsMax = 131072;

/// Floats of PackedMatrix::scales for a matrix of `columns` outputs.
constexpr uint64_t scale_count(uint64_t columns) {
  return device::panel_count(columns) * device::kPanelColumns;
}

/// Packs `from`, [to.columns, to.k] of any type and alignment and of finite numbers, into to.panels
/// and to.scales, all of both written, padding included: column j becomes round(w / scale), ties to
/// even, with scale = max|w| / 127.
/// REQUIRES: to.type is kI8; to.k <= kInt8InputsMax.
void quantise(device::Device& device, const tensor::TensorView& from, const PackedMatrix& to);

}  // namespace tessera::ops
