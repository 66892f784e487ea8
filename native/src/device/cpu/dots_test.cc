// BF16 products of the numeric class "dots": in plain C++ everywhere, with vdpbf16ps where the
// machine has it, and those two bit for bit against each other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "device/cpu/bf16_checks.h"
#include "device/cpu/dots_kernels.h"
#include "device/cpu/dots_modelled.h"
#include "platform/cpu_features.h"

namespace tessera::device::cpu {
namespace dots_test {

enum class Where { kModel, kHardware };

class Dots : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam() == Where::kModel) {
      kernels_ = dots_modelled();
    } else if (platform::detect_cpu_features().avx512_bf16) {
#if defined(__x86_64__)
      kernels_ = dots_avx512();
#endif
    } else {
      GTEST_SKIP() << "this machine has no vdpbf16ps: its text ran in plain C++ only";
    }
  }
  PanelKernels kernels_;
};

/// The reduction of the class, one output at a time. No value here is denormal.
float reduced(const Bf16Case& c, size_t row, size_t column, float y, bool accumulate) {
  for (size_t at = 0; at < c.s.k; at += kPanelRun) {
    float run = 0;
    for (size_t k = at; k < at + kPanelRun && k < c.s.k; k += 2) {
      const auto add = [&](size_t i) {
        if (i >= c.s.k) return;
        run = std::fma(nearest(c.x[row * c.s.k + i]), of_bits(c.w[column * c.s.k + i]), run);
      };
      add(k + 1);
      add(k);
    }
    y = (accumulate || at > 0 ? y + run : run) + 0.0f;
  }
  return y;
}

TEST_P(Dots, EveryOutputHasTheBitsOfTheReductionOfItsClass) { expect_bits_of(reduced, kernels_); }

TEST_P(Dots, ProductsAreWithinRoundingOfDoublePrecision) {
  expect_double_precision_nearly(kernels_);
}

TEST_P(Dots, ARowIsTheSameAloneAndAmongOthersWhateverTheyHold) { expect_rows_apart(kernels_); }

TEST_P(Dots, DenormalsCountAsZeroAndNaNStays) { expect_denormals_as_zero_and_nan_kept(kernels_); }

INSTANTIATE_TEST_SUITE_P(Units, Dots, ::testing::Values(Where::kModel, Where::kHardware),
                         [](const auto& where) {
                           return where.param == Where::kModel ? "Model" : "Hardware";
                         });

/// How the exponents of a value are drawn.
enum class Draw { kAny, kNearOne, kProductsNearTheSmallest, kSmallest, kSpecial };

uint16_t drawn(std::mt19937_64& random, Draw draw) {
  constexpr uint16_t kSpecials[] = {0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFC1, 0x0000, 0x8000,
                                    0x3F80, 0x0001, 0x8001, 0x7F7F, 0xFF7F, 0x0080};
  const uint64_t bits = random();
  const auto with_exponent = [&](uint64_t least, uint64_t count) {
    return static_cast<uint16_t>((bits & 0x807F) | (least + (bits >> 20) % count) << 7);
  };
  switch (draw) {
    case Draw::kAny: return static_cast<uint16_t>(bits);
    case Draw::kNearOne: return with_exponent(120, 16);
    case Draw::kProductsNearTheSmallest: return with_exponent(60, 8);
    case Draw::kSmallest: return with_exponent(0, 3);
    case Draw::kSpecial: return kSpecials[(bits >> 20) % std::size(kSpecials)];
  }
  return 0;
}

/// Chains of four steps, so that sums of every kind enter a further one.
TEST(DotsOnHardware, EveryStepHasTheBitsOfTheModelOverRandomDenormalInfiniteAndNaNInputs) {
  if (!platform::detect_cpu_features().avx512_bf16) GTEST_SKIP() << "no vdpbf16ps here";
#if defined(__x86_64__)
  constexpr uint64_t kSeed = 88;
  std::printf("seed: %llu\n", static_cast<unsigned long long>(kSeed));
  std::mt19937_64 random(kSeed);
  const PanelSizes s{256, 512, 8};
  for (const Draw draw : {Draw::kAny, Draw::kNearOne, Draw::kProductsNearTheSmallest,
                          Draw::kSmallest, Draw::kSpecial}) {
    for (int round = 0; round < 8; ++round) {
      std::vector<float> x(s.rows * s.k), y(s.rows * (s.columns + PanelRun::kPadding));
      for (float& value : x) value = of_bits(drawn(random, draw));
      std::vector<uint16_t> w(s.columns * s.k);
      for (uint16_t& value : w) value = drawn(random, draw);
      AlignedBytes panels(panel_count(s.columns) * panel_bytes(PanelType::kBf16, s.k));
      fill_panels(PanelType::kBf16, w, s.columns, s.k, panels.data());
      const auto run = [&](const PanelKernels& kernels) {
        return run_panels(kernels, PanelType::kBf16, s, x, panels.data(), nullptr, 0.0f, false, y)
            .y;
      };
      const std::vector<float> model = run(dots_modelled()), hardware = run(dots_avx512());
      for (size_t i = 0; i < y.size(); ++i) {
        if (std::isnan(model[i]) && std::isnan(hardware[i])) continue;  // which NaN is not defined
        ASSERT_EQ(std::memcmp(&model[i], &hardware[i], sizeof(float)), 0)
            << model[i] << " " << hardware[i];
      }
    }
  }
#endif
}

}  // namespace dots_test
}  // namespace tessera::device::cpu
