// INT8 products with static scales, of every instruction set: the values of rows, and the sums,
// against the definition of kernel_table.h written out, and so with equal bits among themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "device/cpu/int8_kernels.h"
#include "device/cpu/int8_sets.h"
#include "device/cpu/panel_case.h"

namespace tessera::device::cpu {
namespace static_int8_test {

constexpr uint64_t kSeed = 20261123;
constexpr size_t kDepth = panel_tile_depth(PanelType::kStaticI8);

struct StaticCase {
  StaticCase(uint64_t salt, const PanelSizes& sizes)
      : s(sizes),
        filled(panel_tiles(PanelType::kStaticI8, sizes.k) * kDepth),
        random(kSeed + salt) {
    x = random_floats(random, s.rows * s.k);
    std::uniform_int_distribution<int> any(-127, 127);
    for (size_t i = 0; i < s.columns * filled; ++i) w.push_back(static_cast<int8_t>(any(random)));
    for (const float value : random_floats(random, filled))
      factors.push_back(10 * std::abs(value) + 1);
    offsets = random_floats(random, filled);
    w_scales = random_floats(random, panel_count(s.columns) * kStaticScales * kPanelColumns);
    y = random_floats(random, s.rows * stride());
    fill();
  }

  size_t stride() const { return s.columns + PanelRun::kPadding; }
  void fill() {
    fill_panels(PanelType::kStaticI8, w, s.columns, filled, panels.data());
    for (size_t j = 0; j < s.columns; ++j) {
      int32_t start = 0;
      for (size_t i = 0; i < filled; ++i) start -= 128 * w[j * filled + i];
      float* scales = w_scales.data() + j / kPanelColumns * kStaticScales * kPanelColumns;
      std::memcpy(scales + kStaticStart * kPanelColumns + j % kPanelColumns, &start, sizeof start);
    }
  }

  std::vector<float> transformed(size_t row, size_t tile) const {
    std::vector<float> values(kDepth, 0.0f);
    for (size_t i = 0; i < kDepth && tile * kDepth + i < s.k; ++i)
      values[i] = x[row * s.k + tile * kDepth + i];
    for (size_t distance = 1; distance < kDepth; distance *= 2) {
      std::vector<float> next(kDepth);
      for (size_t i = 0; i < kDepth; ++i) {
        next[i] = (i & distance) == 0 ? values[i] + values[i + distance]
                                      : values[i - distance] - values[i];
      }
      values = next;
    }
    return values;
  }

  std::vector<int> quantised(size_t row) const {
    std::vector<int> q;
    for (size_t at = 0; at < filled; at += kDepth) {
      const std::vector<float> values = transformed(row, at / kDepth);
      for (size_t i = 0; i < kDepth; ++i) {
        const float nearest = std::nearbyint(std::fma(values[i], factors[at + i], offsets[at + i]));
        q.push_back(static_cast<int>(std::min(127.0f, std::max(-127.0f, nearest))));
      }
    }
    return q;
  }

  float expected(size_t row, size_t column, const std::vector<int>& q, bool accumulate) const {
    int64_t sum = 0;
    for (size_t i = 0; i < filled; ++i) sum += q[i] * w[column * filled + i];
    const float* scales = w_scales.data() + column / kPanelColumns * kStaticScales * kPanelColumns;
    const float value = std::fma(static_cast<float>(sum), scales[column % kPanelColumns],
                                 scales[kPanelColumns + column % kPanelColumns]) +
                        0.0f;
    return (accumulate ? y[row * stride() + column] + value : value) + 0.0f;
  }

