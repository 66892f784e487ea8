// The library of products: its face on any machine; its numbers on a card
// (TESSERA_TEST_DEVICE=cuda).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/library/test_card_library.h"

namespace tessera::card {
namespace card_library_test {

const auto multiply = TESSERA_CARD_FUNCTION(tessera_card_multiply);
const auto tile_for = TESSERA_CARD_FUNCTION(tessera_card_tile);
const auto tile_sizes = TESSERA_CARD_FUNCTION(tessera_card_tile_sizes);

TEST(CardLibrary, HasTheVersionOfItsFace) {
  EXPECT_EQ(TESSERA_CARD_FUNCTION(tessera_card_version)(), TESSERA_CARD_VERSION);
}

TEST(CardLibrary, ShowsItsFaceAlone) {
  for (const char* inner : {"cudaGetDevice", "tessera_image_rows", "_ZNKSt5ctypeIcE8do_widenEc"}) {
    EXPECT_THROW(find<void()>(inner), std::runtime_error) << inner;
  }
}

/// The first words of a fat binary.
struct FatBinary {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // after the header
};

TEST(CardLibrary, HasTheKernelsOfTheEngine) {
  const void* const* image = TESSERA_CARD_FUNCTION(tessera_card_images)();
  uint32_t count = 0;
  for (; *image != nullptr; ++image, ++count) {
    FatBinary start;
    std::memcpy(&start, *image, sizeof(start));
    ASSERT_EQ(start.magic, 0xBA55ED50u) << count;
    const std::string_view all(static_cast<const char*>(*image), start.header_bytes + start.bytes);
    EXPECT_NE(all.find("tessera_"), std::string_view::npos) << count;
  }
  EXPECT_EQ(count, TESSERA_CARD_IMAGES);
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
    EXPECT_EQ(multiply(&product, nullptr), TESSERA_CARD_BAD_PRODUCT);
  };
  expect_refused([](TesseraCardProduct& p) { p.k = 0; });
  expect_refused([](TesseraCardProduct& p) { p.k = 12; });
  expect_refused([](TesseraCardProduct& p) { p.rows = 1u << 31; });
  expect_refused([](TesseraCardProduct& p) { p.columns = 1u << 31; });
  expect_refused([](TesseraCardProduct& p) { p.x = nullptr; });
  expect_refused([](TesseraCardProduct& p) { ++p.w; });
  expect_refused([](TesseraCardProduct& p) { p.y = nullptr; });
  EXPECT_EQ(multiply(nullptr, nullptr), TESSERA_CARD_BAD_PRODUCT);
  whole.rows = 0;
  EXPECT_EQ(multiply(&whole, nullptr), 0);
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
  std::vector<float> run(TesseraCardProduct product, uint32_t tile) {
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
  std::vector<float> run_all(const TesseraCardProduct& product) {
    const std::vector<float> first = run(product, 1);
    for (uint32_t tile = 2; tile <= tiles_; ++tile) {
      EXPECT_TRUE(are_equal(run(product, tile), first.data())) << "tile " << tile;
    }
    EXPECT_TRUE(are_equal(run(product, 0), first.data())) << "the tile of the shape";
    for (uint32_t row = 0; row < product.rows; row += 1 + product.rows / 5) {
      TesseraCardProduct alone = product;
      alone.x += static_cast<size_t>(row) * product.k;
      alone.rows = 1;
      const float* expected = first.data() + static_cast<size_t>(row) * product.columns;
      EXPECT_TRUE(are_equal(run(alone, 0), expected)) << "row " << row << " alone";
    }
    return first;
  }

  static bool are_equal(const std::vector<float>& values, const float* expected) {
    return std::memcmp(values.data(), expected, values.size() * sizeof(float)) == 0;
  }

  uint32_t tiles_ = 0;  // of the card
};

/// A product, and its elements in double precision.
struct Case {
  Case(const Shape& shape, std::mt19937& random)
      : x(random_bf16(size_t{shape.rows} * shape.k, random)),
        w(random_bf16(size_t{shape.columns} * shape.k, random)),
        bias(random_bf16(shape.columns, random)) {
    product.x = x.data();
    product.w = w.data();
    product.bias = bias.data();
    product.rows = shape.rows;
    product.columns = shape.columns;
    product.k = shape.k;
  }

  void expect_near(const float* y, size_t i) const {
    const uint16_t* row = product.x + i / product.columns * product.k;
    const uint16_t* column = product.w + i % product.columns * product.k;
    double expected = widen(product.bias[i % product.columns]), size = std::abs(expected);
    for (uint32_t at = 0; at < product.k; ++at) {
      const double term = static_cast<double>(widen(row[at])) * widen(column[at]);
      expected += term;
      size += std::abs(term);
    }
    // Tensor cores cut off where a float would be rounded, at every 16 of k; one term of 2048
    // that is missing is 16 times as much.
    ASSERT_NEAR(y[i], expected, std::ldexp(size, -15)) << i;
  }

  Shared<uint16_t> x, w, bias;
  TesseraCardProduct product{};
};

TEST_F(CardProducts, AreThoseOfDoublePrecisionAndTheSameInAnyTileAndBatch) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(text_of(shape));
    const Case one(shape, random_);
    const std::vector<float> y = run_all(one.product);
    for (size_t i = 0; i < y.size(); i += 1 + y.size() / 5000) one.expect_near(y.data(), i);
  }
}

TEST_F(CardProducts, AreReadAnewByEachReplayOfAGraph) {
  Case one({40, 300, 512}, random_);
  Shared<float> y(size_t{40} * 300);
  one.product.y_f32 = y.data();
  device::cuda::Card& card = queue_->card();
  ASSERT_TRUE(card.begin_capture(queue_->stream()).is_ok());
  const int captured = multiply(&one.product, queue_->stream());
  auto graph = card.end_capture(queue_->stream());
  ASSERT_EQ(captured, 0);
  ASSERT_TRUE(graph.is_ok()) << graph.status().message();
  for (int round = 0; round < 2; ++round) {
    for (uint16_t& value : one.x) value = narrow(widen(value) / 2 + 1);
    ASSERT_TRUE(card.launch(graph.value(), queue_->stream()).is_ok());
    finish();
    for (size_t i = 0; i < y.size(); ++i) one.expect_near(y.data(), i);
  }
  card.drop_graph(graph.value());
}

TEST_F(CardProducts, AreRefusedForATileThatTheCardLacks) {
  Case one({4, 64, 64}, random_);
  Shared<float> y(size_t{4} * 64);
  one.product.y_f32 = y.data();
  one.product.tile = tiles_ + 1;
  EXPECT_EQ(multiply(&one.product, queue_->stream()), TESSERA_CARD_BAD_TILE);
}

}  // namespace card_library_test
}  // namespace tessera::card
