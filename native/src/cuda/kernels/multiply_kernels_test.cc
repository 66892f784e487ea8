// Parts of products on emulated threads: low-rank terms, columns of an overlay, INT8 sides.
#include "cuda/kernels/multiply_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "cuda/device/kernel.h"
#include "cuda/device/test_card.h"

extern "C" {
void tessera_multiply(tessera::ops::cuda::Product);
void tessera_project(const uint16_t*, uint32_t, const tessera::ops::cuda::Term*);
void tessera_quantise_rows(const uint16_t*, uint32_t, int8_t*, float*);
void tessera_multiply_i8(tessera::ops::cuda::Product, tessera::ops::cuda::Quantised);
}

namespace tessera::ops::cuda {
namespace multiply_kernels_test {

using device::cuda::Shared;
using tessera::cuda::narrow;
using tessera::cuda::widen;

constexpr uint32_t kRows = 70, kColumns = 140, kInner = 72;

Shared<uint16_t> random_values(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-2, 2);
  Shared<uint16_t> values(count);
  for (uint16_t& value : values) value = narrow(draw(random));
  return values;
}

simt::Launch tiles_of(uint32_t rows, uint32_t columns, uint32_t terms = 1) {
  return {.grid = {(columns + 63) / 64, (rows + 63) / 64, terms},
          .block = {kMultiplyThreads, 1, 1},
          .seed = 3};
}

double dot(const uint16_t* a, const uint16_t* b, uint32_t k) {
  double sum = 0;
  for (uint32_t i = 0; i < k; ++i) sum += double{widen(a[i])} * widen(b[i]);
  return sum;
}

class MultiplyKernels : public ::testing::Test {
 protected:
  Product product(uint32_t first_row, uint32_t rows) {
    y_.assign(size_t{rows} * kColumns, std::nanf(""));
    Product product;
    product.x = x_.data() + first_row * kInner;
    product.rows = rows;
    product.k = kInner;
    product.w = w_.data();
    product.columns = kColumns;
    product.y_f32 = y_.data();
    return product;
  }

  std::mt19937 random_{7};
  const Shared<uint16_t> x_ = random_values(kRows * kInner, random_);
  const Shared<uint16_t> w_ = random_values(kColumns * kInner, random_);
  Shared<float> y_;
};

TEST_F(MultiplyKernels, TermsAreAddedToTheirRowsAndColumnsAlone) {
  TESSERA_LAUNCH(tessera_multiply, tiles_of(kRows, kColumns), product(0, kRows));
  const Shared<float> plain = y_;
  constexpr uint32_t kRanks[] = {128, 8};
  const Shared<uint16_t> a[] = {random_values(128 * kInner, random_),
                                random_values(8 * kInner, random_)};
  const Shared<uint16_t> b[] = {random_values(70 * 128, random_), random_values(30 * 8, random_)};
  Shared<float> scales(30);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = 0.5f + static_cast<float>(i);
  Shared<uint16_t> inner(2 * kRows * kRankMax, 0x7FC0);
  Shared<Term> terms(2);
  // Rows and columns that begin and end within tiles.
  terms[0] = {5, 62, 40, 70, kRanks[0], a[0].data(), b[0].data(), nullptr, inner.data()};
  terms[1] = {3,
              30,
              110,
              30,
              kRanks[1],
              a[1].data(),
              b[1].data(),
              scales.data(),
              inner.data() + kRows * kRankMax};
  TESSERA_LAUNCH(tessera_project, tiles_of(62, kRankMax, 2), x_.data(), kInner, terms.data());
  Product with = product(0, kRows);
  with.terms = terms.data();
  with.term_count = 2;
  TESSERA_LAUNCH(tessera_multiply, tiles_of(kRows, kColumns), with);
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      const size_t at = size_t{row} * kColumns + column;
      const auto covers = [&](const Term& term) {
        return row >= term.first_row && row < term.first_row + term.rows &&
               column >= term.first_column && column < term.first_column + term.columns;
      };
      const size_t of = covers(terms[0]) ? 0 : covers(terms[1]) ? 1 : 2;
      if (of == 2) {
        ASSERT_EQ(y_[at], plain[at]) << row << ", " << column;
        continue;
      }
      const uint32_t own = column - terms[of].first_column;
      const uint16_t* projected = terms[of].inner + row * kRankMax;
      for (uint32_t i = 0; i < kRanks[of]; ++i) {
        const double exact = dot(&x_[row * kInner], &a[of][i * kInner], kInner);
        ASSERT_NEAR(widen(projected[i]), exact, std::abs(exact) / 256 + 1e-3);
      }
      const double sum = plain[at] + dot(projected, &b[of][own * kRanks[of]], kRanks[of]);
      const double expected = of == 1 ? sum * scales[own] : sum;
      ASSERT_NEAR(y_[at], expected, std::abs(expected) * 1e-4 + 2e-2) << row << ", " << column;
    }
  }
}

