// One suite for every instruction set of the machine: each operation against its twin in double
// precision, and every set bit for bit against the portable one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ops/add.h"
#include "ops/convert.h"
#include "ops/embed.h"
#include "ops/gemm.h"
#include "ops/log_sum_exp.h"
#include "ops/reference/reference.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "ops/silu_mul.h"
#include "ops/test_source.h"

namespace tessera::ops {
namespace {

using device::InstructionSet;
using tensor::DType;
using tensor::TensorView;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

struct Sizes {
  uint64_t m, n, k;
};
const Sizes kSizes[] = {{1, 1, 1},    {1, 7, 15},   {2, 3, 16},  {3, 5, 17},    {4, 4, 31},
                        {5, 9, 32},   {7, 13, 33},  {4, 16, 64}, {65, 67, 100}, {9, 130, 257},
                        {70, 66, 48}, {1, 300, 48}, {130, 5, 19}};

class OpsConformance : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam());
  std::unique_ptr<device::Device> portable_ = open(InstructionSet::kPortable);
};

/// Weights of one type, starting one element off any alignment.
struct Weights {
  Weights(Source& source, DType type, uint64_t n, uint64_t k)
      : floats(source.floats(n * k + 1)), halves(source.bf16(n * k + 1)) {
    const void* data = type == DType::kBf16 ? static_cast<const void*>(halves.data() + 1)
                                            : static_cast<const void*>(floats.data() + 1);
    view = TensorView{data, type, 2, {n, k}};
  }
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  TensorView view;
};

TEST_P(OpsConformance, GemmAgreesWithDoublePrecisionAndBitForBitWithPortable) {
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Sizes& s : kSizes) {
      Source source(s.m * 1000 + s.n);
      const Weights w(source, type, s.n, s.k);
      std::vector<float> x = source.floats(s.m * s.k);
      if (type == DType::kBf16) round_to_bf16(x);
      std::vector<float> y(s.m * s.n), y_portable(s.m * s.n);
      gemm(*device_, x.data(), s.m, w.view, y.data(), s.n);
      gemm(*portable_, x.data(), s.m, w.view, y_portable.data(), s.n);
      EXPECT_TRUE(same_bits(y, y_portable)) << s.m << "x" << s.n << "x" << s.k;
      const std::vector<double> expected = reference::gemm(x.data(), s.m, w.view);
      const std::vector<double> scale = reference::gemm_scale(x.data(), s.m, w.view);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i],
                    kEpsilon * scale[i] * (static_cast<double>(s.k) / 32 + 4));
      }
    }
  }
}

TEST_P(OpsConformance, ARowOfAProductHasTheSameBitsAloneAndInAnyBatchAndAnyThreads) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 3);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    const uint64_t m = 71, n = 203, k = 77;
    Source source(5);
    const Weights w(source, type, n, k);
    std::vector<float> x = source.floats(m * k);
    if (type == DType::kBf16) round_to_bf16(x);
    std::vector<float> whole(m * n), split(m * n), alone(n);
    gemm(*device_, x.data(), m, w.view, whole.data(), n);
    gemm(*threaded, x.data(), m, w.view, split.data(), n);
    EXPECT_TRUE(same_bits(whole, split));
    for (uint64_t i = 0; i < m; ++i) {
      gemm(*device_, x.data() + i * k, 1, w.view, alone.data(), n);
      ASSERT_EQ(std::memcmp(alone.data(), whole.data() + i * n, n * sizeof(float)), 0) << i;
    }
  }
}

TEST_P(OpsConformance, GatheredRowsEqualTheRowsOfTheWholeProduct) {
  const uint64_t m = 9, n = 40, k = 35;
  Source source(6);
  const Weights w(source, DType::kF32, n, k);
  const std::vector<float> x = source.floats(m * k);
  std::vector<float> whole(m * n);
  gemm(*device_, x.data(), m, w.view, whole.data(), n);
  const std::vector<uint32_t> x_rows = {8, 0, 3, 3, 5};
  const std::vector<int32_t> w_rows = {39, 1, 1, 0, 17, 20, 4};
  std::vector<float> some(x_rows.size() * w_rows.size());
  gemm_rows(*device_, x.data(), x_rows, w.view, w_rows, some.data());
  for (size_t i = 0; i < x_rows.size(); ++i) {
    for (size_t j = 0; j < w_rows.size(); ++j) {
      EXPECT_EQ(some[i * w_rows.size() + j],
                whole[x_rows[i] * n + static_cast<uint64_t>(w_rows[j])]);
    }
  }
}

