// Kernels on rows, on emulated threads, against their definitions in double precision.
#include "cuda/kernels/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cuda/device/kernel.h"
#include "cuda/device/test_card.h"
#include "cuda/kernels/multiply_kernels.h"

extern "C" {
void tessera_embed(const uint16_t* const*, uint32_t, float*);
void tessera_add_rms_norm(const uint16_t*, const uint16_t*, uint32_t, float, float*, uint16_t*,
                          float*);
void tessera_silu_mul(const uint16_t*, uint32_t, uint16_t*);
void tessera_place_heads(tessera::ops::cuda::Heads);
void tessera_log_sum_exp(const float*, uint32_t, float*);
void tessera_multiply(tessera::ops::cuda::Product);
}

namespace tessera::ops::cuda {
namespace row_kernels_test {

using device::cuda::Shared;
using tessera::cuda::narrow;
using tessera::cuda::widen;

constexpr double kBf16 = 1.0 / 256;  // relative, of one rounding

Shared<uint16_t> random_values(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-2, 2);
  Shared<uint16_t> values(count);
  for (uint16_t& value : values) value = narrow(draw(random));
  return values;
}

simt::Launch rows_of(uint32_t rows) {
  return {.grid = {rows, 1, 1}, .block = {kRowThreads, 1, 1}, .seed = 3};
}

TEST(RowKernels, EmbeddingRowsAreThoseOfTheTable) {
  std::mt19937 random(1);
  const Shared<uint16_t> table = random_values(5 * 300, random);
  const Shared<const uint16_t*> from = {table.data() + 4 * 300, table.data(), nullptr};
  Shared<float> hidden(3 * 300, 1.0f);
  TESSERA_LAUNCH(tessera_embed, rows_of(3), from.data(), 300, hidden.data());
  for (size_t i = 0; i < hidden.size(); ++i) {
    const uint16_t* row = from[i / 300];
    ASSERT_EQ(hidden[i], row == nullptr ? 0.0f : widen(row[i % 300]));
  }
}

TEST(RowKernels, NormOfTheSumIsThatOfDoublePrecision) {
  std::mt19937 random(2);
  constexpr uint32_t kSize = 2312;  // more than all threads take at once
  const Shared<uint16_t> added = random_values(2 * kSize, random);
  const Shared<uint16_t> weight = random_values(kSize, random);
  Shared<float> hidden;
  for (const uint16_t value : random_values(2 * kSize, random)) hidden.push_back(widen(value));
  const Shared<float> before = hidden;
  Shared<uint16_t> normed(2 * kSize);
  Shared<float> exact(2 * kSize);
  for (const uint16_t* addend : {added.data(), static_cast<const uint16_t*>(nullptr)}) {
    hidden = before;
    TESSERA_LAUNCH(tessera_add_rms_norm, rows_of(2), addend, weight.data(), kSize, 1e-6f,
                   hidden.data(), normed.data(), exact.data());
    for (size_t row = 0; row < 2; ++row) {
      double squares = 0;
      std::vector<double> sums;
      for (size_t i = row * kSize; i < (row + 1) * kSize; ++i) {
        sums.push_back(double{before[i]} + (addend == nullptr ? 0.0 : widen(added[i])));
        squares += sums.back() * sums.back();
        ASSERT_EQ(hidden[i], static_cast<float>(sums.back()));
      }
      for (size_t i = 0; i < kSize; ++i) {
        const double expected = widen(weight[i]) * sums[i] / std::sqrt(squares / kSize + 1e-6);
        ASSERT_NEAR(exact[row * kSize + i], expected, std::abs(expected) * 1e-5 + 1e-6);
        ASSERT_EQ(normed[row * kSize + i], narrow(exact[row * kSize + i]));
      }
    }
  }
}

TEST(RowKernels, GatedValuesAreThoseOfDoublePrecision) {
  std::mt19937 random(3);
  constexpr uint32_t kSize = 2312;
  const Shared<uint16_t> gate_up = random_values(2 * 2 * kSize, random);
  Shared<uint16_t> gated(2 * kSize);
  TESSERA_LAUNCH(tessera_silu_mul, rows_of(2), gate_up.data(), kSize, gated.data());
  for (size_t i = 0; i < gated.size(); ++i) {
    const size_t at = i / kSize * 2 * kSize + i % kSize;
    const double gate = widen(gate_up[at]);
    const double expected = gate / (1 + std::exp(-gate)) * widen(gate_up[at + kSize]);
    ASSERT_NEAR(widen(gated[i]), expected, std::abs(expected) * kBf16 + 1e-6);
  }
}

TEST(RowKernels, HeadsAreNormedTurnedAndPlaced) {
  constexpr uint32_t kRows = 2, kHeads = 4, kKvHeads = 2;
  for (const uint32_t head_dim : {64u, 128u}) {
    std::mt19937 random(head_dim);
    const uint32_t all = kHeads + 2 * kKvHeads, half = head_dim / 2;
    const Shared<uint16_t> projected = random_values(size_t{kRows} * all * head_dim, random);
    const Shared<uint16_t> q_norm = random_values(head_dim, random);
    const Shared<uint32_t> positions = {3, 0};
    Shared<float> cosines, sines;
    for (uint32_t position = 0; position < 4; ++position) {
      for (uint32_t i = 0; i < half; ++i) {
        const double angle = position * std::pow(10000.0, -2.0 * i / head_dim);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    const size_t kv_elements = size_t{kKvHeads} * head_dim;
    Shared<uint16_t> q(size_t{kRows} * kHeads * head_dim), keys(kRows * kv_elements),
        values(kRows * kv_elements);
    Shared<Place> places;
    for (uint32_t row = 0; row < kRows; ++row) {
      places.push_back(
          {keys.data() + row * kv_elements, values.data() + row * kv_elements, 0, head_dim});
    }
    Heads heads;
    heads.heads = kHeads;
    heads.kv_heads = kKvHeads;
    heads.head_dim = head_dim;
    heads.epsilon = 1e-6f;
    heads.q_norm = q_norm.data();
    heads.cosines = cosines.data();
    heads.sines = sines.data();
    heads.projected = projected.data();
    heads.positions = positions.data();
    heads.places = places.data();
    heads.q = q.data();
    const simt::Launch shape{.grid = {kRows, device::cuda::ceil_of(all, kHeadsAtOnce), 1},
                             .block = {32, kHeadsAtOnce, 1}};
    TESSERA_LAUNCH(tessera_place_heads, shape, heads);

    for (uint32_t row = 0; row < kRows; ++row) {
      for (uint32_t head = 0; head < all; ++head) {
        std::vector<double> expected;
        for (uint32_t i = 0; i < head_dim; ++i) {
          expected.push_back(widen(projected[(size_t{row} * all + head) * head_dim + i]));
        }
        double squares = 0;
        for (const double value : expected) squares += value * value;
        for (uint32_t i = 0; i < head_dim && head < kHeads; ++i) {
          expected[i] *= widen(q_norm[i]) / std::sqrt(squares / head_dim + 1e-6);
        }
        for (uint32_t i = 0; i < half && head < kHeads + kKvHeads; ++i) {
          const double angle = positions[row] * std::pow(10000.0, -2.0 * i / head_dim);
          const double low = expected[i], high = expected[i + half];
          expected[i] = low * std::cos(angle) - high * std::sin(angle);
          expected[i + half] = high * std::cos(angle) + low * std::sin(angle);
        }
        const uint16_t* placed =
            head < kHeads ? q.data() + (size_t{row} * kHeads + head) * head_dim
            : head < kHeads + kKvHeads
                ? keys.data() + row * kv_elements + (head - kHeads) * head_dim
                : values.data() + row * kv_elements + (head - kHeads - kKvHeads) * head_dim;
        for (uint32_t i = 0; i < head_dim; ++i) {
          ASSERT_NEAR(widen(placed[i]), expected[i], std::abs(expected[i]) * kBf16 + 1e-5)
              << row << ", " << head << ", " << i;
        }
      }
    }
  }
}

TEST(RowKernels, LogSumExpIsThatOfDoublePrecision) {
  constexpr uint32_t kSize = 700;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> draw(-30, 30);
  Shared<float> logits(3 * kSize, -std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < 2 * kSize; ++i) logits[i] = draw(random);
  logits[kSize + 7] = std::nanf("");
  Shared<float> result(3);
  TESSERA_LAUNCH(tessera_log_sum_exp, rows_of(3), logits.data(), kSize, result.data());
  for (size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (size_t i = row * kSize; i < (row + 1) * kSize; ++i) {
      if (!std::isnan(logits[i])) sum += std::exp(double{logits[i]});
    }
    EXPECT_NEAR(result[row], std::log(sum), 1e-4);
  }
  EXPECT_EQ(result[2], -std::numeric_limits<float>::infinity());
}

/// Rows of x and w by number, a bias, sizes that fill no tile.
TEST(MultiplyKernel, ProductsAreThoseOfDoublePrecisionAndARowsBitsItsOwn) {
  std::mt19937 random(9);
  constexpr uint32_t kInner = 72, kColumns = 70;
  const Shared<uint16_t> x = random_values(80 * kInner, random);
  const Shared<uint16_t> w = random_values(90 * kInner, random);
  const Shared<uint16_t> bias = random_values(kColumns, random);
  Shared<uint32_t> x_rows(67);
  Shared<int32_t> w_rows(kColumns);
  for (uint32_t& row : x_rows) row = static_cast<uint32_t>(random() % 80);
  for (int32_t& row : w_rows) row = static_cast<int32_t>(random() % 90);
  const auto multiply = [&](uint32_t first, uint32_t rows) {
    Shared<uint16_t> y(size_t{rows} * kColumns);
    Shared<float> y_f32(y.size());
    Product product;
    product.x = x.data();
    product.x_rows = x_rows.data() + first;
    product.rows = rows;
    product.k = kInner;
    product.w = w.data();
    product.w_rows = w_rows.data();
    product.columns = kColumns;
    product.bias = bias.data();
    product.y = y.data();
    product.y_f32 = y_f32.data();
    const simt::Launch shape{.grid = {(kColumns + 63) / 64, (rows + 63) / 64, 1},
                             .block = {kMultiplyThreads, 1, 1}};
    TESSERA_LAUNCH(tessera_multiply, shape, product);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], narrow(y_f32[i]));
    return y_f32;
  };
  const Shared<float> all = multiply(0, 67);
  for (size_t row = 0; row < 67; ++row) {
    for (size_t column = 0; column < kColumns; ++column) {
      double sum = widen(bias[column]);
      for (size_t k = 0; k < kInner; ++k) {
        sum += double{widen(x[x_rows[row] * kInner + k])} *
               widen(w[static_cast<size_t>(w_rows[column]) * kInner + k]);
      }
      ASSERT_NEAR(all[row * kColumns + column], sum, 1e-3) << row << ", " << column;
    }
  }
  const Shared<float> alone = multiply(66, 1);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.end() - kColumns));
}

}  // namespace row_kernels_test
}  // namespace tessera::ops::cuda
