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
namespace int8_test {

constexpr uint64_t kSeed = 20240711;

constexpr size_t kDepth = panel_tile_depth(PanelType::kI8);

/// By its definition, sum over j of x[j] * (-1)^popcount(i & j), in pairs of growing distance: the
/// order of additions is part of the contract.
std::vector<float> hadamard(std::vector<float> x) {
  for (size_t distance = 1; distance < kDepth; distance *= 2) {
    std::vector<float> y(kDepth);
    for (size_t i = 0; i < kDepth; ++i) {
      y[i] = (i & distance) == 0 ? x[i] + x[i + distance] : x[i - distance] - x[i];
    }
    x = y;
  }
  return x;
}

struct QuantisedRow {
  std::vector<int> values;    // [tiles][64]
  std::vector<float> scales;  // [tiles]
};

struct Int8Case {
  Int8Case(uint64_t salt, const PanelSizes& sizes)
      : s(sizes), tiles(panel_tiles(PanelType::kI8, sizes.k)), random(kSeed + salt) {
    x = random_floats(random, s.rows * s.k);
    std::uniform_int_distribution<int> any(-127, 127);
    for (size_t i = 0; i < s.columns * tiles * kDepth; ++i)
      w.push_back(static_cast<int8_t>(any(random)));
    for (const float value :
         random_floats(random, panel_count(s.columns) * tiles * kPanelColumns)) {
      w_scales.push_back(std::abs(value) + 0.01f);
    }
    y = random_floats(random, s.rows * (s.columns + PanelRun::kPadding));
    fill();
  }

  /// Columns are whole tiles: the transform fills the padding of k with numbers.
  void fill() { fill_panels(PanelType::kI8, w, s.columns, tiles * kDepth, panels.data()); }

  PanelRun run(const PanelKernels& kernels, float fixed_scale, bool accumulate) const {
    return run_panels(kernels, PanelType::kI8, s, x, panels.data(), w_scales.data(), fixed_scale,
                      accumulate, y);
  }

  std::vector<float> transformed(size_t row, size_t tile) const {
    std::vector<float> values(kDepth, 0.0f);
    for (size_t i = 0; i < kDepth && tile * kDepth + i < s.k; ++i)
      values[i] = x[row * s.k + tile * kDepth + i];
    return hadamard(values);
  }

  /// By the definition of docs/operate/quantisation.md.
  QuantisedRow quantised(size_t row, float fixed_scale) const {
    QuantisedRow q;
    for (size_t tile = 0; tile < tiles; ++tile) {
      const std::vector<float> values = transformed(row, tile);
      float largest = 0;
      for (const float value : values) largest = std::max(largest, std::abs(value));
      const float scale = fixed_scale > 0 ? fixed_scale : largest / 127.0f;
      const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
      q.scales.push_back(scale);
      for (const float value : values) {
        const float nearest = std::nearbyint(value * inverse);
        q.values.push_back(static_cast<int>(std::min(127.0f, std::max(-127.0f, nearest))));
      }
    }
    return q;
  }

  float weight_scale(size_t column, size_t tile) const {
    return w_scales[(column / kPanelColumns * tiles + tile) * kPanelColumns +
                    column % kPanelColumns];
  }

  float expected(size_t row, size_t column, const QuantisedRow& q, bool accumulate) const {
    float value = 0;
    for (size_t tile = 0; tile < tiles; ++tile) {
      int64_t sum = 0;
      for (size_t i = tile * kDepth; i < (tile + 1) * kDepth; ++i)
        sum += q.values[i] * w[column * tiles * kDepth + i];
      value = std::fma(static_cast<float>(sum), q.scales[tile] * weight_scale(column, tile), value);
    }
    const float before = y[row * (s.columns + PanelRun::kPadding) + column];
    return (accumulate ? before + value : value) + 0.0f;
  }

  PanelSizes s;
  size_t tiles;
  std::mt19937_64 random;
  std::vector<float> x, w_scales, y;
  std::vector<int8_t> w;  // [columns][tiles][64]
  AlignedBytes panels{panel_count(s.columns) * panel_bytes(PanelType::kI8, s.k)};
};

class Int8 : public ::testing::TestWithParam<Int8Set> {};

void check(const Int8Case& c, const PanelRun& run, float fixed_scale, bool accumulate) {
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t i = 0; i < c.s.rows; ++i) {
    const QuantisedRow q = c.quantised(i, fixed_scale);
    for (size_t tile = 0; tile < c.tiles; ++tile)
      ASSERT_EQ(run.scales[i * c.tiles + tile], q.scales[tile]);
    for (size_t j = 0; j < c.s.columns; ++j) {
      ASSERT_EQ(run.y[i * stride + j], c.expected(i, j, q, accumulate))
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
  for (const size_t rows : {3, 14}) {
    Int8Case c(rows, {rows, 33, 4096});
    for (size_t i = 0; i < c.x.size(); ++i) c.x[i] = i < c.s.k ? -2.0f : 2.0f;
    for (size_t i = 0; i < c.w.size(); ++i) c.w[i] = i / (c.tiles * kDepth) % 2 == 0 ? 127 : -127;
    c.fill();
    check(c, c.run(GetParam().kernels, 0.0f, false), 0.0f, false);
  }
}

TEST_P(Int8, ProductsAreWithinTheErrorOfQuantisationOfDoublePrecision) {
  const Int8Case c(5, {17, 40, 500});
  const PanelRun run = c.run(GetParam().kernels, 0.0f, false);
  for (size_t i = 0; i < c.s.rows; ++i) {
    for (size_t j = 0; j < c.s.columns; ++j) {
      double exact = 0, bound = 0;
      for (size_t tile = 0; tile < c.tiles; ++tile) {
        const std::vector<float> values = c.transformed(i, tile);
        const double scale = static_cast<double>(c.weight_scale(j, tile));
        for (size_t k = 0; k < kDepth; ++k) {
          const double weight = c.w[(j * c.tiles + tile) * kDepth + k] * scale;
          exact += static_cast<double>(values[k]) * weight;
          bound += std::abs(weight) * run.scales[i * c.tiles + tile] * 0.501;
        }
      }
      ASSERT_NEAR(static_cast<double>(run.y[i * (c.s.columns + PanelRun::kPadding) + j]), exact,
                  bound);
    }
  }
}

TEST_P(Int8, WhatIsLargeInATileIsSpreadOverAllOfItsValues) {
  Int8Case c(11, {1, 1, 64});
  std::fill(c.x.begin(), c.x.end(), 0.0f);
  c.x[17] = 5.0f;
  const PanelRun run = c.run(GetParam().kernels, 0.0f, false);
  EXPECT_EQ(run.scales[0], 5.0f / 127.0f);
  int64_t sum = 0;
  for (size_t k = 0; k < kDepth; ++k) {
    const bool is_negative = __builtin_popcountll(k & 17) % 2 == 1;
    sum += (is_negative ? -127 : 127) * c.w[k];
  }
  EXPECT_EQ(run.y[0], static_cast<float>(sum) * (run.scales[0] * c.w_scales[0]));
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

}  // namespace int8_test
}  // namespace tessera::device::cpu
