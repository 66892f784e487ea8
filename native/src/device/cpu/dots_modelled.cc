#include "device/cpu/dots_modelled.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <utility>

namespace tessera::device::cpu {
namespace {

struct V {
  float lane[16];
};
struct P {
  uint16_t lane[32];
};

/// Denormals are zero, of operands and of results.
float flush(float value) { return std::abs(value) < FLT_MIN ? value * 0.0f : value; }

float widen(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return flush(value);
}

/// To nearest, ties to even; NaN stays NaN.
uint16_t narrow(float value) {
  const float flushed = flush(value);
  uint32_t bits;
  std::memcpy(&bits, &flushed, sizeof bits);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

V zero() { return {}; }
V load_part(const float* x, size_t n) {
  V value{};
  std::memcpy(value.lane, x, n * sizeof(float));
  return value;
}
V load(const float* x) { return load_part(x, 16); }
void store_part(float* y, size_t n, const V& value) {
  std::memcpy(y, value.lane, n * sizeof(float));
}
void store(float* y, const V& value) { store_part(y, 16, value); }
V add(const V& a, const V& b) {
  V sum;
  for (size_t i = 0; i < 16; ++i) sum.lane[i] = a.lane[i] + b.lane[i];
  return sum;
}
void store_bf16(uint16_t* y, const V& value) {
  for (size_t i = 0; i < 16; ++i) y[i] = narrow(value.lane[i]);
}

P no_pairs() { return {}; }
P load_pairs(const char* from) {
  P pairs;
  std::memcpy(pairs.lane, from, sizeof pairs);
  return pairs;
}
P broadcast_pair(const char* from) {
  P pairs;
  for (size_t i = 0; i < 16; ++i) std::memcpy(pairs.lane + 2 * i, from, 2 * sizeof(uint16_t));
  return pairs;
}
void add_dot(V& sum, const P& x, const P& w) {
  for (size_t i = 0; i < 16; ++i) {
    const size_t first = 2 * i, second = first + 1;
    const float half = std::fma(widen(x.lane[second]), widen(w.lane[second]), flush(sum.lane[i]));
    sum.lane[i] = flush(std::fma(widen(x.lane[first]), widen(w.lane[first]), flush(half)));
  }
}

}  // namespace

#include "device/cpu/dots.inc"

PanelKernels dots_modelled() { return dots_kernels(); }

}  // namespace tessera::device::cpu
