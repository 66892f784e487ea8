// The AVX-512 kernels on SIMDe's emulation, bit for bit against the portable ones: for machines
// that lack the instructions. Where they exist, the suites of `ops` and `attention` run them.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/kernels.h"
#include "device/cpu/panel_case.h"

namespace tessera::device::cpu {

const KernelTable& avx512_kernels_emulated();

namespace avx512_test {

constexpr uint64_t kSeed = 512;
constexpr size_t kSizes[] = {1, 7, 15, 16, 17, 31, 33, 64, 100, 257};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<uint16_t> bits_of(const std::vector<float>& values) {
  std::vector<uint16_t> bits(values.size());
  portable_kernels().narrow_bf16(values.data(), values.size(), bits.data());
  return bits;
}

/// Compares the output of `kernel` on the emulated table with the portable one, for n elements.
void expect_same(const char* name,
                 const std::function<std::vector<float>(const KernelTable&, size_t n,
                                                        std::mt19937_64& random)>& kernel) {
  for (const size_t n : kSizes) {
    std::mt19937_64 random(kSeed + n), again(kSeed + n);
    EXPECT_TRUE(same_bits(kernel(avx512_kernels_emulated(), n, random),
                          kernel(portable_kernels(), n, again)))
        << name << " of " << n;
  }
}

TEST(EmulatedAvx512, PanelProductsHaveThePortableBits) {
  for (const PanelType type : {PanelType::kF32, PanelType::kBf16}) {
    for (const PanelSizes& s : kPanelSizes) {
      for (const bool accumulate : {false, true}) {
        std::mt19937_64 random(kSeed);
        const std::vector<float> w = random_floats(random, s.columns * s.k);
        AlignedBytes panels(panel_count(s.columns) * panel_bytes(type, s.k));
        if (type == PanelType::kF32) {
          fill_panels(type, w, s.columns, s.k, panels.data());
        } else {
          fill_panels(type, bits_of(w), s.columns, s.k, panels.data());
        }
        const std::vector<float> x = random_floats(random, s.rows * s.k);
        const std::vector<float> start = random_floats(random, s.rows * (s.columns + 3));
        std::vector<float> results[2] = {start, start};
        const KernelTable* tables[] = {&avx512_kernels_emulated(), &portable_kernels()};
        for (size_t i = 0; i < 2; ++i) {
          const PanelKernels& kernels = tables[i]->panel(type);
          PanelProduct p;
          p.x_row_bytes = kernels.operand_row_bytes(s.k);
          const AlignedBytes operand(s.rows * p.x_row_bytes);
          kernels.write_operand(x.data(), s.k, 0, s.rows, s.k, const_cast<char*>(operand.data()),
                                nullptr);
          p.x = operand.data();
          p.rows = s.rows;
          p.k = s.k;
          p.panels = panels.data();
          p.panel_stride = panel_bytes(type, s.k);
          p.columns = s.columns;
          p.y = results[i].data();
          p.y_stride = s.columns + 3;
          p.accumulate = accumulate;
          kernels.multiply(p);
        }
        EXPECT_TRUE(same_bits(results[0], results[1])) << s.rows << "x" << s.columns << "x" << s.k;
      }
    }
  }
}

TEST(EmulatedAvx512, DotProductsHaveThePortableBits) {
  constexpr size_t kM = 9, kN = 6;
  for (const bool is_bf16 : {false, true}) {
    expect_same("dot_rows", [&](const KernelTable& table, size_t n, std::mt19937_64& random) {
      const std::vector<float> x = random_floats(random, kM * n);
      const std::vector<float> w = random_floats(random, kN * n);
      const std::vector<uint16_t> halves = bits_of(w);
      const float* x_rows[kM];
      const void* w_rows[kN];
      for (size_t i = 0; i < kM; ++i) x_rows[i] = x.data() + i * n;
      for (size_t j = 0; j < kN; ++j) {
        w_rows[j] = is_bf16 ? static_cast<const void*>(halves.data() + j * n) : w.data() + j * n;
      }
      std::vector<float> y(kM * kN);
      const auto dot_rows = is_bf16 ? table.dot_rows_bf16 : table.dot_rows_f32;
      dot_rows(x_rows, kM, w_rows, kN, n, y.data(), kN);
      return y;
    });
  }
}

TEST(EmulatedAvx512, KernelsOverRowsHaveThePortableBits) {
  expect_same("rms_norm", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> x = random_floats(random, n);
    const std::vector<float> weight = random_floats(random, n);
    table.rms_norm(x.data(), weight.data(), n, 1e-6f, x.data());
    return x;
  });
  expect_same("rope", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> x = random_floats(random, 2 * n);
    const std::vector<float> cos = random_floats(random, n), sin = random_floats(random, n);
    table.rope(x.data(), cos.data(), sin.data(), n);
    return x;
  });
  expect_same("silu_mul", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> gate = random_floats(random, n);
    const std::vector<float> up = random_floats(random, n);
    for (float& value : gate) value *= 40.0f;
    table.silu_mul(gate.data(), up.data(), n, gate.data());
    return gate;
  });
  expect_same("layer_norm", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> x = random_floats(random, n);
    const std::vector<float> weight = random_floats(random, n), bias = random_floats(random, n);
    table.layer_norm(x.data(), weight.data(), bias.data(), n, 1e-6f, x.data());
    return x;
  });
  expect_same("gelu_mul", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> gate = random_floats(random, n), x = gate;
    const std::vector<float> up = random_floats(random, n);
    table.gelu_mul(gate.data(), up.data(), n, gate.data());
    table.gelu(x.data(), n, x.data());
    table.tanh(x.data(), n);
    gate.insert(gate.end(), x.begin(), x.end());
    return gate;
  });
  expect_same("exp_sum", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> x = random_floats(random, n);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> finite(x.begin() + 1, x.end());
    const float shift = finite.empty() ? 0.0f : table.maximum(finite.data(), finite.size());
    finite.push_back(table.exp_sum(finite.data(), finite.size(), 30.0f, shift));
    table.exp_sum(x.data(), n, 1.0f, 0.5f);
    EXPECT_NE(x[0], x[0]);
    x[0] = 0;
    finite.insert(finite.end(), x.begin(), x.end());
    return finite;
  });
  expect_same("add and scale", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    const std::vector<float> x = random_floats(random, n);
    std::vector<float> y = random_floats(random, n + 5);
    table.add(x.data(), n, y.data());
    table.scale(y.data(), n, 0.3f);
    return y;
  });
}

