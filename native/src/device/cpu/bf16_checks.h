// Checks of BF16 products that hold in every numeric class, given its reduction. Test only.
#pragma once

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "device/cpu/bf16_case.h"

namespace tessera::device::cpu {

/// One output of a class, computed alone: assigned, or added to `y`. No value is denormal.
using Reduction = float (*)(const Bf16Case& c, size_t row, size_t column, float y, bool accumulate);

inline void expect_bits_of(Reduction reduction, const PanelKernels& kernels) {
  for (const PanelSizes& sizes : kPanelSizes) {
    const Bf16Case c(sizes.rows * 1000 + sizes.columns, sizes);
    const size_t stride = sizes.columns + PanelRun::kPadding;
    const std::vector<float> assigned = c.run(kernels, false), added = c.run(kernels, true);
    for (size_t i = 0; i < sizes.rows; ++i) {
      for (size_t j = 0; j < sizes.columns; ++j) {
        const float start = c.y[i * stride + j];
        ASSERT_EQ(assigned[i * stride + j], reduction(c, i, j, 0, false))
            << sizes.rows << "x" << sizes.columns << "x" << sizes.k << " at " << i << "," << j;
        ASSERT_EQ(added[i * stride + j], reduction(c, i, j, start, true));
      }
      for (size_t j = i * stride + sizes.columns; j < (i + 1) * stride; ++j) {
        ASSERT_EQ(assigned[j], c.y[j]);
      }
    }
  }
}

inline void expect_double_precision_nearly(const PanelKernels& kernels) {
  const Bf16Case c(4, {37, 45, 700});
  const std::vector<float> y = c.run(kernels, false);
  for (size_t i = 0; i < c.s.rows; ++i) {
    for (size_t j = 0; j < c.s.columns; ++j) {
      double exact = 0, magnitude = 0;
      for (size_t k = 0; k < c.s.k; ++k) {
        const double product = static_cast<double>(nearest(c.x[i * c.s.k + k])) *
                               static_cast<double>(of_bits(c.w[j * c.s.k + k]));
        exact += product;
        magnitude += std::abs(product);
      }
      const double bound = FLT_EPSILON * magnitude * 6;
      ASSERT_NEAR(static_cast<double>(y[i * (c.s.columns + PanelRun::kPadding) + j]), exact, bound);
    }
  }
}

inline void expect_rows_apart(const PanelKernels& kernels) {
  Bf16Case c(6, {70, 41, 333});
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t k = 0; k < c.s.k; ++k) c.x[5 * c.s.k + k] = std::nanf("");
  const std::vector<float> together = c.run(kernels, false);
  for (const size_t row : {size_t{0}, size_t{6}, size_t{69}}) {
    const std::vector<float> x(c.x.begin() + row * c.s.k, c.x.begin() + (row + 1) * c.s.k);
    const PanelRun alone =
        run_panels(kernels, PanelType::kBf16, {1, c.s.columns, c.s.k}, x, c.panels.data(), nullptr,
                   0.0f, false, std::vector<float>(stride));
    for (size_t j = 0; j < c.s.columns; ++j) ASSERT_EQ(alone.y[j], together[row * stride + j]);
  }
}

inline void expect_denormals_as_zero_and_nan_kept(const PanelKernels& kernels) {
  Bf16Case c(7, {3, 5, 40});
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t k = 0; k < c.s.k; ++k) c.x[k] = 1e-39f;
  for (size_t k = 0; k < c.s.k; ++k) c.x[c.s.k + k] = 1e-30f;
  for (uint16_t& bits : c.w) bits = 0x0DA2;  // about 1e-30: products below the normal range
  c.x[2 * c.s.k + 17] = std::nanf("");
  fill_panels(PanelType::kBf16, c.w, c.s.columns, c.s.k, c.panels.data());
  const std::vector<float> y = c.run(kernels, false);
  for (size_t j = 0; j < c.s.columns; ++j) {
    EXPECT_EQ(y[j], 0.0f);
    EXPECT_EQ(y[stride + j], 0.0f);
    EXPECT_TRUE(std::isnan(y[2 * stride + j]));
  }
}

}  // namespace tessera::device::cpu
