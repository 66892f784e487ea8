// Panels, and products over them, on every instruction set of the machine: against the canonical
// reduction written out plainly (equal bits), against double precision, and alone against together.
#include "ops/matmul.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "ops/reference/reference.h"
#include "ops/test_matrix.h"

namespace tessera::ops {
namespace matmul_test {

using device::InstructionSet;
using device::PanelType;
using tensor::DType;
using tensor::TensorView;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

struct Sizes {
  uint64_t m, n, k;
};
const Sizes kSizes[] = {{1, 1, 1},   {1, 33, 15},  {2, 3, 16},    {3, 31, 17},   {4, 32, 256},
                        {5, 64, 32}, {7, 45, 257}, {6, 16, 511},  {13, 17, 513}, {29, 70, 48},
                        {1, 97, 80}, {65, 5, 33},  {97, 66, 300}, {200, 33, 19}, {15, 48, 770}};

std::vector<float> product(device::Device& device, const Matrix& w, const std::vector<float>& x,
                           uint64_t rows) {
  const Rows operand(device, w.packed.type, x, rows, w.packed.k);
  std::vector<float> y(rows * w.packed.columns, -7.0f);
  const Target target{.w = &w.packed, .y = y.data(), .y_stride = w.packed.columns};
  matmul(device, operand.operand, {&target, 1});
  return y;
}

/// The canonical reduction of device/kernel_table.h.
float canonical(const float* x, const TensorView& w, uint64_t column, float y, bool accumulate) {
  for (uint64_t at = 0; at < w.columns(); at += device::kPanelRun) {
    float run = 0;
    for (uint64_t k = at; k < std::min(w.columns(), at + device::kPanelRun); ++k) {
      const double element = reference::element(w, column * w.columns() + k);
      run = std::fma(x[k], static_cast<float>(element), run);
    }
    y = (accumulate || at > 0 ? y + run : run) + 0.0f;
  }
  return y;
}

class Matmul : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam());
};

TEST_P(Matmul, PackingPutsEveryElementAtItsOffsetAndZerosElsewhere) {
  for (const PanelType type : kTypes) {
    for (const Sizes& s : kSizes) {
      Source source(s.n);
      const Matrix w(*device_, source, type, s.n, s.k);
      uint64_t set_bytes = 0;
      for (uint64_t j = 0; j < s.n; ++j) {
        std::vector<float> row(s.k);
        unpack_column(w.packed, j, row.data());
        for (uint64_t k = 0; k < s.k; ++k) {
          const char* at = static_cast<const char*>(w.packed.panel(j / device::kPanelColumns)) +
                           device::panel_offset(type, k, j % device::kPanelColumns);
          const TensorView one{at, w.view.type, 1, {1}};
          const double expected = reference::element(w.view, j * s.k + k);
          ASSERT_EQ(reference::element(one, 0), expected) << j << " " << k;
          ASSERT_EQ(static_cast<double>(row[k]), expected);
          set_bytes += device::panel_element_bytes(type);
        }
      }
      uint64_t zero_bytes = 0, total = packed_bytes(type, s.k, s.n);
      const char* bytes = w.memory.as<char>();
      for (uint64_t i = 0; i < total; ++i) zero_bytes += bytes[i] == 0 ? 1 : 0;
      EXPECT_GE(zero_bytes, total - set_bytes);
    }
  }
}

TEST_P(Matmul, EveryOutputHasTheBitsOfTheCanonicalReduction) {
  for (const PanelType type : kTypes) {
    for (const Sizes& s : kSizes) {
      Source source(s.m * 1000 + s.n);
      const Matrix w(*device_, source, type, s.n, s.k);
      std::vector<float> x = source.floats(s.m * s.k);
      if (type == PanelType::kBf16) round_to_bf16(x);
      const std::vector<float> y = product(*device_, w, x, s.m);
      const std::vector<double> expected = reference::gemm(x.data(), s.m, w.view);
      const std::vector<double> scale = reference::gemm_scale(x.data(), s.m, w.view);
      for (size_t i = 0; i < y.size(); ++i) {
        const float twin = canonical(x.data() + i / s.n * s.k, w.view, i % s.n, 0, false);
        ASSERT_EQ(y[i], twin) << s.m << "x" << s.n << "x" << s.k << " at " << i;
        ASSERT_FALSE(std::signbit(y[i]) && y[i] == 0.0f);
        const double bound = kEpsilon * scale[i] * (std::sqrt(static_cast<double>(s.k)) + 4);
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i], bound);
      }
    }
  }
}

TEST_P(Matmul, AKernelAddsToYAndTouchesNothingBesideItsColumns) {
  for (const PanelType type : kTypes) {
    for (const Sizes& s : kSizes) {
      Source source(s.m * 77 + s.k);
      const Matrix w(*device_, source, type, s.n, s.k);
      std::vector<float> x = source.floats(s.m * s.k);
      if (type == PanelType::kBf16) round_to_bf16(x);
      const uint64_t stride = s.n + 5;
      const std::vector<float> start = source.floats(s.m * stride);
      std::vector<float> y = start;
      device::PanelProduct p;
      p.x = x.data();
      p.x_row_bytes = s.k * sizeof(float);
      p.rows = s.m;
      p.k = s.k;
      p.panels = w.packed.panels;
      p.panel_stride = w.packed.panel_stride;
      p.columns = s.n;
      p.y = y.data();
      p.y_stride = stride;
      p.accumulate = true;
      device_->kernels().panel(type).multiply(p);
      for (size_t i = 0; i < y.size(); ++i) {
        const uint64_t row = i / stride, column = i % stride;
        const float expected = column < s.n
                                   ? canonical(x.data() + row * s.k, w.view, column, start[i], true)
                                   : start[i];
        ASSERT_EQ(y[i], expected) << s.m << "x" << s.n << "x" << s.k << " at " << i;
      }
    }
  }
}

