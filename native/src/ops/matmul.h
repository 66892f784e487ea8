// y = x W^T over packed weights: the matrix product of the decoder, with what follows it applied
// while the result is still in the cache. One call multiplies one operand with several matrices.
//
// How it is spread: the panels of all targets, times blocks of rows, are one list of tasks, cut in
// contiguous ranges over the device's threads. A task is one panel (two for gate and up) times one
// block of rows into a tile on the stack, and then the target's finish. Which thread runs a task,
// and which other rows and targets there are, changes no bit: the kernels fix the order of every
// reduction (device/kernel_table.h), the finish works element by element.
//
// A kernel set plugs in through device::PanelKernels alone: its operand form (ops/operand.h), its
// scales, and `multiply`. Nothing here depends on the element type.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "ops/low_rank.h"
#include "ops/operand.h"
#include "ops/packed_matrix.h"

namespace tessera::ops {

/// One matrix and where its product goes.
struct Target {
  const PackedMatrix* w = nullptr;
  /// When set, y = silu(x w) * (x up): the gate of a SwiGLU layer. Of the same shape as w.
  const PackedMatrix* up = nullptr;
  /// The gate is gelu in place of silu; without `up`, y = gelu(product). Not where it adds to y.
  bool has_gelu = false;
  const float* bias = nullptr;  // one per column, added to the product
  /// Set in place of y: the result goes to the left side of the next product, which has static
  /// scales and w->columns inputs. All targets of a call have it or none.
  const Operand* operand = nullptr;
  float* y = nullptr;      // [operand.rows] rows of w->columns
  uint64_t y_stride = 0;   // floats
  bool adds_to_y = false;  // y += product: the residual stream
  /// Added to the product with w, and with up, of rows that have them; in the order of rows.
  std::span<const LowRankTerm> terms = {};
  std::span<const LowRankTerm> up_terms = {};
};

/// REQUIRES: all targets have the operand's type and k; y does not overlap the operand; project()
/// has written the terms; no terms, and cleared marks, where a target is an operand.
void matmul(device::Device& device, const Operand& operand, std::span<const Target> targets);

}  // namespace tessera::ops
