// INT8 products of every instruction set: against the formula written out over exact sums, and so
// with equal bits among themselves. Sets that the machine lacks run on an emulation where the
// build found one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "device/cpu/int8_kernels.h"
#include "device/cpu/int8_sets.h"
#include "device/cpu/panel_case.h"

namespace tessera::device::cpu {
namespace {

constexpr uint64_t kSeed = 20240711;

struct Int8Case {
  Int8Case(uint64_t salt, const PanelSizes& sizes) : s(sizes), random(kSeed + salt) {
    x = random_floats(random, s.rows * s.k);
    std::uniform_int_distribution<int> any(-127, 127);
    for (size_t i = 0; i < s.columns * s.k; ++i) w.push_back(static_cast<int8_t>(any(random)));
    for (const float value : random_floats(random, panel_count(s.columns) * kPanelColumns)) {
      w_scales.push_back(std::abs(value) + 0.01f);
    }
    y = random_floats(random, s.rows * (s.columns + PanelRun::kPadding));
    fill_panels(PanelType::kI8, w, s.columns, s.k, panels.data());
  }

  PanelRun run(const PanelKernels& kernels, float fixed_scale, bool accumulate) const {
    return run_panels(kernels, PanelType::kI8, s, x, panels.data(), w_scales.data(), fixed_scale,
                      accumulate, y);
  }

  /// The row as integers, by the definition of docs/quantisation.md.
  std::vector<int> quantised(size_t row, float scale) const {
    std::vector<int> q(s.k, 0);
    const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
    for (size_t i = 0; i < s.k; ++i) {
      const float value = std::nearbyint(x[row * s.k + i] * inverse);
      q[i] = static_cast<int>(std::min(127.0f, std::max(-127.0f, value)));
    }
    return q;
  }

  float expected(size_t row, size_t column, const std::vector<int>& q, float scale,
                 bool accumulate) const {
    int64_t sum = 0;
    for (size_t i = 0; i < s.k; ++i) sum += q[i] * w[column * s.k + i];
    const float value = static_cast<float>(sum) * (scale * w_scales[column]);
    const float before = y[row * (s.columns + PanelRun::kPadding) + column];
    return (accumulate ? before + value : value) + 0.0f;
  }

