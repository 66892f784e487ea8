// Random products of BF16 panels for tests of kernels whose operand is not rows of floats. Test
// only.
#pragma once

#include <cmath>

#include "device/cpu/panel_case.h"

namespace tessera::device::cpu {

inline float of_bits(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// The nearest BF16 value, ties to even, found by arithmetic rather than on bits.
inline float nearest(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const float step = std::ldexp(1.0f, exponent - 8);
  return std::nearbyint(value / step) * step;
}

/// One product of random rows and panels of BF16.
struct Bf16Case {
  Bf16Case(uint64_t salt, const PanelSizes& sizes) : s(sizes), random(20240711 + salt) {
    x = random_floats(random, s.rows * s.k);
    for (const float value : random_floats(random, s.columns * s.k)) {
      const float rounded = nearest(value);
      uint32_t bits;
      std::memcpy(&bits, &rounded, sizeof bits);
      w.push_back(static_cast<uint16_t>(bits >> 16));
    }
    y = random_floats(random, s.rows * (s.columns + PanelRun::kPadding));
    fill_panels(PanelType::kBf16, w, s.columns, s.k, panels.data());
  }

  std::vector<float> run(const PanelKernels& kernels, bool accumulate) const {
    return run_panels(kernels, PanelType::kBf16, s, x, panels.data(), nullptr, 0.0f, accumulate, y)
        .y;
  }

  PanelSizes s;
  std::mt19937_64 random;
  std::vector<float> x, y;
  std::vector<uint16_t> w;
  AlignedBytes panels{panel_count(s.columns) * panel_bytes(PanelType::kBf16, s.k)};
};

}  // namespace tessera::device::cpu