  /// Rows are written in two parts, and columns tile by tile from the last one on.
  PanelRun run(const PanelKernels& kernels, bool accumulate) const {
    const size_t blocks = (s.rows + kernels.row_block - 1) / kernels.row_block;
    AlignedBytes operand(blocks * kernels.row_block * kernels.operand_row_bytes(s.k));
    PanelRun run{y, std::vector<float>(s.rows)};
    const std::pair<size_t, size_t> parts[] = {{0, s.rows / 2}, {s.rows / 2, s.rows - s.rows / 2}};
    for (const auto& [first, rows] : parts) {
      for (size_t at = filled; at > 0; at -= kDepth) {
        const size_t column = at - kDepth;
        kernels.write_static({.x = x.data() + first * s.k + column,
                              .x_stride = s.k,
                              .first_row = first,
                              .rows = rows,
                              .column = column,
                              .columns = std::min(kDepth, s.k - column),
                              .k = s.k,
                              .factors = factors.data(),
                              .offsets = offsets.data(),
                              .operand = operand.data(),
                              .marks = run.scales.data()});
      }
    }
    PanelProduct p;
    p.x = operand.data();
    p.x_row_bytes = kernels.operand_row_bytes(s.k);
    p.x_scales = run.scales.data();
    p.rows = s.rows;
    p.k = s.k;
    p.panels = panels.data();
    p.panel_stride = panel_bytes(PanelType::kStaticI8, s.k);
    p.w_scales = w_scales.data();
    p.columns = s.columns;
    p.y = run.y.data();
    p.y_stride = stride();
    p.accumulate = accumulate;
    kernels.multiply_static(p);
    return run;
  }

  PanelSizes s;
  size_t filled;
  std::mt19937_64 random;
  std::vector<float> x, factors, offsets, w_scales, y;
  std::vector<int8_t> w;  // [columns][filled]
  AlignedBytes panels{panel_count(s.columns) * panel_bytes(PanelType::kStaticI8, s.k)};
};

class StaticInt8 : public ::testing::TestWithParam<Int8Set> {};

void check(const StaticCase& c, const PanelRun& run, bool accumulate) {
  for (size_t i = 0; i < c.s.rows; ++i) {
    const std::vector<int> q = c.quantised(i);
    for (size_t j = 0; j < c.s.columns; ++j) {
      ASSERT_EQ(run.y[i * c.stride() + j], c.expected(i, j, q, accumulate))
          << c.s.rows << "x" << c.s.columns << "x" << c.s.k << " at " << i << "," << j;
    }
    for (size_t j = c.s.columns; j < c.stride(); ++j)
      ASSERT_EQ(run.y[i * c.stride() + j], c.y[i * c.stride() + j]);
  }
}

TEST_P(StaticInt8, EveryOutputIsTheDefinitionOverExactSums) {
  for (const PanelSizes& sizes : kPanelSizes) {
    const StaticCase c(sizes.rows * 1000 + sizes.columns, sizes);
    check(c, c.run(GetParam().kernels, false), false);
    check(c, c.run(GetParam().kernels, true), true);
  }
}

TEST_P(StaticInt8, SumsOfTheLargestMagnitudesAreExact) {
  for (const size_t k : {size_t{4096}, kStaticDepthMax}) {
    StaticCase c(k, {2, 2, k});
    std::fill(c.x.begin(), c.x.end(), 0.0f);
    for (size_t i = 0; i < c.filled; ++i) {
      c.offsets[i] = 1e4f;
      c.w[i] = 127;
      c.w[c.filled + i] = -127;
    }
    c.fill();
    check(c, c.run(GetParam().kernels, false), false);
  }
}

TEST_P(StaticInt8, ARowWithAValueThatIsNotFiniteGivesNaNAndNoOtherRowDoes) {
  StaticCase c(3, {5, 19, 130});
  c.x[0 * 130 + 129] = std::numeric_limits<float>::quiet_NaN();
  c.x[2 * 130 + 1] = -std::numeric_limits<float>::infinity();
  const PanelRun run = c.run(GetParam().kernels, false);
  for (size_t i = 0; i < c.s.rows; ++i) {
    for (size_t j = 0; j < c.s.columns; ++j) {
      ASSERT_EQ(std::isnan(run.y[i * c.stride() + j]), i == 0 || i == 2) << i << "," << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, StaticInt8, ::testing::ValuesIn(int8_sets()),
                         [](const auto& set) { return set.param.name; });

}  // namespace static_int8_test
}  // namespace tessera::device::cpu
