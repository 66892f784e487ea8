// The library of products: its face on any machine; its numbers on a card
// (TESSERA_TEST_DEVICE=cuda).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cuda/library/test_card_library.h"

namespace tessera::card {
namespace card_library_test {

const auto multiply_bf16 = TESSERA_CARD_FUNCTION(tessera_card_multiply_bf16);
const auto multiply_int8 = TESSERA_CARD_FUNCTION(tessera_card_multiply_int8);
const auto tile_for = TESSERA_CARD_FUNCTION(tessera_card_tile);
const auto tile_sizes = TESSERA_CARD_FUNCTION(tessera_card_tile_sizes);

TEST(CardLibrary, HasTheVersionOfItsFace) {
  EXPECT_EQ(TESSERA_CARD_FUNCTION(tessera_card_version)(), TESSERA_CARD_VERSION);
}

TEST(CardLibrary, RefusesProductsThatItDoesNotCompute) {
  alignas(16) uint16_t values[64] = {};
  TesseraCardProduct whole{};
  whole.x = whole.w = values;
  whole.y = values;
  whole.rows = whole.columns = 1;
  whole.k = 16;
  const auto expect_refused = [&](auto change) {
    TesseraCardProduct product = whole;
    change(product);
    EXPECT_EQ(multiply_bf16(&product, nullptr), TESSERA_CARD_BAD_PRODUCT);
  };
  expect_refused([](TesseraCardProduct& p) { p.k = 0; });
  expect_refused([](TesseraCardProduct& p) { p.k = 12; });
  expect_refused([](TesseraCardProduct& p) { p.rows = 1u << 31; });
  expect_refused([](TesseraCardProduct& p) { p.columns = 1u << 31; });
  expect_refused([](TesseraCardProduct& p) { p.x = nullptr; });
  expect_refused([](TesseraCardProduct& p) { p.w = static_cast<const char*>(p.w) + 2; });
  expect_refused([](TesseraCardProduct& p) { p.y = nullptr; });
  EXPECT_EQ(multiply_int8(&whole, nullptr), TESSERA_CARD_BAD_PRODUCT) << "no scales";
  EXPECT_EQ(multiply_bf16(nullptr, nullptr), TESSERA_CARD_BAD_PRODUCT);
  whole.rows = 0;
  EXPECT_EQ(multiply_bf16(&whole, nullptr), 0);
}

TEST(CardLibrary, SaysThatThereIsNoCard) {
  if (on_card()) GTEST_SKIP() << "there is one";
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  uint32_t tile = 0;
  EXPECT_GT(tile_for(1, 64, &tile), 0);
  EXPECT_GT(TESSERA_CARD_FUNCTION(tessera_card_load)(), 0);
}

struct Shape {
  uint32_t rows, columns, k;
};

std::string text_of(const Shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " over " +
         std::to_string(shape.k);
}

/// Odd ones, ends of tiles, and more blocks than a card has processors.
const std::vector<Shape> kShapes = {{1, 1, 16},       {3, 200, 64},     {16, 64, 80},
                                    {17, 1001, 144},  {64, 2048, 2048}, {130, 384, 1040},
                                    {300, 2051, 528}, {513, 12288, 256}};

class CardProducts : public OnCard {
 protected:
  void SetUp() override {
    OnCard::SetUp();
    TesseraCardTile sizes;
    while (on_card() && tile_sizes(tiles_ + 1, &sizes) == 0) ++tiles_;
  }

  /// y_f32 of a product, whose y it checks against; y is to be null.
  template <typename Multiply>
  std::vector<float> run(const Multiply& multiply, TesseraCardProduct product, uint32_t tile) {
    const size_t count = static_cast<size_t>(product.rows) * product.columns;
    Shared<float> y_f32(count + 1, kUntouched);
    Shared<uint16_t> y(count);
    product.tile = tile;
    product.y = y.data();
    product.y_f32 = y_f32.data();
    EXPECT_EQ(multiply(&product, queue_->stream()), 0) << "tile " << tile;
    finish();
    EXPECT_EQ(y_f32.back(), kUntouched);
    size_t different = 0;
    for (size_t i = 0; i < count; ++i) different += y[i] != narrow(y_f32[i]);
    EXPECT_EQ(different, 0u) << "tile " << tile;
    return {y_f32.begin(), y_f32.end() - 1};
  }

  /// Expects every tile, and each of some rows alone, to give the bits of the first tile.
  template <typename Multiply, typename Element>
  std::vector<float> run_all(const Multiply& multiply, const TesseraCardProduct& product,
                             const Element* x) {
    const std::vector<float> first = run(multiply, product, 1);
    for (uint32_t tile = 2; tile <= tiles_; ++tile) {
      EXPECT_TRUE(are_equal(run(multiply, product, tile), first.data())) << "tile " << tile;
    }
    EXPECT_TRUE(are_equal(run(multiply, product, 0), first.data())) << "the tile of the shape";
    for (uint32_t row = 0; row < product.rows; row += 1 + product.rows / 5) {
      TesseraCardProduct alone = product;
      alone.x = x + static_cast<size_t>(row) * product.k;
      if (alone.row_scales != nullptr) alone.row_scales += row;
      alone.rows = 1;
      const float* expected = first.data() + static_cast<size_t>(row) * product.columns;
      EXPECT_TRUE(are_equal(run(multiply, alone, 0), expected)) << "row " << row << " alone";
    }
    return first;
  }