TEST_P(OpsConformance, AppendedZerosChangeNoBitOfADotProduct) {
  Source source(7);
  const std::vector<float> x = source.floats(200), w = source.floats(200);
  for (uint64_t k = 1; k < 100; ++k) {
    std::vector<float> x_long(x.begin(), x.begin() + static_cast<int64_t>(k));
    x_long.resize(k + 37, 0.0f);
    const float* x_rows[2] = {x.data(), x_long.data()};
    const void* w_rows[1] = {w.data()};
    float y_short = 0, y_long = 0;
    device_->kernels().dot_rows_f32(x_rows, 1, w_rows, 1, k, &y_short, 1);
    device_->kernels().dot_rows_f32(x_rows + 1, 1, w_rows, 1, k + 37, &y_long, 1);
    ASSERT_EQ(std::memcmp(&y_short, &y_long, sizeof(float)), 0) << k;
  }
}

TEST_P(OpsConformance, ADotProductOfTinyNegativeProductsIsPositiveZero) {
  const std::vector<float> x(20, 1e-30f), w(20, -1e-30f);
  const float* x_rows[1] = {x.data()};
  const void* w_rows[1] = {w.data()};
  float y = 1;
  device_->kernels().dot_rows_f32(x_rows, 1, w_rows, 1, 20, &y, 1);
  EXPECT_EQ(y, 0.0f);
  EXPECT_FALSE(std::signbit(y));
}

TEST_P(OpsConformance, RmsNormAgreesWithDoublePrecisionAndBitForBitWithPortable) {
  for (const uint64_t n : {1u, 15u, 16u, 17u, 64u, 100u, 1023u}) {
    Source source(n);
    const uint64_t rows = 5;
    const std::vector<float> x = source.floats(rows * n, 3.0f), weight = source.floats(n);
    std::vector<float> y(rows * n), y_portable(rows * n);
    rms_norm(*device_, x.data(), rows, n, weight.data(), 1e-6f, y.data());
    rms_norm(*portable_, x.data(), rows, n, weight.data(), 1e-6f, y_portable.data());
    EXPECT_TRUE(same_bits(y, y_portable));
    const std::vector<double> expected =
        reference::rms_norm(x.data(), rows, n, weight.data(), 1e-6f);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(y[i]), expected[i],
                  kEpsilon * 8 * (std::abs(expected[i]) + 1e-6));
    }
  }
}

TEST_P(OpsConformance, RopeAgreesWithDoublePrecisionForEvenHeadsOfAnySize) {
  for (const uint64_t head_dim : {2u, 6u, 16u, 30u, 32u, 66u, 128u}) {
    const uint64_t heads = 3, positions = 40;
    Source source(head_dim);
    std::vector<float> frequencies;
    for (uint64_t i = 0; i < head_dim / 2; ++i) {
      const double power = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
      frequencies.push_back(static_cast<float>(std::pow(10000.0, power)));
    }
    std::vector<float> cos(positions * head_dim / 2), sin(positions * head_dim / 2);
    fill_rope_table(frequencies, positions, cos.data(), sin.data());
    const std::vector<uint32_t> at = {0, 1, 39, 17};
    const std::vector<float> x = source.floats(at.size() * heads * head_dim);
    std::vector<float> y = x, y_portable = x;
    rope(*device_, y.data(), at, heads, head_dim, {cos.data(), sin.data(), positions});
    rope(*portable_, y_portable.data(), at, heads, head_dim, {cos.data(), sin.data(), positions});
    EXPECT_TRUE(same_bits(y, y_portable));
    for (uint64_t row = 0; row < at.size() * heads; ++row) {
      const std::vector<double> expected =
          reference::rope(x.data() + row * head_dim, head_dim, at[row / heads], frequencies);
      for (uint64_t i = 0; i < head_dim; ++i) {
        ASSERT_NEAR(static_cast<double>(y[row * head_dim + i]), expected[i], kEpsilon * 16);
      }
    }
  }
}

