// The arithmetic of one backend as plain functions over rows, chosen once when the device is
// opened. Callers are `ops` and `attention`, which check shapes and spread rows over threads; a
// kernel runs on one thread and touches only its arguments.
//
// Canonical reduction of all but panel products (see PanelKernels), the same in every instruction
// set: a sum over k is held in 16 lanes, lane = k mod 16, each step one fused multiply-add, missing
// elements of the last step zero; then lanes i and i+8 are added, i and i+4, i and i+2, i and i+1;
// then +0.0, so that no result is a negative zero. So every function below gives the same bits
// everywhere, whatever the batch, and appending zero elements changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/panel.h"

namespace tessera::device {

/// y[i][j] = x[i] . w[j] for i < rows and j < columns, or added to y. See PanelKernels.
struct PanelProduct {
  const void* x = nullptr;  // first row of the operand
  size_t x_row_bytes = 0;   // as PanelKernels::operand_row_bytes(k), or the rows' own stride
  const float* x_scales = nullptr;  // [rows][operand_scales(k)], where the operand is quantised
  size_t rows = 0;
  size_t k = 0;
  const void* panels = nullptr;     // aligned to 64 bytes
  size_t panel_stride = 0;          // bytes from one panel to the next
  const float* w_scales = nullptr;  // [panels][panel_scales(k)][32], where they are quantised
  size_t columns = 0;               // of all panels; only these columns of y are touched
  float* y = nullptr;
  size_t y_stride = 0;  // floats
  bool accumulate = false;
};

/// Part of rows of floats that become INT8 with scales known before: columns [column, column +
/// columns) of rows [first_row, first_row + rows) of an operand over k inputs. Each tile of 64,
/// padded with zeros, goes through the Hadamard transform (docs/operate/quantisation.md); then
/// value j becomes round(fma(value, factors[j], offsets[j])), to nearest, ties to even, cut to
/// +-127.
/// REQUIRES: `column` is a multiple of 64, `columns` too or column + columns == k.
struct StaticRows {
  const float* x = nullptr;  // of first_row and column
  size_t x_stride = 0;       // floats
  size_t first_row = 0;
  size_t rows = 0;
  size_t column = 0;
  size_t columns = 0;
  size_t k = 0;
  const float* factors = nullptr;  // of each k, padding of the last tile included
  const float* offsets = nullptr;  // likewise
  void* operand = nullptr;
  /// Mark of each row of the operand: becomes NaN where a value is not finite, and else stays.
  /// Parts of a row may be written by several threads at once.
  float* marks = nullptr;
};

/// How panels of one element type are multiplied. The left side (the operand) is written once and
/// then read by several products, in the form that the kernels of this type want:
/// - in the FMA class (F32 and BF16 of portable, AVX2, AVX-512) rows of floats, for BF16 rounded;
///   row_block is 1;
/// - in the class of dots (BF16 of AVX-512 with vdpbf16ps) rows of BF16 values, row_block 1;
/// - in other classes (INT8, tile units) rows may be quantised, with one scale per tile of k, and
///   may be laid out in blocks of `row_block` rows; the first row of a product is a multiple of
///   row_block, and operand memory holds whole blocks.
///
/// Canonical reduction of the FMA class: k is cut in runs of kPanelRun; within a run one chain of
/// fused multiply-adds from 0 in the order of k; the runs' sums are added in their order, to y
/// first where it accumulates; +0.0 after each, so that no result is a negative zero. Padding
/// changes nothing, and every set of the class gives the same bits, whatever the other rows and
/// columns.
///
/// INT8 products, the same in every set: each tile of 64 k has an exact sum, which becomes a float
/// (exactly: it is below 2^24) and is multiplied with the product of the row's scale and the
/// column's; these are added in the order of k by one chain of fused multiply-adds from 0, then
/// added to y where it accumulates; +0.0 at the end.
///
/// Static INT8 products, the same in every set: the exact sum over all of k, as the nearest float,
/// times the column's scale plus the column's constant in one fused multiply-add; plus the row's
/// mark; then added to y where it accumulates; +0.0 at the end. REQUIRES: k <= kStaticDepthMax.
struct PanelKernels {
  size_t row_block = 1;
  /// Bytes of one operand row over k inputs.
  size_t (*operand_row_bytes)(size_t k) = nullptr;
  /// Writes rows [first_row, first_row + rows) of `operand` from float rows of k elements, and
  /// their scales, [operand rows][panel_scales(k)] (unused in the FMA class). Threads may write
  /// different rows of one operand at once.
  void (*write_operand)(const float* x, size_t x_stride, size_t first_row, size_t rows, size_t k,
                        void* operand, float* scales) = nullptr;
  void (*multiply)(const PanelProduct& product) = nullptr;
  /// Where rows are quantised: write_operand with `scale` for all tiles instead of their own; what
  /// lies beyond 127 scales is cut off. REQUIRES: scale > 0.
  void (*write_scaled_operand)(const float* x, size_t x_stride, size_t first_row, size_t rows,
                               size_t k, float scale, void* operand, float* scales) = nullptr;
  /// Rows of floats, rounded where the panels are BF16, are operands as they are.
  bool takes_float_rows = false;
  /// Where operands of BF16 are tiles of 32 consecutive values of a row: bytes from a row's tile to
  /// its next one; 0 where they are not. Rows of a block lie 64 bytes apart, or, where blocks are
  /// of one row, by their own stride.
  size_t tile_stride = 0;
  /// Kernels of INT8 with static scales, over the same operands and panels.
  void (*write_static)(const StaticRows& rows) = nullptr;
  void (*multiply_static)(const PanelProduct& product) = nullptr;
  /// REQUIRES: tile_stride > 0.
  char* operand_row(void* operand, size_t row, size_t row_bytes) const {
    constexpr size_t kTileBytes = 64;
    char* block = static_cast<char*>(operand) + row / row_block * row_block * row_bytes;
    return block + row % row_block * kTileBytes;
  }
};

/// Which definition BF16 panel products follow: the reduction above, that of dot products of pairs
/// (device/cpu/dots.inc, docs/internals/kernels.md), or that of the tile unit
/// (docs/internals/kernels.md). F32 and INT8 products are the same in all. Numbers of two
/// classes are never mixed: keys and values of one are not read in another.
enum class NumericClass : uint8_t { kFma, kDots, kTiles };

constexpr std::string_view numeric_class_name(NumericClass numbers) {
  switch (numbers) {
    case NumericClass::kFma: return "fma";
    case NumericClass::kDots: return "dots";
    case NumericClass::kTiles: return "tiles";
  }
  return "fma";
}

inline constexpr size_t kPanelRun = 256;  // values of k summed in one chain
/// Sums of more products of two values of [-127, 127] need not fit 32 bits.
inline constexpr size_t kStaticDepthMax = 131'072;

/// BF16 values are their bits, the upper half of a float, in uint16_t.
struct KernelTable {
  const char* name;

