// Random panels and rows for conformance tests of kernels, laid out element by element from
// device/panel.h alone. Test only.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "device/kernel_table.h"

namespace tessera::device::cpu {

/// Zeroed memory aligned to 64 bytes.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes)
      : data_(static_cast<char*>(std::aligned_alloc(64, (bytes + 64) / 64 * 64))) {
    std::memset(data_, 0, bytes);
  }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  ~AlignedBytes() { std::free(data_); }
  char* data() { return data_; }
  const char* data() const { return data_; }

 private:
  char* data_;
};

struct PanelSizes {
  size_t rows, columns, k;
};
/// Odd ones, one less and one more than every block, tile, strip and half.
inline constexpr PanelSizes kPanelSizes[] = {
    {1, 1, 1},    {1, 33, 15},  {2, 3, 16},   {3, 31, 17},  {4, 32, 256},  {5, 64, 32},
    {6, 16, 511}, {7, 45, 257}, {8, 17, 513}, {12, 17, 64}, {13, 15, 513}, {29, 70, 48},
    {31, 47, 65}, {32, 32, 96}, {33, 1, 770}, {65, 5, 33},  {97, 66, 300}, {200, 33, 19}};

inline std::vector<float> random_floats(std::mt19937_64& random, size_t count) {
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// Panels of elements of type T: element (k, j) is values[j * k + k].
template <typename T>
void fill_panels(PanelType type, const std::vector<T>& values, size_t columns, size_t k,
                 char* panels) {
  for (size_t j = 0; j < columns; ++j) {
    char* panel = panels + j / kPanelColumns * panel_bytes(type, k);
    for (size_t i = 0; i < k; ++i) {
      std::memcpy(panel + panel_offset(type, i, j % kPanelColumns), &values[j * k + i], sizeof(T));
    }
  }
}

/// Operands and result of one product. y has `kPadding` columns more than the product.
struct PanelRun {
  static constexpr size_t kPadding = 3;
  std::vector<float> y;
  std::vector<float> scales;  // [rows][panel_scales(k)]
};

/// Rows x, written as an operand of `kernels`, times panels; `y` is what the result is added to
/// when `accumulate`.
inline PanelRun run_panels(const PanelKernels& kernels, PanelType type, const PanelSizes& s,
                           const std::vector<float>& x, const char* panels, const float* w_scales,
                           float fixed_scale, bool accumulate, std::vector<float> y) {
  const size_t blocks = (s.rows + kernels.row_block - 1) / kernels.row_block;
  AlignedBytes operand(blocks * kernels.row_block * kernels.operand_row_bytes(s.k));
  PanelRun run{std::move(y), std::vector<float>(s.rows * panel_scales(type, s.k))};
  // In two parts, as two threads would.
  const size_t half = s.rows / 2;
  const auto write = [&](size_t first, size_t rows) {
    const float* from = x.data() + first * s.k;
    if (fixed_scale > 0) {
      kernels.write_scaled_operand(from, s.k, first, rows, s.k, fixed_scale, operand.data(),
                                   run.scales.data());
    } else {
      kernels.write_operand(from, s.k, first, rows, s.k, operand.data(), run.scales.data());
    }
  };
  write(0, half);
  write(half, s.rows - half);
  PanelProduct p;
  p.x = operand.data();
  p.x_row_bytes = kernels.operand_row_bytes(s.k);
  p.x_scales = run.scales.data();
  p.rows = s.rows;
  p.k = s.k;
  p.panels = panels;
  p.panel_stride = panel_bytes(type, s.k);
  p.w_scales = w_scales;
  p.columns = s.columns;
  p.y = run.y.data();
  p.y_stride = s.columns + PanelRun::kPadding;
  p.accumulate = accumulate;
  kernels.multiply(p);
  return run;
}

}  // namespace tessera::device::cpu
