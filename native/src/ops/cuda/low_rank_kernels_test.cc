// Adapters' kernels on emulated threads, against their definitions in double precision; and what a
// row gets does not depend on who else is in the pass.
#include "ops/cuda/low_rank_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "device/cuda/kernel.h"
#include "device/cuda/test_card.h"
#include "ops/cuda/multiply_kernels.h"
#include "ops/cuda/row_kernels.h"

extern "C" {
void tessera_multiply(tessera::ops::cuda::Product);
void tessera_project(tessera::ops::cuda::Product);
void tessera_replace_embedding(const int32_t*, const tessera::ops::cuda::AdaptedRows*, uint32_t,
                               uint32_t, float*);
void tessera_replace_logits(tessera::ops::cuda::ReplacedLogits);
}

namespace tessera::ops::cuda {
namespace {

using device::cuda::Shared;
using tessera::cuda::narrow;
using tessera::cuda::widen;

constexpr uint32_t kInputs = 72, kRows = 90, kVocab = 50;
// Two matrices make the columns: the border is not that of a tile.
constexpr uint32_t kFirstColumns = 40, kColumns = 110;

Shared<uint16_t> random_values(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-1, 1);
  Shared<uint16_t> values(count);
  for (uint16_t& value : values) value = narrow(draw(random));
  return values;
}

/// Factors of both matrices, of which the second may have none, and replaced rows.
struct Adapter {
  Adapter(uint32_t first_rank, uint32_t second_rank, std::mt19937& random) {
    const uint32_t ranks[] = {first_rank, second_rank};
    const uint32_t outputs[] = {kFirstColumns, kColumns - kFirstColumns};
    for (uint32_t m = 0; m < 2; ++m) {
      a[m] = random_values(size_t{ranks[m]} * kInputs, random);
      b[m] = random_values(size_t{outputs[m]} * ranks[m], random);
      matrices.push_back({a[m].data(), b[m].data(), ranks[m]});
    }
    rows = random_values(ids.size() * kInputs, random);
  }
  AdaptedRows adapt(uint32_t first, uint32_t count) const {
    const ReplacedRows replaced{ids.data(), static_cast<uint32_t>(ids.size()), rows.data()};
    return {first, count, matrices.data(), replaced, replaced};
  }

  Shared<uint16_t> a[2], b[2], rows;
  Shared<LowRank> matrices;
  Shared<int32_t> ids = {3, 17, 49};
};

struct Pass {
  explicit Pass(uint32_t rows) : y(size_t{rows} * kColumns), inner(size_t{2} * rows * kRankMax) {}
  Shared<float> y;
  Shared<uint16_t> inner;
};

/// The product of rows with weights and terms.
Pass multiply(const uint16_t* x, uint32_t rows, const Shared<uint16_t>& w,
              const Shared<AdaptedRows>& terms, uint64_t seed) {
  Pass pass(rows);
  Product product;
  product.x = x;
  product.rows = rows;
  product.k = kInputs;
  product.w = w.data();
  product.columns = kColumns;
  product.y_f32 = pass.y.data();
  product.low_rank.terms = terms.data();
  product.low_rank.count = static_cast<uint32_t>(terms.size());
  product.low_rank.parts = {2, {0, 1, 0}, {0, kFirstColumns, kColumns, 0}};
  product.low_rank.inner = pass.inner.data();
  product.low_rank.inner_rows = rows;
  const unsigned tiles = (rows + kMultiplyTile - 1) / kMultiplyTile;
  simt::Launch shape{.grid = {kRankMax / kMultiplyTile, tiles, product.low_rank.count * 2},
                     .block = {kMultiplyThreads, 1, 1},
                     .seed = seed};
  if (!terms.empty()) TESSERA_LAUNCH(tessera_project, shape, product);
  shape.grid = {(kColumns + kMultiplyTile - 1) / kMultiplyTile, tiles, 1};
  TESSERA_LAUNCH(tessera_multiply, shape, product);
  return pass;
}

double dot(const uint16_t* one, const uint16_t* other, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += double{widen(one[i])} * widen(other[i]);
  return sum;
}

/// In double precision, but for the rounding of x A^T.
double term_of(const Adapter& adapter, const uint16_t* x, uint32_t column) {
  const uint32_t m = column < kFirstColumns ? 0 : 1;
  const uint32_t rank = adapter.matrices[m].rank;
  const uint16_t* b = adapter.b[m].data() + size_t{column - (m == 0 ? 0 : kFirstColumns)} * rank;
  double sum = 0;
  for (uint32_t r = 0; r < rank; ++r) {
    const double inner = dot(x, adapter.a[m].data() + size_t{r} * kInputs, kInputs);
    sum += widen(narrow(static_cast<float>(inner))) * widen(b[r]);
  }
  return sum;
}

TEST(LowRankKernels, TermsOfDifferentRanksAreAddedToTheirRowsAlone) {
  std::mt19937 random(1);
  const Shared<uint16_t> x = random_values(kRows * kInputs, random);
  const Shared<uint16_t> w = random_values(kColumns * kInputs, random);
  const Adapter small(8, 0, random), large(128, 40, random);
  // Rows 0..4 and 60..69 have none; the large one's rows are of two tiles; a spare term is last.
  const Shared<AdaptedRows> terms = {
      small.adapt(5, 20), large.adapt(25, 35), small.adapt(70, 20), {}};
  const Pass base = multiply(x.data(), kRows, w, {}, 2);
  const Pass mixed = multiply(x.data(), kRows, w, terms, 3);
  for (uint32_t row = 0; row < kRows; ++row) {
    const bool is_small = (row >= 5 && row < 25) || row >= 70;
    const bool is_large = row >= 25 && row < 60;
    const uint16_t* own = x.data() + size_t{row} * kInputs;
    for (uint32_t column = 0; column < kColumns; ++column) {
      const float got = mixed.y[size_t{row} * kColumns + column];
      const float without = base.y[size_t{row} * kColumns + column];
      const bool is_touched = is_large || (is_small && column < kFirstColumns);
      if (!is_touched) {
        ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(without));
        continue;
      }
      const double expected = dot(own, w.data() + size_t{column} * kInputs, kInputs) +
                              term_of(is_large ? large : small, own, column);
      // A rounding of the inner product may fall to the other side: 2^-8 of a product.
      ASSERT_NEAR(got, expected, 0.05 + 1e-3 * std::abs(expected)) << row << ' ' << column;
    }
  }
  // Alone, at another place of a tile, the rows of each adapter have the same bits.
  for (const auto& [adapter, first, count] :
       {std::tuple(&small, 5u, 20u), std::tuple(&large, 25u, 35u)}) {
    const Pass alone =
        multiply(x.data() + size_t{first} * kInputs, count, w, {adapter->adapt(0, count)}, 4);
    for (size_t i = 0; i < alone.y.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(alone.y[i]),
                std::bit_cast<uint32_t>(mixed.y[size_t{first} * kColumns + i]));
    }
  }
}