TEST_P(OpsConformance, SiluMulAgreesWithDoublePrecisionOverTheWholeRange) {
  std::vector<float> gate;
  for (float g = -120.0f; g <= 120.0f; g += 0.0625f) gate.push_back(g);
  Source source(8);
  const std::vector<float> up = source.floats(gate.size());
  std::vector<float> y(gate.size()), y_portable(gate.size());
  silu_mul(*device_, gate.data(), up.data(), 1, gate.size(), y.data());
  silu_mul(*portable_, gate.data(), up.data(), 1, gate.size(), y_portable.data());
  EXPECT_TRUE(same_bits(y, y_portable));
  const std::vector<double> expected = reference::silu_mul(gate.data(), up.data(), gate.size());
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(y[i]), expected[i],
                8 * kEpsilon * std::abs(expected[i]) + 1e-30)
        << gate[i];
  }
}

TEST_P(OpsConformance, ExpSumAgreesWithTheCLibraryAndIsExactAtItsEnds) {
  std::vector<float> x;
  for (float value = -86.9f; value < 87.9f; value += 0.0137f) x.push_back(value);
  std::vector<float> y = x, y_portable = x;
  const float total = device_->kernels().exp_sum(y.data(), y.size(), 1.0f, 0.0f);
  EXPECT_EQ(total, portable_->kernels().exp_sum(y_portable.data(), y.size(), 1.0f, 0.0f));
  EXPECT_TRUE(same_bits(y, y_portable));
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(static_cast<double>(x[i]));
    ASSERT_NEAR(static_cast<double>(y[i]) / expected, 1.0, 2e-7) << x[i];
  }
  std::vector<float> ends = {0.0f, -0.0f, -1000.0f, -std::numeric_limits<float>::infinity()};
  EXPECT_EQ(device_->kernels().exp_sum(ends.data(), 4, 1.0f, 0.0f), 2.0f);
  EXPECT_EQ(ends, (std::vector<float>{1, 1, 0, 0}));
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(device_->kernels().exp_sum(&nan, 1, 1.0f, 0.0f)));
}

TEST_P(OpsConformance, LogSumExpAgreesWithDoublePrecisionWhateverTheThreads) {
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 3);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    for (const Sizes& s :
         {Sizes{1, 1, 3}, Sizes{3, 255, 9}, Sizes{5, 257, 33}, Sizes{40, 1500, 48}}) {
      Source source(s.n);
      const Weights w(source, type, s.n, s.k);
      std::vector<float> x = source.floats(s.m * s.k);
      if (type == DType::kBf16) round_to_bf16(x);
      std::vector<uint32_t> rows;
      for (uint64_t i = 0; i < s.m; ++i) rows.push_back(static_cast<uint32_t>(i));
      std::vector<float> scratch(log_sum_exp_scratch(s.m, s.n));
      std::vector<float> y(s.m), y_threaded(s.m), y_portable(s.m);
      log_sum_exp(*device_, x.data(), rows, w.view, scratch, y);
      log_sum_exp(*threaded, x.data(), rows, w.view, scratch, y_threaded);
      log_sum_exp(*portable_, x.data(), rows, w.view, scratch, y_portable);
      EXPECT_TRUE(same_bits(y, y_threaded));
      EXPECT_TRUE(same_bits(y, y_portable));
      const std::vector<double> expected = reference::log_sum_exp(x.data(), s.m, w.view);
      for (uint64_t i = 0; i < s.m; ++i) {
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i], 2e-5);
      }
    }
  }
}

TEST_P(OpsConformance, ElementwiseOperationsTouchEveryElementAndNoOther) {
  for (const uint64_t n : {1u, 15u, 16u, 17u, 33u, 100u}) {
    Source source(n);
    const std::vector<float> x = source.floats(n), start = source.floats(n + 4);
    std::vector<float> y = start;
    add(*device_, x.data(), 1, n, y.data());
    const std::vector<float> z = source.floats(n);
    const void* rows[] = {x.data(), z.data()};
    const float weights[] = {2.0f, -0.75f};
    device_->kernels().weighted_sum_f32(y.data(), 3.0f, rows, weights, 2, n, 0.5f, y.data());
    device_->kernels().scale(y.data(), n, 0.3f);
    for (uint64_t i = 0; i < n; ++i) {
      const float sum = std::fma(x[i], 2.0f, (start[i] + x[i]) * 3.0f);
      EXPECT_EQ(y[i], std::fma(z[i], -0.75f, sum) * 0.5f * 0.3f);
    }
    for (uint64_t i = n; i < n + 4; ++i) EXPECT_EQ(y[i], start[i]);
    float highest = x[0];
    for (const float value : x) highest = std::max(highest, value);
    EXPECT_EQ(device_->kernels().maximum(x.data(), n), highest);
  }
}

