// BF16 products of the numeric class "amx": on the model of the tile unit everywhere, on the unit
// itself where the machine has one. (INT8 products on tiles are among the sets of int8_test.)
#include <gtest/gtest.h>

#include <cmath>

#include "device/cpu/amx_kernels.h"
#include "device/cpu/amx_model.h"
#include "device/cpu/amx_modelled.h"
#include "device/cpu/bf16_checks.h"
#include "platform/cpu_features.h"

namespace tessera::device::cpu {
namespace amx_test {

enum class Where { kModel, kHardware };

class Amx : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam() == Where::kModel) {
      kernels_ = amx_bf16_modelled();
    } else if (platform::detect_cpu_features().amx) {
#if defined(__x86_64__)
      kernels_ = amx_bf16();
#endif
    } else {
      GTEST_SKIP() << "this machine has no tile unit: its kernels ran on the model only";
    }
  }
  PanelKernels kernels_;
};

/// The reduction of the class, one output at a time. No value here is denormal.
float reduced(const Bf16Case& c, size_t row, size_t column, float y, bool accumulate) {
  float total = 0;
  for (size_t tile = 0; tile < c.s.k; tile += 32) {
    float sums[2] = {0, 0};
    for (size_t k = tile; k < tile + 32 && k < c.s.k; ++k) {
      float& sum = sums[k % 2];
      sum = std::fma(nearest(c.x[row * c.s.k + k]), of_bits(c.w[column * c.s.k + k]), sum);
    }
    total += sums[0] + sums[1];
  }
  return accumulate ? y + total : total + 0.0f;
}

TEST_P(Amx, EveryOutputHasTheBitsOfTheReductionOfItsClass) { expect_bits_of(reduced, kernels_); }

TEST_P(Amx, ProductsAreWithinRoundingOfDoublePrecision) {
  expect_double_precision_nearly(kernels_);
}

TEST_P(Amx, ARowIsTheSameAloneAndAmongOthersWhateverTheyHold) { expect_rows_apart(kernels_); }

TEST_P(Amx, DenormalsCountAsZeroAndNaNStays) { expect_denormals_as_zero_and_nan_kept(kernels_); }

INSTANTIATE_TEST_SUITE_P(Units, Amx, ::testing::Values(Where::kModel, Where::kHardware),
                         [](const auto& where) {
                           return where.param == Where::kModel ? "Model" : "Hardware";
                         });

TEST(TileModelTest, TilesAreUsableOnlyWhileConfigured) {
  char memory[kTileRows * kTileRowBytes] = {};
  EXPECT_DEATH(TileModel::load<0>(memory, kTileRowBytes), "");
  TileConfig config = whole_tiles();
  config.rows[3] = kTileRows + 1;
  EXPECT_DEATH(TileModel::configure(config), "");
}

TEST(TileModelTest, RowsAndBytesBeyondTheConfigurationAreZero) {
  TileConfig config = whole_tiles();
  config.rows[2] = 3;
  config.row_bytes[2] = 8;
  TileModel::configure(config);
  char from[kTileRows * kTileRowBytes], to[kTileRows * kTileRowBytes];
  std::memset(from, 7, sizeof from);
  std::memset(to, 1, sizeof to);
  TileModel::load<2>(from, 64);
  TileModel::store<2>(to, 64);
  EXPECT_EQ(to[2 * 64 + 7], 7);
  EXPECT_EQ(to[2 * 64 + 8], 1);
  EXPECT_EQ(to[3 * 64], 1);
  TileModel::release();
}

}  // namespace amx_test
}  // namespace tessera::device::cpu