TEST(LowRankKernels, ReplacedRowsOfTheEmbeddingAreTakenByTheirRequestsAlone) {
  std::mt19937 random(5);
  const Adapter one(8, 8, random), other(8, 8, random);
  const Shared<int32_t> tokens = {3, 3, 3, 4, 49, 17};
  const Shared<AdaptedRows> terms = {one.adapt(1, 1), other.adapt(2, 3)};
  Shared<float> hidden(tokens.size() * kInputs, 7.0f);
  const simt::Launch shape{.grid = {static_cast<unsigned>(tokens.size()), 1, 1},
                           .block = {kRowThreads, 1, 1}};
  TESSERA_LAUNCH(tessera_replace_embedding, shape, tokens.data(), terms.data(), 2, kInputs,
                 hidden.data());
  for (uint32_t i = 0; i < kInputs; ++i) {
    EXPECT_EQ(hidden[i], 7.0f);
    EXPECT_EQ(hidden[kInputs + i], widen(one.rows[i]));
    EXPECT_EQ(hidden[2 * kInputs + i], widen(other.rows[i]));
    EXPECT_EQ(hidden[3 * kInputs + i], 7.0f);
    EXPECT_EQ(hidden[4 * kInputs + i], widen(other.rows[2 * kInputs + i]));
    EXPECT_EQ(hidden[5 * kInputs + i], 7.0f);
  }
}

TEST(LowRankKernels, ReplacedRowsOfTheHeadGiveTheLogitsOfTheirRequestsAlone) {
  std::mt19937 random(6);
  const Adapter adapter(8, 8, random);
  const Shared<uint16_t> x = random_values(4 * kInputs, random);
  const Shared<AdaptedRows> terms = {adapter.adapt(2, 2)};
  const Shared<uint32_t> x_rows = {3, 0, 2};
  const Shared<int32_t> some = {17, 5, 49, 17};
  for (const Shared<int32_t>* ids : {&some, static_cast<const Shared<int32_t>*>(nullptr)}) {
    const uint32_t columns = ids != nullptr ? 4 : kVocab;
    Shared<float> y(3 * columns, 7.0f);
    ReplacedLogits logits;
    logits.terms = terms.data();
    logits.count = 1;
    logits.x = x.data();
    logits.x_rows = x_rows.data();
    logits.k = kInputs;
    logits.ids = ids != nullptr ? ids->data() : nullptr;
    logits.columns = columns;
    logits.y = y.data();
    const simt::Launch shape{.grid = {1, 3, 1}, .block = {kRowThreads, 1, 1}, .seed = 7};
    TESSERA_LAUNCH(tessera_replace_logits, shape, logits);
    for (uint32_t row = 0; row < 3; ++row) {
      for (uint32_t column = 0; column < columns; ++column) {
        const int32_t id = ids != nullptr ? (*ids)[column] : static_cast<int32_t>(column);
        const auto found = std::find(adapter.ids.begin(), adapter.ids.end(), id);
        double expected = 7;
        if (found != adapter.ids.end() && x_rows[row] >= 2) {
          expected =
              dot(x.data() + size_t{x_rows[row]} * kInputs,
                  adapter.rows.data() + static_cast<size_t>(found - adapter.ids.begin()) * kInputs,
                  kInputs);
        }
        ASSERT_NEAR(y[row * columns + column], expected, 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::ops::cuda