  PanelSizes s;
  std::mt19937_64 random;
  std::vector<float> x, w_scales, y;
  std::vector<int8_t> w;
  AlignedBytes panels{panel_count(s.columns) * panel_bytes(PanelType::kI8, s.k)};
};

class Int8 : public ::testing::TestWithParam<Int8Set> {};

void check(const Int8Case& c, const PanelRun& run, float fixed_scale, bool accumulate) {
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t i = 0; i < c.s.rows; ++i) {
    float largest = 0;
    for (size_t k = 0; k < c.s.k; ++k) largest = std::max(largest, std::abs(c.x[i * c.s.k + k]));
    const float scale = fixed_scale > 0 ? fixed_scale : largest / 127.0f;
    ASSERT_EQ(run.scales[i], scale);
    const std::vector<int> q = c.quantised(i, scale);
    for (size_t j = 0; j < c.s.columns; ++j) {
      ASSERT_EQ(run.y[i * stride + j], c.expected(i, j, q, scale, accumulate))
          << c.s.rows << "x" << c.s.columns << "x" << c.s.k << " at " << i << "," << j;
    }
    for (size_t j = c.s.columns; j < stride; ++j)
      ASSERT_EQ(run.y[i * stride + j], c.y[i * stride + j]);
  }
}

TEST_P(Int8, EveryOutputIsTheFormulaOverExactSums) {
  for (const PanelSizes& sizes : kPanelSizes) {
    const Int8Case c(sizes.rows * 1000 + sizes.columns, sizes);
    check(c, c.run(GetParam().kernels, 0.0f, false), 0.0f, false);
    check(c, c.run(GetParam().kernels, 0.0f, true), 0.0f, true);
  }
}

TEST_P(Int8, AFixedScaleIsUsedAsItIsAndClipsWhatLiesBeyond) {
  for (const PanelSizes& sizes : kPanelSizes) {
    const Int8Case c(sizes.rows * 77 + sizes.k, sizes);
    check(c, c.run(GetParam().kernels, 0.01f, false), 0.01f, false);
  }
}

TEST_P(Int8, SumsOfTheLargestMagnitudesAreExact) {
  Int8Case c(1, {3, 33, 4096});
  for (size_t i = 0; i < c.x.size(); ++i) c.x[i] = i < c.s.k ? -2.0f : 2.0f;
  for (size_t i = 0; i < c.w.size(); ++i) c.w[i] = i / c.s.k % 2 == 0 ? 127 : -127;
  fill_panels(PanelType::kI8, c.w, c.s.columns, c.s.k, c.panels.data());
  check(c, c.run(GetParam().kernels, 0.0f, false), 0.0f, false);
}

TEST_P(Int8, ProductsAreWithinTheErrorOfQuantisationOfDoublePrecision) {
  const Int8Case c(5, {17, 40, 500});
  const PanelRun run = c.run(GetParam().kernels, 0.0f, false);
  for (size_t i = 0; i < c.s.rows; ++i) {
    for (size_t j = 0; j < c.s.columns; ++j) {
      double exact = 0, bound = 0;
      for (size_t k = 0; k < c.s.k; ++k) {
        const double weight = static_cast<double>(c.w[j * c.s.k + k]) * c.w_scales[j];
        exact += static_cast<double>(c.x[i * c.s.k + k]) * weight;
        bound += std::abs(weight) * run.scales[i] * 0.501;
      }
      ASSERT_NEAR(static_cast<double>(run.y[i * (c.s.columns + PanelRun::kPadding) + j]), exact,
                  bound);
    }
  }
}

TEST_P(Int8, ARowIsTheSameAloneAndAmongOthers) {
  const Int8Case c(9, {75, 41, 333});
  const size_t stride = c.s.columns + PanelRun::kPadding;
  const PanelRun together = c.run(GetParam().kernels, 0.0f, false);
  for (const size_t row : {size_t{0}, size_t{11}, size_t{74}}) {
    const std::vector<float> x(c.x.begin() + row * c.s.k, c.x.begin() + (row + 1) * c.s.k);
    const PanelRun alone =
        run_panels(GetParam().kernels, PanelType::kI8, {1, c.s.columns, c.s.k}, x, c.panels.data(),
                   c.w_scales.data(), 0.0f, false, std::vector<float>(stride));
    for (size_t j = 0; j < c.s.columns; ++j) {
      ASSERT_EQ(alone.y[j], together.y[row * stride + j]) << row << "," << j;
    }
  }
}

TEST_P(Int8, RowsOfZerosGiveZerosAndRowsThatAreNotFiniteGiveNaN) {
  Int8Case c(3, {5, 19, 70});
  const float bad[] = {0.0f, 1e-36f, std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity()};
  for (size_t i = 0; i < c.s.k; ++i) c.x[i] = c.x[c.s.k + i] = 0.0f;
  c.x[c.s.k + 69] = bad[1];
  c.x[2 * c.s.k + 69] = bad[2];
  c.x[3 * c.s.k + 3] = -bad[3];
  for (const float fixed : {0.0f, 0.5f}) {
    const PanelRun run = c.run(GetParam().kernels, fixed, false);
    for (size_t j = 0; j < c.s.columns; ++j) {
      const size_t stride = c.s.columns + PanelRun::kPadding;
      for (const size_t row : {0, 1}) {
        ASSERT_EQ(run.y[row * stride + j], 0.0f);
        ASSERT_FALSE(std::signbit(run.y[row * stride + j]));
      }
      ASSERT_TRUE(std::isnan(run.y[2 * stride + j]));
      ASSERT_TRUE(std::isnan(run.y[3 * stride + j]));
      ASSERT_TRUE(std::isfinite(run.y[4 * stride + j]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Int8, ::testing::ValuesIn(int8_sets()),
                         [](const auto& set) { return set.param.name; });

}  // namespace
}  // namespace tessera::device::cpu
