// INT8 weights, and products over them through ops::matmul, on every instruction set.
#include "ops/quantise.h"

#include <cmath>
#include <cstring>
#include <string>

#include "ops/matmul.h"
#include "ops/reference/reference.h"
#include "ops/test_source.h"

namespace tessera::ops {
namespace quantise_test {

using device::InstructionSet;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

constexpr uint64_t kDepth = device::panel_tile_depth(PanelType::kI8);

struct Sizes {
  uint64_t m, n, k;
};
const Sizes kSizes[] = {{1, 1, 1}, {3, 33, 65}, {35, 70, 130}, {100, 40, 511}, {200, 95, 64}};

/// Random weights of one type, an element off any alignment, and the same as INT8 panels.
struct Quantised {
  Quantised(device::Device& device, DType type, uint64_t n, uint64_t k)
      : source(n * 31 + k), floats(source.floats(n * k + 1)), halves(source.bf16(n * k + 1)) {
    const void* data = type == DType::kBf16 ? static_cast<const void*>(halves.data() + 1)
                                            : static_cast<const void*>(floats.data() + 1);
    view = TensorView{data, type, 2, {n, k}};
    const uint64_t bytes = packed_bytes(PanelType::kI8, k, n);
    memory = std::move(device.allocate(bytes)).value();
    std::memset(memory.data(), 0x55, bytes);
    scales.assign(scale_count(k, n), -1.0f);
    packed = {PanelType::kI8, memory.data(), k, n, device::panel_bytes(PanelType::kI8, k),
              scales.data()};
    quantise(device, view, packed);
  }

  int element(uint64_t k, uint64_t column) const {
    const char* panel = static_cast<const char*>(packed.panel(column / device::kPanelColumns));
    return static_cast<int8_t>(
        panel[device::panel_offset(PanelType::kI8, k, column % device::kPanelColumns)]);
  }

  float scale(uint64_t column, uint64_t tile) const {
    return packed.panel_scales(
        column /
        device::kPanelColumns)[tile * device::kPanelColumns + column % device::kPanelColumns];
  }

  /// `target`: what follows the product; it is added to zeros where it adds.
  std::vector<float> product(device::Device& device, const std::vector<float>& x, uint64_t rows,
                             Target target = {}) {
    device::Buffer memory_of_x =
        std::move(device.allocate(operand_bytes(device, PanelType::kI8, rows, packed.k))).value();
    std::vector<float> row_scales(rows * device::panel_scales(PanelType::kI8, packed.k));
    std::vector<float> y(rows * packed.columns);
    const Operand operand{PanelType::kI8, memory_of_x.data(), row_scales.data(), rows, packed.k};
    write_operand(device, x.data(), packed.k, operand);
    target.w = &packed;
    target.y = y.data();
    target.y_stride = packed.columns;
    matmul(device, operand, {&target, 1});
    return y;
  }

  Source source;
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  TensorView view;
  device::Buffer memory;
  std::vector<float> scales;
  PackedMatrix packed;
};

class Quantise : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam(), 2);
};

/// The Hadamard transform by its definition.
std::vector<double> transformed(const TensorView& from, uint64_t column, uint64_t first) {
  std::vector<double> y(kDepth, 0.0);
  for (uint64_t i = 0; i < kDepth; ++i) {
    for (uint64_t j = 0; j < kDepth && first + j < from.columns(); ++j) {
      const double x = reference::element(from, column * from.columns() + first + j);
      y[i] += __builtin_popcountll(i & j) % 2 == 0 ? x : -x;
    }
  }
  return y;
}

TEST_P(Quantise, EveryWeightIsTheNearestMultipleOfItsTilesScaleAndPaddingIsZero) {
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Sizes& s : kSizes) {
      const Quantised w(*device_, type, s.n, s.k);
      const uint64_t tiles = device::panel_tiles(PanelType::kI8, s.k);
      for (uint64_t j = 0; j < device::panel_count(s.n) * device::kPanelColumns; ++j) {
        for (uint64_t tile = 0; tile < tiles; ++tile) {
          const uint64_t first = tile * kDepth;
          if (j >= s.n) {
            ASSERT_EQ(w.scale(j, tile), 0.0f);
            for (uint64_t i = 0; i < kDepth; ++i) ASSERT_EQ(w.element(first + i, j), 0);
            continue;
          }
          const std::vector<double> values = transformed(w.view, j, first);
          double largest = 0;
          for (const double value : values) largest = std::max(largest, std::abs(value));
          // The stored scale has the 64th in it by which both transforms together are too large.
          const double step = 64 * static_cast<double>(w.scale(j, tile));
          ASSERT_NEAR(step, largest / 127, 1e-6 * largest);
          for (uint64_t i = 0; i < kDepth; ++i) {
            ASSERT_LE(std::abs(w.element(first + i, j)), 127);
            ASSERT_NEAR(w.element(first + i, j) * step, values[i], 0.5001 * step);
          }
        }
      }
    }
  }
}

