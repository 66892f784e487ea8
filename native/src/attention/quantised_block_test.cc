// The 8-bit form of a block against a restatement in double precision.
#include "attention/quantised_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tessera::attention {
namespace quantised_block_test {

using tensor::DType;

struct Shape {
  uint32_t layers, kv_heads, head_dim;
  DType type;
};

/// One number of a block, by what it is and not by where it lies.
class Numbers {
 public:
  Numbers(const BlockLayout& layout, std::vector<std::byte>& bytes)
      : layout_(layout), bytes_(bytes) {}

  float get(uint32_t layer, uint32_t head, bool is_keys, uint32_t position, uint32_t dim) const {
    const uint64_t at = offset(layer, head, is_keys, position, dim);
    uint32_t bits = 0;
    const bool is_half = layout_.type == DType::kBf16;
    std::memcpy(reinterpret_cast<std::byte*>(&bits) + (is_half ? 2 : 0), &bytes_[at],
                is_half ? 2 : 4);
    return std::bit_cast<float>(bits);
  }
  void set(uint32_t layer, uint32_t head, bool is_keys, uint32_t position, uint32_t dim,
           float value) {
    const uint64_t at = offset(layer, head, is_keys, position, dim);
    const auto bits = std::bit_cast<uint32_t>(value);
    const bool is_half = layout_.type == DType::kBf16;
    std::memcpy(&bytes_[at], reinterpret_cast<const std::byte*>(&bits) + (is_half ? 2 : 0),
                is_half ? 2 : 4);
  }

 private:
  uint64_t offset(uint32_t layer, uint32_t head, bool is_keys, uint32_t position,
                  uint32_t dim) const {
    const auto type = layout_.panel_type();
    if (layout_.is_plain) {
      const uint64_t first =
          is_keys ? layout_.key_offset(layer, head) : layout_.value_offset(layer, head);
      return first +
             (uint64_t{position} * layout_.head_dim + dim) * tensor::dtype_size(layout_.type);
    }
    if (is_keys) {
      return layout_.key_offset(layer, head) + device::panel_offset(type, dim, position);
    }
    return layout_.value_offset(layer, head) + dim / 32 * layout_.value_panel_bytes() +
           device::panel_offset(type, position, dim % 32);
  }

  const BlockLayout& layout_;
  std::vector<std::byte>& bytes_;
};

template <typename Each>
void for_each_row(const BlockLayout& layout, Each each) {
  for (uint32_t layer = 0; layer < layout.layers; ++layer) {
    for (uint32_t head = 0; head < layout.kv_heads; ++head) {
      for (const bool is_keys : {true, false}) {
        for (uint32_t position = 0; position < kBlockPositions; ++position) {
          each(layer, head, is_keys, position);
        }
      }
    }
  }
}

class Quantised : public testing::TestWithParam<Shape> {
 protected:
  BlockLayout layout() const {
    const Shape& shape = GetParam();
    return {shape.layers, shape.kv_heads, shape.head_dim, shape.type};
  }
  /// Rows of many magnitudes, some of zeros, some with one number far above the others,
  /// some too small for the least scale.
  std::vector<std::byte> random_block(uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<std::byte> bytes(layout().bytes());
    const BlockLayout shape = layout();
    Numbers numbers(shape, bytes);
    for_each_row(shape, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
      const uint64_t kind = random() % 8;
      const int exponent = kind == 2 ? -140 : static_cast<int>(random() % 60) - 40;
      const float size = kind == 0 ? 0 : std::ldexp(1.0f, exponent);
      for (uint32_t dim = 0; dim < shape.head_dim; ++dim) {
        float value = normal(random) * size;
        if (kind == 1 && dim == 0) value *= 500;
        numbers.set(layer, head, is_keys, position, dim, value);
      }
    });
    return bytes;
  }
};

TEST_P(Quantised, EveryNumberIsOffByAtMostA127thOfTheLargestOfItsRow) {
  const BlockLayout shape = layout();
  const QuantisedBlock codec(shape);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<std::byte> source = random_block(seed);
    std::vector<std::byte> encoded(codec.bytes()), back(source.size(), std::byte{0xff});
    codec.encode(source, encoded);
    codec.decode(encoded, back);
    const Numbers from(shape, source), to(shape, back);
    double worst = 0;
    for_each_row(shape, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
      double most = 0;
      for (uint32_t dim = 0; dim < shape.head_dim; ++dim) {
        most = std::max(most, std::abs(double{from.get(layer, head, is_keys, position, dim)}));
      }
      // The scale, restated: the smallest power of two with which the largest number fits.
      const double fits = most == 0 ? 0 : std::exp2(std::ceil(std::log2(most / 127)));
      const double scale = most == 0 ? 0 : std::max(fits, std::exp2(-126));
      for (uint32_t dim = 0; dim < shape.head_dim; ++dim) {
        const double was = from.get(layer, head, is_keys, position, dim);
        const double is = to.get(layer, head, is_keys, position, dim);
        ASSERT_LE(std::abs(is - was), scale / 2) << "seed " << seed;
        ASSERT_EQ(is, scale == 0 ? 0 : std::nearbyint(was / scale) * scale) << "seed " << seed;
        if (fits == scale && most > 0) worst = std::max(worst, std::abs(is - was) / most);
      }
    });
    EXPECT_LE(worst, 1.0 / 127);
    EXPECT_GT(worst, 1.0 / 512);  // the bound is not idle
  }
}

