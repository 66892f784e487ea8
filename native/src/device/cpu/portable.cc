// Kernels in plain C++: the vector is an array, fused multiply-add comes from the C library. Right
// everywhere, fast nowhere.
#include "device/cpu/kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kTileM = 2, kTileN = 2;
constexpr size_t kPanelRows = 4, kPanelHalves = 1;
constexpr size_t kPanelWideRows = 2, kPanelPairRows = 4;

struct V {
  float lane[16];
};

template <typename Fn>
inline V each(Fn fn) {
  V result;
  for (size_t i = 0; i < 16; ++i) result.lane[i] = fn(i);
  return result;
}

inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline float widen(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

inline V set1(float x) {
  return each([=](size_t) { return x; });
}
inline V zero() { return set1(0.0f); }
inline V load_part(const float* x, size_t n) {
  return each([=](size_t i) { return i < n ? x[i] : 0.0f; });
}
inline V load(const float* x) { return load_part(x, 16); }
inline V load_bf16_part(const uint16_t* x, size_t n) {
  return each([=](size_t i) { return i < n ? widen(x[i]) : 0.0f; });
}
inline V load_bf16(const uint16_t* x) { return load_bf16_part(x, 16); }
/// The first and the second of the pairs of BF16 values in 16 lanes of 32 bits.
inline V load_first_bf16(const uint16_t* x) {
  return each([=](size_t i) { return widen(x[2 * i]); });
}
inline V load_second_bf16(const uint16_t* x) {
  return each([=](size_t i) { return widen(x[2 * i + 1]); });
}
inline void store_part(float* y, size_t n, const V& value) {
  for (size_t i = 0; i < n; ++i) y[i] = value.lane[i];
}
inline void store(float* y, const V& value) { store_part(y, 16, value); }
inline void store_bf16(uint16_t* y, const V& value) {
  for (size_t i = 0; i < 16; ++i) y[i] = static_cast<uint16_t>(bits_of(value.lane[i]) >> 16);
}

inline V fma(const V& a, const V& b, const V& c) {
  return each([&](size_t i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
inline void forget(const uint16_t*&) {}
inline V add(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] + b.lane[i]; });
}
inline V sub(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] - b.lane[i]; });
}
inline V mul(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] * b.lane[i]; });
}
inline V div(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] / b.lane[i]; });
}
// As the processors do it: the second operand where the two do not compare.
inline V vmax(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline V vmin(const V& a, const V& b) {
  return each([&](size_t i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
/// y, but 0 where x < limit.
inline V zero_where_below(const V& x, const V& limit, const V& y) {
  return each([&](size_t i) { return x.lane[i] < limit.lane[i] ? 0.0f : y.lane[i]; });
}
inline V keep_first(const V& x, size_t n) {
  return each([&](size_t i) { return i < n ? x.lane[i] : 0.0f; });
}
/// p * 2^e, e being the integer in the low bits of `shifted`.
inline V scale_by_power(const V& p, const V& shifted) {
  return each(
      [&](size_t i) { return float_of(bits_of(p.lane[i]) + (bits_of(shifted.lane[i]) << 23)); });
}
inline V round_to_bf16(const V& x) {
  return each([&](size_t i) {
    const uint32_t bits = bits_of(x.lane[i]);
    if (x.lane[i] != x.lane[i]) return float_of((bits | 0x00400000u) & 0xFFFF0000u);
    return float_of((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
  });
}

inline float sum(const V& x) {
  V t = x;
  for (size_t half = 8; half >= 1; half /= 2) {
    for (size_t i = 0; i < half; ++i) t.lane[i] = t.lane[i] + t.lane[i + half];
  }
  return t.lane[0] + 0.0f;
}

template <int M, int N>
inline void store_sums(const V (&sums)[M][N], float* y, size_t y_stride) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) y[static_cast<size_t>(i) * y_stride + j] = sum(sums[i][j]);
  }
}

}  // namespace

#include "device/cpu/panels.inc"

#include "device/cpu/kernels.inc"

const KernelTable& portable_kernels() {
  static constexpr KernelTable table = make_table("cpu/portable");
  return table;
}

}  // namespace tessera::device::cpu