TEST_P(Quantise, ProductsAreWithinTheErrorOfQuantisationOfDoublePrecision) {
  for (const Sizes& s : kSizes) {
    Quantised w(*device_, DType::kBf16, s.n, s.k);
    const std::vector<float> x = w.source.floats(s.m * s.k);
    const TensorView rows{x.data(), DType::kF32, 2, {s.m, s.k}};
    const std::vector<float> y = w.product(*device_, x, s.m);
    const std::vector<double> expected = reference::gemm(x.data(), s.m, w.view);
    for (uint64_t i = 0; i < s.m; ++i) {
      std::vector<double> sums;  // by tile: of the row's magnitudes, and 64 times the largest
      for (uint64_t tile = 0; tile * kDepth < s.k; ++tile) {
        double largest = 0, magnitude = 0;
        for (const double value : transformed(rows, i, tile * kDepth)) {
          largest = std::max(largest, std::abs(value));
          magnitude += std::abs(value);
        }
        sums.push_back(magnitude + largest * static_cast<double>(kDepth));
      }
      for (uint64_t j = 0; j < s.n; ++j) {
        // Half a step of each side: of the weights times |x|, of the row times |w|.
        double bound = 1e-5;
        for (uint64_t tile = 0; tile < sums.size(); ++tile)
          bound += 0.51 * static_cast<double>(w.scale(j, tile)) * sums[tile];
        ASSERT_NEAR(static_cast<double>(y[i * s.n + j]), expected[i * s.n + j], bound);
      }
    }
  }
}

TEST_P(Quantise, AnInputThatIsFarLargerThanTheOthersCostsThemFewBits) {
  constexpr uint64_t kInputs = 256;
  Quantised w(*device_, DType::kF32, 32, kInputs);
  std::vector<float> x = w.source.floats(kInputs);
  for (float& value : x) value *= 0.01f;
  x[5] = 1.0f;
  const std::vector<float> y = w.product(*device_, x, 1);
  const std::vector<double> expected = reference::gemm(x.data(), 1, w.view);
  double error = 0, rounded = 0;
  for (uint64_t j = 0; j < 32; ++j) {
    error += std::pow(static_cast<double>(y[j]) - expected[j], 2);
    double with_one_scale = 0;
    for (uint64_t i = 0; i < kInputs; ++i) {
      with_one_scale += std::nearbyint(static_cast<double>(x[i]) * 127) / 127 *
                        reference::element(w.view, j * kInputs + i);
    }
    rounded += std::pow(with_one_scale - expected[j], 2);
  }
  EXPECT_LT(error, 0.25 * rounded);
}

TEST_P(Quantise, ProductsHaveTheBitsOfThePortableSet) {
  const std::unique_ptr<device::Device> portable = open(InstructionSet::kPortable);
  for (const Sizes& s : kSizes) {
    Quantised w(*device_, DType::kF32, s.n, s.k), twin(*portable, DType::kF32, s.n, s.k);
    const std::vector<float> x = w.source.floats(s.m * s.k);
    EXPECT_TRUE(same_bits(w.product(*device_, x, s.m), twin.product(*portable, x, s.m)));
  }
}

TEST_P(Quantise, WhatFollowsAProductIsDoneToIt) {
  const device::KernelTable& kernels = device_->kernels();
  for (const Sizes& s : kSizes) {
    Quantised w(*device_, DType::kF32, s.n, s.k);
    const std::vector<float> x = w.source.floats(s.m * s.k), bias = w.source.floats(s.n);
    const std::vector<float> plain = w.product(*device_, x, s.m);
    EXPECT_TRUE(same_bits(plain, w.product(*device_, x, s.m, {.adds_to_y = true})));
    std::vector<float> expected(plain.size());
    kernels.gelu(plain.data(), plain.size(), expected.data());
    EXPECT_TRUE(same_bits(expected, w.product(*device_, x, s.m, {.has_gelu = true})));
    kernels.silu_mul(plain.data(), plain.data(), plain.size(), expected.data());
    EXPECT_TRUE(same_bits(expected, w.product(*device_, x, s.m, {.up = &w.packed})));
    for (uint64_t i = 0; i < plain.size(); ++i) expected[i] = plain[i] + bias[i % s.n];
    EXPECT_TRUE(same_bits(expected, w.product(*device_, x, s.m, {.bias = bias.data()})));
  }
}

TEST(QuantiseColumns, TilesOfZerosHaveTheScaleZero) {
  const std::unique_ptr<device::Device> device = open(InstructionSet::kPortable);
  Quantised w(*device, DType::kF32, 3, 70);
  std::fill(w.floats.begin(), w.floats.end(), 0.0f);
  quantise(*device, w.view, w.packed);
  EXPECT_EQ(w.scales[1], 0.0f);
  for (const float y : w.product(*device, w.source.floats(2 * 70), 2)) EXPECT_EQ(y, 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Machine, Quantise,
                         ::testing::ValuesIn(device::available_instruction_sets()),
                         [](const ::testing::TestParamInfo<InstructionSet>& set) {
                           return std::string(device::instruction_set_name(set.param));
                         });

}  // namespace quantise_test
}  // namespace tessera::ops