TEST(EmulatedAvx512, WeightedSumsHaveThePortableBits) {
  for (const bool is_bf16 : {false, true}) {
    expect_same("weighted_sum", [&](const KernelTable& table, size_t n, std::mt19937_64& random) {
      std::vector<float> y = random_floats(random, n + 3);
      const std::vector<float> a = random_floats(random, n), b = random_floats(random, n);
      const std::vector<uint16_t> a_bits = bits_of(a), b_bits = bits_of(b);
      const void* rows[] = {a.data(), b.data()};
      const void* bit_rows[] = {a_bits.data(), b_bits.data()};
      const float weights[] = {1.5f, -0.3f};
      const auto weighted_sum = is_bf16 ? table.weighted_sum_bf16 : table.weighted_sum_f32;
      weighted_sum(y.data(), 0.7f, is_bf16 ? bit_rows : rows, weights, 2, n, 0.9f, y.data());
      return y;
    });
  }
}

TEST(EmulatedAvx512, ConversionsHaveThePortableBits) {
  expect_same("bf16", [](const KernelTable& table, size_t n, std::mt19937_64& random) {
    std::vector<float> x = random_floats(random, n), wide(n);
    x[n / 2] = std::numeric_limits<float>::infinity();
    std::vector<uint16_t> bits(n);
    table.narrow_bf16(x.data(), n, bits.data());
    table.widen_bf16(bits.data(), n, wide.data());
    EXPECT_EQ(table.find_non_finite_f32(x.data(), n), n / 2);
    EXPECT_EQ(table.find_non_finite_bf16(bits.data(), n), n / 2);
    table.round_bf16(x.data(), n);
    wide.insert(wide.end(), x.begin(), x.end());
    return wide;
  });
}

}  // namespace avx512_test
}  // namespace tessera::device::cpu
