// One suite for every instruction set of the machine: each operation against its twin in double
// precision, and every set bit for bit against the portable one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ops/convert.h"
#include "ops/embed.h"
#include "ops/layer_norm.h"
#include "ops/reference/reference.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "ops/test_matrix.h"

namespace tessera::ops {
namespace ops_conformance_test {

using device::InstructionSet;
using tensor::DType;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

class OpsConformance : public ::testing::TestWithParam<InstructionSet> {
 protected:
  std::unique_ptr<device::Device> device_ = open(GetParam());
  std::unique_ptr<device::Device> portable_ = open(InstructionSet::kPortable);
};

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

TEST_P(OpsConformance, NormalisedRowsAreWrittenAsTheNextOperand) {
  const uint64_t rows = 70, n = 513;
  Source source(15);
  const std::vector<float> x = source.floats(rows * n), weight = source.floats(n);
  std::vector<float> expected(rows * n), y(rows * n);
  rms_norm(*device_, x.data(), rows, n, weight.data(), 1e-6f, expected.data());
  for (const device::PanelType type : {device::PanelType::kF32, device::PanelType::kBf16}) {
    const uint64_t bytes = operand_bytes(*device_, type, rows, n);
    device::Buffer found = std::move(device_->allocate(bytes)).value();
    device::Buffer written = std::move(device_->allocate(bytes)).value();
    rms_norm(*device_, x.data(), weight.data(), 1e-6f, y.data(),
             {type, found.data(), nullptr, rows, n});
    write_operand(*device_, expected.data(), n, {type, written.data(), nullptr, rows, n});
    EXPECT_TRUE(same_bits(y, expected));
    EXPECT_EQ(std::memcmp(found.data(), written.data(), bytes), 0);
  }
}

TEST_P(OpsConformance, LayerNormAgreesWithDoublePrecisionAndBitForBitWithPortable) {
  for (const uint64_t n : {1u, 15u, 16u, 17u, 64u, 100u, 1023u}) {
    Source source(n);
    const uint64_t rows = 5;
    std::vector<float> x = source.floats(rows * n, 3.0f);
    for (float& value : x) value += 7.0f;  // far from 0: the mean has to go before the squares
    const std::vector<float> weight = source.floats(n), bias = source.floats(n);
    for (const float* added : {bias.data(), static_cast<const float*>(nullptr)}) {
      const LayerNorm norm{weight.data(), added, 1e-6f};
      std::vector<float> y(rows * n), y_portable(rows * n);
      layer_norm(*device_, x.data(), rows, n, norm, y.data());
      layer_norm(*portable_, x.data(), rows, n, norm, y_portable.data());
      EXPECT_TRUE(same_bits(y, y_portable));
      const std::vector<double> expected =
          reference::layer_norm(x.data(), rows, n, weight.data(), added, 1e-6f);
      for (size_t i = 0; n > 1 && i < y.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i],
                    kEpsilon * 64 * (std::abs(expected[i]) + 1));
      }
    }
  }
}