TEST_P(Quantised, WhatWasDecodedEncodesToTheSameBytes) {
  const QuantisedBlock codec(layout());
  std::vector<std::byte> block = random_block(9);
  std::vector<std::byte> first(codec.bytes()), again(codec.bytes());
  codec.encode(block, first);
  for (int round = 0; round < 3; ++round) {
    codec.decode(first, block);
    codec.encode(block, again);
    EXPECT_EQ(first, again);
  }
}

TEST_P(Quantised, WhatFillsAPanelUpIsZero) {
  const BlockLayout shape = layout();
  const QuantisedBlock codec(shape);
  std::vector<std::byte> block = random_block(3), encoded(codec.bytes());
  codec.encode(block, encoded);
  std::vector<std::byte> back(shape.bytes(), std::byte{0xff});
  codec.decode(encoded, back);
  Numbers numbers(shape, back);
  for_each_row(shape, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
    for (uint32_t dim = 0; dim < shape.head_dim; ++dim) {
      numbers.set(layer, head, is_keys, position, dim, 0);
    }
  });
  EXPECT_EQ(back, std::vector<std::byte>(shape.bytes()));
}

TEST_P(Quantised, BytesThatNobodyEncodedDecodeToFiniteNumbers) {
  const BlockLayout shape = layout();
  const QuantisedBlock codec(shape);
  std::mt19937_64 random(4);
  std::vector<std::byte> encoded(codec.bytes()), back(shape.bytes());
  for (std::byte& byte : encoded) byte = static_cast<std::byte>(random());
  codec.decode(encoded, back);
  const Numbers numbers(shape, back);
  for_each_row(shape, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
    for (uint32_t dim = 0; dim < shape.head_dim; ++dim) {
      ASSERT_TRUE(std::isfinite(numbers.get(layer, head, is_keys, position, dim)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Quantised,
                         testing::Values(Shape{2, 2, 64, DType::kF32},
                                         Shape{2, 2, 128, DType::kBf16},
                                         Shape{1, 3, 40, DType::kF32},
                                         Shape{1, 1, 33, DType::kBf16}));

TEST(QuantisedEdges, LargestSmallestAndPowersOfTwoAreHeld) {
  const BlockLayout shape{1, 1, 8, DType::kF32};
  const QuantisedBlock codec(shape);
  const float kLargest = std::numeric_limits<float>::max();
  for (const float most : {kLargest, 1.0f, 127.0f, 128.0f, 127.5f, std::ldexp(1.0f, -126),
                           std::numeric_limits<float>::denorm_min()}) {
    std::vector<std::byte> block(shape.bytes()), encoded(codec.bytes()), back(shape.bytes());
    Numbers from(shape, block);
    from.set(0, 0, true, 5, 3, -most);
    from.set(0, 0, true, 5, 4, most / 2);
    codec.encode(block, encoded);
    codec.decode(encoded, back);
    const Numbers to(shape, back);
    const double off = std::abs(double{to.get(0, 0, true, 5, 3)} + most);
    EXPECT_LE(off, std::max(double{most} / 127, std::ldexp(1.0, -127))) << most;
  }
}

/// A card's blocks have the same bytes below the device as the processor's.
TEST(QuantisedBlock, OfRowsIsThatOfPanels) {
  for (const uint32_t head_dim : {64u, 128u}) {
    const BlockLayout panels{2, 3, head_dim, DType::kBf16};
    BlockLayout plain = panels;
    plain.is_plain = true;
    ASSERT_EQ(plain.bytes(), panels.bytes());
    std::vector<std::byte> of_panels(panels.bytes()), of_rows(plain.bytes());
    Numbers one(panels, of_panels), other(plain, of_rows);
    std::mt19937 random(head_dim);
    std::uniform_real_distribution<float> draw(-3, 3);
    for_each_row(panels, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
      for (uint32_t dim = 0; dim < head_dim; ++dim) {
        const auto value = std::bit_cast<float>(std::bit_cast<uint32_t>(draw(random)) & 0xFFFF0000);
        one.set(layer, head, is_keys, position, dim, value);
        other.set(layer, head, is_keys, position, dim, value);
      }
    });
    const QuantisedBlock from_panels(panels), from_rows(plain);
    std::vector<std::byte> encoded(from_panels.bytes()), again(from_rows.bytes());
    from_panels.encode(of_panels, encoded);
    from_rows.encode(of_rows, again);
    EXPECT_EQ(again, encoded);
    from_panels.decode(encoded, of_panels);
    from_rows.decode(encoded, of_rows);
    for_each_row(panels, [&](uint32_t layer, uint32_t head, bool is_keys, uint32_t position) {
      for (uint32_t dim = 0; dim < head_dim; ++dim) {
        EXPECT_EQ(other.get(layer, head, is_keys, position, dim),
                  one.get(layer, head, is_keys, position, dim));
      }
    });
  }
}

}  // namespace quantised_block_test
}  // namespace tessera::attention
