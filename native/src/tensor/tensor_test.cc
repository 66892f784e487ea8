#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/tensor_view.h"

namespace tessera::tensor {
namespace tensor_test {

TEST(DtypeTest, EveryHalfFloatWidensToItsExactValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>((bits >> 10) & 0x1F);
    const double fraction = bits & 0x3FF;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    const float value = f32_of_f16(static_cast<uint16_t>(bits));
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(value), fraction == 0) << bits;
      continue;
    }
    const double expected = exponent == 0 ? sign * fraction * std::ldexp(1.0, -24)
                                          : sign * std::ldexp(1024.0 + fraction, exponent - 25);
    ASSERT_EQ(static_cast<double>(value), expected) << bits;
  }
}

TEST(DtypeTest, EveryBf16SurvivesTheWayThereAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = f32_of_bf16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f32_of_bf16(bf16_of_f32(value))));
    } else {
      ASSERT_EQ(bf16_of_f32(value), bits);
    }
  }
}

TEST(DtypeTest, Bf16RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(bf16_of_f32(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // tie, even below
  EXPECT_EQ(bf16_of_f32(std::bit_cast<float>(0x3F818000u)), 0x3F82);  // tie, even above
  EXPECT_EQ(bf16_of_f32(std::bit_cast<float>(0x3F808001u)), 0x3F81);  // above the tie
  EXPECT_EQ(bf16_of_f32(std::bit_cast<float>(0x3F807FFFu)), 0x3F80);  // below the tie
  EXPECT_EQ(bf16_of_f32(3.4e38f), 0x7F80);                            // overflows to infinity
}

TEST(TensorViewTest, RowsAreFoundByTheirByteStride) {
  const uint16_t data[6] = {1, 2, 3, 4, 5, 6};
  const TensorView view{data, DType::kBf16, 2, {2, 3}};
  EXPECT_EQ(view.row(1), data + 3);
  EXPECT_EQ(view.element_count(), 6u);
  const TensorView vector{data, DType::kBf16, 1, {6}};
  EXPECT_EQ(vector.rows(), 1u);
  EXPECT_EQ(vector.columns(), 6u);
}

}  // namespace tensor_test
}  // namespace tessera::tensor