  PanelKernels panel_f32;
  PanelKernels panel_bf16;
  const PanelKernels& panel(PanelType type) const {
    if (type == PanelType::kI8 || type == PanelType::kStaticI8) return panel_i8;
    return type == PanelType::kF32 ? panel_f32 : panel_bf16;
  }

  /// y[i * y_stride + j] = x_rows[i] . w_rows[j] over k elements, for i < m, j < n. Rows of w are
  /// float / BF16 bits; for BF16 the caller has rounded x to BF16 values. No alignment is assumed.
  void (*dot_rows_f32)(const float* const* x_rows, size_t m, const void* const* w_rows, size_t n,
                       size_t k, float* y, size_t y_stride);
  void (*dot_rows_bf16)(const float* const* x_rows, size_t m, const void* const* w_rows, size_t n,
                        size_t k, float* y, size_t y_stride);

  /// y = weight * (x / sqrt(mean(x^2) + epsilon)), n elements; y may be x.
  void (*rms_norm)(const float* x, const float* weight, size_t n, float epsilon, float* y);
  /// y = weight * (x - mean(x)) / sqrt(variance(x) + epsilon) + bias, n elements, the variance
  /// being the mean of the squared differences from the mean; bias may be null, y may be x.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, size_t n,
                     float epsilon, float* y);
  /// Rotates the pairs (x[i], x[i + half]) by the angle whose cosine and sine are cos[i], sin[i].
  void (*rope)(float* x, const float* cos, const float* sin, size_t half);
  /// y = gate / (1 + exp(-gate)) * up; y may be gate or up.
  void (*silu_mul)(const float* gate, const float* up, size_t n, float* y);
  /// y = gelu(x) = x * P(N(0, 1) <= x) (Hendrycks and Gimpel 2016, arXiv:1606.08415), with the
  /// error function itself: absolute error below 1e-6 of |x|; y may be x.
  void (*gelu)(const float* x, size_t n, float* y);
  /// y = gelu(gate) * up; y may be gate or up.
  void (*gelu_mul)(const float* gate, const float* up, size_t n, float* y);
  /// x = tanh(x). Absolute error below 1e-6.
  void (*tanh)(float* x, size_t n);
  /// y += x.
  void (*add)(const float* x, size_t n, float* y);
  /// x *= factor.
  void (*scale)(float* x, size_t n, float factor);
  /// REQUIRES: n >= 1.
  float (*maximum)(const float* x, size_t n);
  /// x = exp(x * factor - shift); returns the sum, reduced canonically. Relative error of exp:
  /// below 2e-7 where the argument is in [-87, 88]; below that range 0.
  float (*exp_sum)(float* x, size_t n, float factor, float shift);
  /// Sum as exp_sum, but x becomes the nearest BF16 values of what is summed.
  float (*exp_sum_rounded)(float* x, size_t n, float factor, float shift);
  /// The same with those values as one row of an operand of BF16 (PanelKernels::tile_stride), zeros
  /// from n to `filled`. REQUIRES: filled is a multiple of 32 and at least n, which may be 0.
  float (*exp_sum_bf16)(const float* x, size_t n, float factor, float shift, size_t filled, char* y,
                        size_t y_tile_bytes);
  /// y = (x * x_weight + rows[0] * weights[0] + ...) * factor: n elements, `count` rows, one fused
  /// multiply-add per row in their order. Rows are floats / BF16 bits; y may be x.
  void (*weighted_sum_f32)(const float* x, float x_weight, const void* const* rows,
                           const float* weights, size_t count, size_t n, float factor, float* y);
  void (*weighted_sum_bf16)(const float* x, float x_weight, const void* const* rows,
                            const float* weights, size_t count, size_t n, float factor, float* y);

  /// y = rows[0] * weights[0] + rows[1] * weights[1] + ..., element by element, in this order, one
  /// fused multiply-add each after the first: `count` rows of n elements, weights [count][n].
  void (*sum_of_products)(const float* const* rows, const float* weights, size_t count, size_t n,
                          float* y);

  /// Rounds to the nearest BF16 value, ties to even; NaN stays NaN.
  void (*round_bf16)(float* x, size_t n);
  void (*narrow_bf16)(const float* x, size_t n, uint16_t* y);
  void (*widen_bf16)(const uint16_t* x, size_t n, float* y);
  /// Index of the first NaN or infinity, n when there is none.
  size_t (*find_non_finite_f32)(const float* x, size_t n);
  size_t (*find_non_finite_bf16)(const uint16_t* x, size_t n);

  PanelKernels panel_i8{};
  NumericClass numeric_class = NumericClass::kFma;
};

}  // namespace tessera::device