TEST_P(OpsConformance, LayerNormsRowsAreWrittenAsTheNextOperand) {
  const uint64_t rows = 70, n = 513;
  Source source(16);
  const std::vector<float> x = source.floats(rows * n), weight = source.floats(n);
  const LayerNorm norm{weight.data(), weight.data(), 1e-6f};
  std::vector<float> expected(rows * n), y(rows * n);
  layer_norm(*device_, x.data(), rows, n, norm, expected.data());
  for (const device::PanelType type : {device::PanelType::kF32, device::PanelType::kBf16}) {
    const uint64_t bytes = operand_bytes(*device_, type, rows, n);
    device::Buffer found = std::move(device_->allocate(bytes)).value();
    device::Buffer written = std::move(device_->allocate(bytes)).value();
    layer_norm(*device_, x.data(), norm, y.data(), {type, found.data(), nullptr, rows, n});
    write_operand(*device_, expected.data(), n, {type, written.data(), nullptr, rows, n});
    EXPECT_TRUE(same_bits(y, expected));
    EXPECT_EQ(std::memcmp(found.data(), written.data(), bytes), 0);
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
    fill_rope_table(frequencies, 1, positions, cos.data(), sin.data());
    const std::vector<uint32_t> at = {0, 1, 39, 17};
    const std::vector<float> x = source.floats(at.size() * heads * head_dim);
    std::vector<float> y = x, y_portable = x;
    const RopeTable table{cos.data(), sin.data(), frequencies.size(), positions};
    const RopeRows rows{y.data(), heads}, rows_portable{y_portable.data(), heads};
    rope(*device_, {&rows, 1}, at, head_dim, 1e-6f, table);
    rope(*portable_, {&rows_portable, 1}, at, head_dim, 1e-6f, table);
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

TEST_P(OpsConformance, HeadsAreNormalisedRotatedAndRoundedInOnePass) {
  const uint64_t head_dim = 20, heads = 3, kv_heads = 1, rows = 300;
  Source source(14);
  const std::vector<float> norm = source.floats(head_dim), cos = source.floats(50 * 10);
  const std::vector<float> sin = source.floats(50 * 10), q = source.floats(rows * heads * head_dim);
  const std::vector<float> k = source.floats(rows * kv_heads * head_dim);
  std::vector<uint32_t> positions;
  for (uint64_t i = 0; i < rows; ++i) positions.push_back(static_cast<uint32_t>(i * 7 % 50));
  std::vector<float> q_out = q, k_out = k;
  const RopeRows parts[] = {{q_out.data(), heads, norm.data(), true}, {k_out.data(), kv_heads}};
  const std::unique_ptr<device::Device> threaded = open(GetParam(), 3);
  rope(*threaded, parts, positions, head_dim, 1e-6f, {cos.data(), sin.data(), 10, 50});
  const device::KernelTable& kernels = device_->kernels();
  const auto expect = [&](std::vector<float> x, uint64_t per_row, bool is_q, const auto& out) {
    for (uint64_t i = 0; i < rows * per_row; ++i) {
      float* head = x.data() + i * head_dim;
      const uint64_t at = positions[i / per_row] * head_dim / 2;
      if (is_q) kernels.rms_norm(head, norm.data(), head_dim, 1e-6f, head);
      kernels.rope(head, cos.data() + at, sin.data() + at, head_dim / 2);
      if (is_q) kernels.round_bf16(head, head_dim);
    }
    EXPECT_TRUE(same_bits(x, out));
  };
  expect(q, heads, true, q_out);
  expect(k, kv_heads, false, k_out);
}

TEST_P(OpsConformance, NumbersBehindTheRotatedOnesOfAHeadAreNormalisedAlone) {
  const uint64_t head_dim = 24, pairs = 3, heads = 2, positions = 40;
  Source source(15);
  const std::vector<float> frequencies = {1.0f, 0.3f, 0.02f}, norm = source.floats(head_dim);
  std::vector<float> cos(positions * pairs), sin(positions * pairs);
  fill_rope_table(frequencies, 1.25, positions, cos.data(), sin.data());
  const std::vector<uint32_t> at = {0, 39, 17};
  const std::vector<float> x = source.floats(at.size() * heads * head_dim);
  std::vector<float> y = x, normed = x;
  const RopeRows rows{y.data(), heads, norm.data()};
  rope(*device_, {&rows, 1}, at, head_dim, 1e-6f, {cos.data(), sin.data(), pairs, positions});
  for (uint64_t row = 0; row < at.size() * heads; ++row) {
    float* head = normed.data() + row * head_dim;
    device_->kernels().rms_norm(head, norm.data(), head_dim, 1e-6f, head);
    const std::vector<double> rotated =
        reference::rope(head, 2 * pairs, at[row / heads], frequencies);
    for (uint64_t i = 0; i < head_dim; ++i) {
      const float got = y[row * head_dim + i];
      if (i < 2 * pairs) {
        ASSERT_NEAR(static_cast<double>(got), 1.25 * rotated[i], kEpsilon * 16);
      } else {
        ASSERT_EQ(got, head[i]);
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
  device_->kernels().silu_mul(gate.data(), up.data(), gate.size(), y.data());
  portable_->kernels().silu_mul(gate.data(), up.data(), gate.size(), y_portable.data());
  EXPECT_TRUE(same_bits(y, y_portable));
  const std::vector<double> expected = reference::silu_mul(gate.data(), up.data(), gate.size());
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(y[i]), expected[i],
                8 * kEpsilon * std::abs(expected[i]) + 1e-30)
        << gate[i];
  }
}

TEST_P(OpsConformance, GeluAndTanhAgreeWithDoublePrecisionOverTheWholeRange) {
  std::vector<float> x;
  for (float value = -30.0f; value <= 30.0f; value += 0.00390625f) x.push_back(value);
  Source source(8);
  const std::vector<float> up = source.floats(x.size());
  std::vector<float> y(x.size()), gated(x.size()), bent = x, y_portable(x.size());
  device_->kernels().gelu(x.data(), x.size(), y.data());
  device_->kernels().gelu_mul(x.data(), up.data(), x.size(), gated.data());
  device_->kernels().tanh(bent.data(), bent.size());
  portable_->kernels().gelu(x.data(), x.size(), y_portable.data());
  EXPECT_TRUE(same_bits(y, y_portable));
  portable_->kernels().gelu_mul(x.data(), up.data(), x.size(), y_portable.data());
  EXPECT_TRUE(same_bits(gated, y_portable));
  y_portable = x;
  portable_->kernels().tanh(y_portable.data(), x.size());
  EXPECT_TRUE(same_bits(bent, y_portable));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<double>(x[i]);
    const double tolerance = 8 * kEpsilon * std::abs(value) + 1e-30;
    ASSERT_NEAR(static_cast<double>(y[i]), reference::gelu(value), tolerance) << value;
    ASSERT_EQ(gated[i], y[i] * up[i]);
    ASSERT_NEAR(static_cast<double>(bent[i]), std::tanh(value), 4 * kEpsilon) << value;
  }
}

TEST_P(OpsConformance, GeluKeepsNan) {
  float x = std::numeric_limits<float>::quiet_NaN();
  device_->kernels().gelu(&x, 1, &x);
  EXPECT_TRUE(std::isnan(x));
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

TEST_P(OpsConformance, ElementwiseOperationsTouchEveryElementAndNoOther) {
  for (const uint64_t n : {1u, 15u, 16u, 17u, 33u, 100u}) {
    Source source(n);
    const std::vector<float> x = source.floats(n), start = source.floats(n + 4);
    std::vector<float> y = start;
    device_->kernels().add(x.data(), n, y.data());
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

TEST_P(OpsConformance, RoundingAndNarrowingToBf16MatchTheScalarConversion) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  Source source(9);
  std::vector<float> x = source.floats(1003, 100.0f);
  for (const float special : {nan, infinity, -infinity, 0.0f, -0.0f, 3.4e38f, 1e-40f}) {
    x.push_back(special);
  }
  std::vector<float> rounded = x;
  device_->kernels().round_bf16(rounded.data(), rounded.size());
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

TEST_P(OpsConformance, EmbeddingCopiesTheRowsOfTheTokensPackedOrNot) {
  Source source(12);
  for (const device::PanelType type : kTypes) {
    const Matrix table(*device_, source, type, 71, 37);
    const std::vector<int32_t> tokens = {10, 0, 3, 3, 70, 33};
    std::vector<float> y(tokens.size() * 37), from_panels(y.size());
    embed(*device_, table.view, tokens, y.data());
    embed(*device_, table.packed, tokens, from_panels.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const uint64_t at = static_cast<uint64_t>(tokens[i / 37]) * 37 + i % 37;
      EXPECT_EQ(static_cast<double>(y[i]), reference::element(table.view, at));
    }
    EXPECT_TRUE(same_bits(y, from_panels));
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

TEST_P(OpsConformance, WeightsRoundedWhileTheyAreSummedAreThoseRoundedAfterwards) {
  const device::KernelTable& kernels = device_->kernels();
  for (const size_t n : {0u, 1u, 15u, 16u, 17u, 31u, 32u, 33u, 100u, 256u}) {
    Source source(n + 1);
    const std::vector<float> scores = source.floats(n);
    const float highest = n == 0 ? 0.0f : kernels.maximum(scores.data(), n);
    std::vector<float> summed = scores, rounded = scores;
    const float total = kernels.exp_sum(summed.data(), n, 0.7f, highest);
    kernels.round_bf16(summed.data(), n);
    EXPECT_EQ(kernels.exp_sum_rounded(rounded.data(), n, 0.7f, highest), total);
    EXPECT_TRUE(same_bits(rounded, summed));
    const size_t filled = (n + 31) / 32 * 32 + 32, stride = 192;
    std::vector<uint16_t> row(filled / 32 * stride / 2, 7);
    EXPECT_EQ(kernels.exp_sum_bf16(scores.data(), n, 0.7f, highest, filled,
                                   reinterpret_cast<char*>(row.data()), stride),
              total);
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t at = i / (stride / 2) * 32 + i % (stride / 2);
      const uint16_t wanted = at < n ? tensor::bf16_of_f32(summed[at]) : 0;
      ASSERT_EQ(row[i], i % (stride / 2) < 32 ? wanted : 7) << n << " " << i;
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
  for (const InstructionSet set :
       {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512,
        InstructionSet::kAvx512Bf16, InstructionSet::kAmx}) {
    const bool here = std::find(present.begin(), present.end(), set) != present.end();
    if (!here)
      std::printf("absent here, not tested: %s\n", device::instruction_set_name(set).data());
  }
  std::printf("seed: %llu\n", static_cast<unsigned long long>(kSeed));
}

}  // namespace ops_conformance_test
}  // namespace tessera::ops