TEST_P(Matmul, ARowHasTheSameBitsAloneInAnyBatchAndOnAnyThreads) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 3);
  for (const PanelType type : kTypes) {
    const uint64_t m = 211, n = 203, k = 333;
    Source source(5);
    const Matrix w(*device_, source, type, n, k);
    const std::vector<float> x = source.floats(m * k);
    const std::vector<float> whole = product(*device_, w, x, m);
    EXPECT_TRUE(same_bits(whole, product(*threaded, w, x, m)));
    for (uint64_t i = 0; i < m; i += 5) {
      const auto begin = x.begin() + static_cast<int64_t>(i * k);
      const std::vector<float> row(begin, begin + static_cast<int64_t>(k));
      const std::vector<float> alone = product(*device_, w, row, 1);
      ASSERT_EQ(std::memcmp(alone.data(), whole.data() + i * n, n * sizeof(float)), 0) << i;
    }
  }
}

TEST_P(Matmul, SeveralTargetsAreFinishedAsTheyAsk) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 2);
  const uint64_t m = 100, k = 70, n = 83;
  for (const PanelType type : kTypes) {
    Source source(9);
    const Matrix gate(*device_, source, type, n, k), up(*device_, source, type, n, k);
    const Matrix other(*device_, source, type, 40, k);
    const std::vector<float> x = source.floats(m * k), bias = source.floats(40);
    const std::vector<float> start = source.floats(m * 50);
    const Rows operand(*device_, type, x, m, k);
    std::vector<float> silu(m * n), sums = start, biased(m * 40), gelu(m * 40), gelu_gate(m * n);
    const Target targets[] = {
        {.w = &gate.packed, .up = &up.packed, .y = silu.data(), .y_stride = n},
        {.w = &other.packed, .y = sums.data(), .y_stride = 50, .adds_to_y = true},
        {.w = &other.packed, .bias = bias.data(), .y = biased.data(), .y_stride = 40},
        {.w = &other.packed,
         .has_gelu = true,
         .bias = bias.data(),
         .y = gelu.data(),
         .y_stride = 40},
        {.w = &gate.packed,
         .up = &up.packed,
         .has_gelu = true,
         .y = gelu_gate.data(),
         .y_stride = n}};
    matmul(*threaded, operand.operand, targets);
    const std::vector<float> g = product(*device_, gate, x, m), u = product(*device_, up, x, m);
    const std::vector<float> plain = product(*device_, other, x, m);
    std::vector<float> expected(g.size());
    device_->kernels().silu_mul(g.data(), u.data(), g.size(), expected.data());
    EXPECT_TRUE(same_bits(silu, expected));
    device_->kernels().gelu_mul(g.data(), u.data(), g.size(), expected.data());
    EXPECT_TRUE(same_bits(gelu_gate, expected));
    expected.resize(biased.size());
    device_->kernels().gelu(biased.data(), biased.size(), expected.data());
    EXPECT_TRUE(same_bits(gelu, expected));
    for (uint64_t i = 0; i < m * 50; ++i) {
      const uint64_t row = i / 50, column = i % 50;
      ASSERT_EQ(sums[i], column < 40 ? start[i] + plain[row * 40 + column] : start[i]);
      if (column >= 40) continue;
      ASSERT_EQ(biased[row * 40 + column], plain[row * 40 + column] + bias[column]);
    }
  }
}

TEST_P(Matmul, ProductsOfTinyNegativeNumbersArePositiveZero) {
  const std::vector<float> x(20, 1e-30f), tiny(20, -1e-30f);
  for (const PanelType type : kTypes) {
    Source source(3);
    Matrix w(*device_, source, type, 1, 20);
    pack(*device_, {tiny.data(), DType::kF32, 2, {1, 20}}, w.packed);
    const std::vector<float> y = product(*device_, w, x, 1);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_FALSE(std::signbit(y[0]));
  }
}

TEST_P(Matmul, WeightsOfEveryTypeArePackedAsTheyConvert) {
  Source source(4);
  const std::vector<float> x = source.floats(3 * 40);
  const std::vector<uint16_t> halves = source.bf16(5 * 40);
  for (const DType from : {DType::kF16, DType::kBf16}) {
    const TensorView view{halves.data(), from, 2, {5, 40}};
    std::vector<float> wide;
    for (uint64_t i = 0; i < 200; ++i) {
      wide.push_back(static_cast<float>(reference::element(view, i)));
    }
    for (const PanelType type : kTypes) {
      Matrix a(*device_, source, type, 5, 40), b(*device_, source, type, 5, 40);
      pack(*device_, view, a.packed);
      pack(*device_, {wide.data(), DType::kF32, 2, {5, 40}}, b.packed);
      EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), a.memory.size()), 0);
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(device::instruction_set_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(
    Machine, Matmul,
    ::testing::ValuesIn(device::available_instruction_sets(device::NumericClass::kFma)), name_of);

}  // namespace matmul_test
}  // namespace tessera::ops