TEST_F(MultiplyKernels, AnOverlayHasItsPanelsInPlaceOfTheMatrix) {
  const Shared<uint16_t> own = random_values(2 * kOverlayColumns * kInner, random_);
  const Shared<uint32_t> places = {kNoPanel, 1, kNoPanel, kNoPanel, 0};
  Shared<uint16_t> joined = w_;
  joined.resize(5 * kOverlayColumns * kInner);
  for (const uint32_t panel : {1u, 4u}) {
    const auto from = own.begin() + places[panel] * kOverlayColumns * kInner;
    std::copy_n(from, kOverlayColumns * kInner, joined.begin() + panel * kOverlayColumns * kInner);
  }
  const Shared<int32_t> ids = {139, 0, 33, 31, 64, 63};
  Product expected = product(0, 3);
  expected.w = joined.data();
  expected.w_rows = ids.data();
  expected.columns = 6;
  TESSERA_LAUNCH(tessera_multiply, tiles_of(3, 6), expected);
  const Shared<float> result = y_;
  Product overlaid = product(0, 3);
  overlaid.w_rows = ids.data();
  overlaid.columns = 6;
  overlaid.overlay = {places.data(), own.data()};
  TESSERA_LAUNCH(tessera_multiply, tiles_of(3, 6), overlaid);
  EXPECT_TRUE(std::equal(y_.begin(), y_.begin() + 18, result.begin()));
}

/// Rows as INT8, and their scales.
struct Side {
  Side(const Shared<uint16_t>& from, uint32_t rows)
      : values(rows * kTiles * kQuantisedDepth), scales(rows * kTiles) {
    const simt::Launch shape{.grid = {rows, 1, 1}, .block = {kQuantiseThreads, 1, 1}, .seed = 5};
    TESSERA_LAUNCH(tessera_quantise_rows, shape, from.data(), kInner, values.data(), scales.data());
  }
  static constexpr uint32_t kTiles = 2;
  Shared<int8_t> values;
  Shared<float> scales;
};

TEST_F(MultiplyKernels, Int8SidesGiveTheExactSumsOfTilesTimesTheirScales) {
  const Side x(x_, kRows);
  Side w(w_, kColumns);
  for (float& scale : w.scales) scale /= kQuantisedDepth;  // both sides have been transformed
  const auto multiply = [&](uint32_t first, uint32_t rows) {
    const Quantised sides{x.values.data() + first * Side::kTiles * kQuantisedDepth,
                          x.scales.data() + first * Side::kTiles, w.values.data(), w.scales.data(),
                          Side::kTiles};
    TESSERA_LAUNCH(tessera_multiply_i8, tiles_of(rows, kColumns), product(first, rows), sides);
    return y_;
  };
  const Shared<float> all = multiply(0, kRows);
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      float expected = 0;
      for (uint32_t tile = 0; tile < Side::kTiles; ++tile) {
        const size_t x_at = row * Side::kTiles + tile, w_at = column * Side::kTiles + tile;
        int32_t sum = 0;
        for (uint32_t i = 0; i < kQuantisedDepth; ++i)
          sum += x.values[x_at * kQuantisedDepth + i] * w.values[w_at * kQuantisedDepth + i];
        expected = std::fma(static_cast<float>(sum), x.scales[x_at] * w.scales[w_at], expected);
      }
      const float given = all[size_t{row} * kColumns + column];
      ASSERT_EQ(given, expected) << row << ", " << column;
      ASSERT_NEAR(given, dot(&x_[row * kInner], &w_[column * kInner], kInner), 0.6);
    }
  }
  const Shared<float> alone = multiply(69, 1);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.end() - kColumns));
}

TEST_F(MultiplyKernels, ATileThatIsNotFiniteHasAScaleThatIsNone) {
  Shared<uint16_t> rows(2 * kInner, 0);
  rows[3] = 0x7FC0;
  rows[kInner - 1] = 0x7F80;
  const Side side(rows, 2);
  EXPECT_TRUE(std::isnan(side.scales[0]) && std::isnan(side.scales[1]));
  EXPECT_EQ(side.scales[2], 0.0f);
  EXPECT_EQ(side.scales[3], 0.0f);
}

}  // namespace multiply_kernels_test
}  // namespace tessera::ops::cuda