TEST_P(OpsConformance, ABiasIsAddedToEveryRow) {
  Source source(11);
  const std::vector<float> bias = source.floats(19), start = source.floats(19 * 3);
  std::vector<float> y = start;
  add_bias(*device_, bias.data(), 3, 19, y.data());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], start[i] + bias[i % 19]);
}

TEST_P(OpsConformance, RoundingAndNarrowingToBf16MatchTheScalarConversion) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  Source source(9);
  std::vector<float> x = source.floats(1003, 100.0f);
  for (const float special : {nan, infinity, -infinity, 0.0f, -0.0f, 3.4e38f, 1e-40f}) {
    x.push_back(special);
  }
  std::vector<float> rounded = x;
  round_rows(*device_, rounded.data(), 1, rounded.size());
  std::vector<uint16_t> bits(x.size());
  convert(*device_, {x.data(), DType::kF32, 1, {x.size()}}, DType::kBf16, bits.data());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(bits[i], tensor::bf16_of_f32(x[i])) << i;
    EXPECT_EQ(tensor::bf16_of_f32(rounded[i]), bits[i]) << i;
  }
}

TEST_P(OpsConformance, EveryTypeConvertsFromAnyAlignment) {
  Source source(10);
  const std::vector<uint16_t> halves = source.bf16(9000);
  std::vector<char> bytes(halves.size() * 2 + 1);
  std::memcpy(bytes.data() + 1, halves.data(), halves.size() * 2);
  for (const DType type : {DType::kBf16, DType::kF16}) {
    std::vector<float> widened(halves.size());
    convert(*device_, {bytes.data() + 1, type, 1, {halves.size()}}, DType::kF32, widened.data());
    for (size_t i = 0; i < halves.size(); ++i) {
      const float expected =
          type == DType::kBf16 ? tensor::f32_of_bf16(halves[i]) : tensor::f32_of_f16(halves[i]);
      ASSERT_EQ(std::memcmp(&widened[i], &expected, sizeof(float)), 0) << i;
    }
  }
}

TEST_P(OpsConformance, EmbeddingCopiesTheRowsOfTheTokens) {
  Source source(12);
  for (const DType type : {DType::kF32, DType::kBf16}) {
    const Weights table(source, type, 11, 37);
    const std::vector<int32_t> tokens = {10, 0, 3, 3};
    std::vector<float> y(tokens.size() * 37);
    embed(*device_, table.view, tokens, y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const uint64_t at = static_cast<uint64_t>(tokens[i / 37]) * 37 + i % 37;
      EXPECT_EQ(static_cast<double>(y[i]), reference::element(table.view, at));
    }
  }
}

TEST_P(OpsConformance, ANonFiniteElementIsFoundWhereverItStands) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float bad_values[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  for (const size_t n : {1u, 16u, 100u, 5000u, 8192u}) {
    std::vector<float> x(n, 1e38f);
    std::vector<uint16_t> bits(n, tensor::bf16_of_f32(1e38f));
    EXPECT_EQ(device_->kernels().find_non_finite_f32(x.data(), n), n);
    EXPECT_EQ(device_->kernels().find_non_finite_bf16(bits.data(), n), n);
    for (const size_t at : {size_t{0}, n / 2, n - 1}) {
      for (const float bad : bad_values) {
        std::vector<float> spoilt = x;
        std::vector<uint16_t> spoilt_bits = bits;
        spoilt[at] = bad;
        spoilt_bits[at] = tensor::bf16_of_f32(bad);
        EXPECT_EQ(device_->kernels().find_non_finite_f32(spoilt.data(), n), at);
        EXPECT_EQ(device_->kernels().find_non_finite_bf16(spoilt_bits.data(), n), at);
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(device::instruction_set_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(
    Machine, OpsConformance,
    ::testing::ValuesIn(device::available_instruction_sets(device::NumericClass::kFma)), name_of);

TEST(InstructionSets, AbsentOnesAreNamed) {
  const std::vector<InstructionSet> present = device::available_instruction_sets();
  ASSERT_FALSE(present.empty());
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2,
                                   InstructionSet::kAvx512, InstructionSet::kAmx}) {
    const bool here = std::find(present.begin(), present.end(), set) != present.end();
    if (!here)
      std::printf("absent here, not tested: %s\n", device::instruction_set_name(set).data());
  }
  std::printf("seed: %llu\n", static_cast<unsigned long long>(kSeed));
}

}  // namespace
}  // namespace tessera::ops