  static bool are_equal(const std::vector<float>& values, const float* expected) {
    return std::memcmp(values.data(), expected, values.size() * sizeof(float)) == 0;
  }

  uint32_t tiles_ = 0;  // of the card
};

TEST_F(CardProducts, OfBf16AreThoseOfDoublePrecisionAndTheSameInAnyTileAndBatch) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text_of(shape));
    const auto x = random_bf16(size_t{shape.rows} * shape.k, random_);
    const auto w = random_bf16(size_t{shape.columns} * shape.k, random_);
    const auto bias = random_bf16(shape.columns, random_);
    TesseraCardProduct product{};
    product.x = x.data();
    product.w = w.data();
    product.bias = bias.data();
    product.rows = shape.rows;
    product.columns = shape.columns;
    product.k = shape.k;
    const std::vector<float> y = run_all(multiply_bf16, product, x.data());
    for (size_t i = 0; i < y.size(); i += 1 + y.size() / 5000) {
      const uint16_t* row = x.data() + i / shape.columns * shape.k;
      const uint16_t* column = w.data() + i % shape.columns * shape.k;
      double expected = widen(bias[i % shape.columns]), size = std::abs(expected);
      for (uint32_t at = 0; at < shape.k; ++at) {
        const double term = static_cast<double>(widen(row[at])) * widen(column[at]);
        expected += term;
        size += std::abs(term);
      }
      // Tensor cores cut off where a float would be rounded, at every 16 of k; one term of 2048
      // that is missing is 16 times as much.
      ASSERT_NEAR(y[i], expected, std::ldexp(size, -15)) << i;
    }
  }
}

/// An INT8 product and all that finishes it.
struct Int8Case {
  Int8Case(const Shape& shape, std::mt19937& random)
      : x(size_t{shape.rows} * shape.k),
        w(size_t{shape.columns} * shape.k),
        row_scales(shape.rows),
        column_scales(shape.columns),
        constants(shape.columns),
        bias(random_bf16(shape.columns, random)) {
    std::uniform_int_distribution<int> any(-127, 127);
    std::uniform_real_distribution<float> draw(1e-4f, 1);
    for (int8_t& value : x) value = static_cast<int8_t>(any(random));
    for (int8_t& value : w) value = static_cast<int8_t>(any(random));
    for (float& value : row_scales) value = draw(random);
    for (float& value : column_scales) value = draw(random);
    for (float& value : constants) value = draw(random);
    product.x = x.data();
    product.w = w.data();
    product.rows = shape.rows;
    product.columns = shape.columns;
    product.k = shape.k;
    product.row_scales = row_scales.data();
    product.column_scales = column_scales.data();
  }

  float expected(size_t i) const {
    const size_t row = i / product.columns, column = i % product.columns;
    int32_t sum = 0;
    for (size_t at = 0; at < product.k; ++at) {
      sum += x[row * product.k + at] * w[column * product.k + at];
    }
    const float constant = product.column_constants != nullptr ? constants[column] : 0.0f;
    const float scale = row_scales[row] * column_scales[column];
    const float value = std::fma(static_cast<float>(sum), scale, constant) + 0.0f;
    return product.bias != nullptr ? value + widen(bias[column]) : value;
  }

  Shared<int8_t> x, w;
  Shared<float> row_scales, column_scales, constants;
  Shared<uint16_t> bias;
  TesseraCardProduct product{};
};

TEST_F(CardProducts, OfInt8AreThoseOfTheProcessorBitForBit) {
  for (const Shape& shape : kShapes) {
    Int8Case all(shape, random_);
    for (const bool is_finished : {false, true}) {
      SCOPED_TRACE(text_of(shape) + (is_finished ? " with constants and bias" : ""));
      all.product.column_constants = is_finished ? all.constants.data() : nullptr;
      all.product.bias = is_finished ? all.bias.data() : nullptr;
      const std::vector<float> y = run_all(multiply_int8, all.product, all.x.data());
      for (size_t i = 0; i < y.size(); i += 1 + y.size() / 5000) {
        ASSERT_EQ(y[i], all.expected(i)) << i;
      }
    }
  }
}

TEST_F(CardProducts, AreReadAnewByEachReplayOfAGraph) {
  Int8Case all({40, 300, 512}, random_);
  Shared<float> y(size_t{40} * 300);
  all.product.y_f32 = y.data();
  device::cuda::Card& card = queue_->card();
  ASSERT_TRUE(card.begin_capture(queue_->stream()).is_ok());
  const int captured = multiply_int8(&all.product, queue_->stream());
  auto graph = card.end_capture(queue_->stream());
  ASSERT_EQ(captured, 0);
  ASSERT_TRUE(graph.is_ok()) << graph.status().message();
  for (int round = 0; round < 2; ++round) {
    for (int8_t& value : all.x) value = static_cast<int8_t>(value / 2);
    ASSERT_TRUE(card.launch(graph.value(), queue_->stream()).is_ok());
    finish();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], all.expected(i)) << i;
  }
  card.drop_graph(graph.value());
}

TEST_F(CardProducts, AreRefusedForATileThatTheCardLacks) {
  Int8Case all({4, 64, 64}, random_);
  Shared<float> y(size_t{4} * 64);
  all.product.y_f32 = y.data();
  all.product.tile = tiles_ + 1;
  EXPECT_EQ(multiply_int8(&all.product, queue_->stream()), TESSERA_CARD_BAD_TILE);
}

}  // namespace card_library_test
}  // namespace tessera::card
