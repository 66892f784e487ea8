// Weights as INT8 panels: symmetric, one scale per output and tile of 64 inputs, or one per output
// beside inputs whose scales are static. Once at load;
// products over them are ops::matmul's, whose operands the kernels quantise row by row
// (docs/operate/quantisation.md).
#pragma once

#include <span>

#include "ops/packed_matrix.h"

namespace tessera::ops {

/// Floats of PackedMatrix::scales for a matrix of `columns` outputs over k inputs.
constexpr uint64_t scale_count(uint64_t k, uint64_t columns,
                               device::PanelType type = device::PanelType::kI8) {
  return device::panel_count(columns) * device::panel_scales(type, k) * device::kPanelColumns;
}

/// The Hadamard transform of the 64 values of a tile, in place and not normalised, in the order of
/// additions that the kernels keep to: twice is 64 times. Both sides of an INT8 product go through
/// it before they are rounded.
void hadamard_tile(float* x);

/// Packs `from`, [to.columns, to.k] of any type and alignment and of finite numbers, into to.panels
/// and to.scales, all of both written, padding included. Each tile of a column, padded with zeros,
/// is transformed, and becomes round(w / scale), ties to even, with scale = max|w| / 127; the scale
/// that is stored is a 64th of that, for both sides have been transformed.
/// REQUIRES: to.type is kI8.
void quantise(device::Device& device, const tensor::TensorView& from, const PackedMatrix& to);

/// Static scales of the inputs of a product: a value of k, transformed, is scale * its INT8 value +
/// offset. Of each k, and of the padding of its last tile.
struct InputScales {
  std::span<const float> scales;  // positive
  std::span<const float> offsets;
};

/// The same into kStaticI8. With v the transformed tiles of an output's weights, each value times
/// the scale of its input / 64, the values are round(v / scale), ties to even, with the output's
/// scale = max|v| / 127; what is added to its products is the sum of its transformed weights times
/// the inputs' offsets / 64, in double precision and in their order. REQUIRES: to.type is
/// kStaticI8; scales and offsets for device::panel_tiles(to.k) tiles.
void quantise_static(device::Device& device, const tensor::TensorView& from,
                     const InputScales& inputs, const PackedMatrix& to);

}  // namespace tessera::ops
