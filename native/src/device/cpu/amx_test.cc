// BF16 products of the numeric class "amx": on the model of the tile unit everywhere, on the unit
// itself where the machine has one. (INT8 products on tiles are among the sets of int8_test.)
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "device/cpu/amx_kernels.h"
#include "device/cpu/amx_model.h"
#include "device/cpu/amx_modelled.h"
#include "device/cpu/bf16_case.h"
#include "platform/cpu_features.h"

namespace tessera::device::cpu {
namespace {

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
float expected(const Bf16Case& c, size_t row, size_t column) {
  float total = 0;
  for (size_t tile = 0; tile < c.s.k; tile += 32) {
    float sums[2] = {0, 0};
    for (size_t k = tile; k < tile + 32 && k < c.s.k; ++k) {
      float& sum = sums[k % 2];
      sum = std::fma(nearest(c.x[row * c.s.k + k]), of_bits(c.w[column * c.s.k + k]), sum);
    }
    total += sums[0] + sums[1];
  }
  return total;
}

TEST_P(Amx, EveryOutputHasTheBitsOfTheReductionOfItsClass) {
  for (const PanelSizes& sizes : kPanelSizes) {
    const Bf16Case c(sizes.rows * 1000 + sizes.columns, sizes);
    const size_t stride = sizes.columns + PanelRun::kPadding;
    const std::vector<float> assigned = c.run(kernels_, false), added = c.run(kernels_, true);
    for (size_t i = 0; i < sizes.rows; ++i) {
      for (size_t j = 0; j < sizes.columns; ++j) {
        const float wanted = expected(c, i, j);
        ASSERT_EQ(assigned[i * stride + j], wanted + 0.0f)
            << sizes.rows << "x" << sizes.columns << "x" << sizes.k << " at " << i << "," << j;
        ASSERT_EQ(added[i * stride + j], c.y[i * stride + j] + wanted);
      }
      for (size_t j = i * stride + sizes.columns; j < (i + 1) * stride; ++j) {
        ASSERT_EQ(assigned[j], c.y[j]);
      }
    }
  }
}

TEST_P(Amx, ProductsAreWithinRoundingOfDoublePrecision) {
  const Bf16Case c(4, {37, 45, 700});
  const std::vector<float> y = c.run(kernels_, false);
  for (size_t i = 0; i < c.s.rows; ++i) {
    for (size_t j = 0; j < c.s.columns; ++j) {
      double exact = 0, magnitude = 0;
      for (size_t k = 0; k < c.s.k; ++k) {
        const double product = static_cast<double>(nearest(c.x[i * c.s.k + k])) *
                               static_cast<double>(of_bits(c.w[j * c.s.k + k]));
        exact += product;
        magnitude += std::abs(product);
      }
      const double bound = FLT_EPSILON * magnitude * 6;
      ASSERT_NEAR(static_cast<double>(y[i * (c.s.columns + PanelRun::kPadding) + j]), exact, bound);
    }
  }
}

TEST_P(Amx, ARowIsTheSameAloneAndAmongOthersWhateverTheyHold) {
  Bf16Case c(6, {70, 41, 333});
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t k = 0; k < c.s.k; ++k) c.x[5 * c.s.k + k] = std::nanf("");
  const std::vector<float> together = c.run(kernels_, false);
  for (const size_t row : {size_t{0}, size_t{6}, size_t{69}}) {
    const std::vector<float> x(c.x.begin() + row * c.s.k, c.x.begin() + (row + 1) * c.s.k);
    const PanelRun alone =
        run_panels(kernels_, PanelType::kBf16, {1, c.s.columns, c.s.k}, x, c.panels.data(), nullptr,
                   0.0f, false, std::vector<float>(stride));
    for (size_t j = 0; j < c.s.columns; ++j) ASSERT_EQ(alone.y[j], together[row * stride + j]);
  }
}

TEST_P(Amx, DenormalsCountAsZeroAndNaNStays) {
  Bf16Case c(7, {3, 5, 40});
  const size_t stride = c.s.columns + PanelRun::kPadding;
  for (size_t k = 0; k < c.s.k; ++k) c.x[k] = 1e-39f;
  for (size_t k = 0; k < c.s.k; ++k) c.x[c.s.k + k] = 1e-30f;
  for (uint16_t& bits : c.w) bits = 0x0DA2;  // about 1e-30: products below the normal range
  c.x[2 * c.s.k + 17] = std::nanf("");
  fill_panels(PanelType::kBf16, c.w, c.s.columns, c.s.k, c.panels.data());
  const std::vector<float> y = c.run(kernels_, false);
  for (size_t j = 0; j < c.s.columns; ++j) {
    EXPECT_EQ(y[j], 0.0f);
    EXPECT_EQ(y[stride + j], 0.0f);
    EXPECT_TRUE(std::isnan(y[2 * stride + j]));
  }
}

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

}  // namespace
}  // namespace tessera::device::cpu
