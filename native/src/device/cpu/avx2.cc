// Kernels for AVX2 with FMA: a vector is two registers of eight lanes. Compiled with its own flags;
// nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include "device/cpu/kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kTileM = 2, kTileN = 3;            // 12 of 16 registers hold sums
constexpr size_t kPanelRows = 6, kPanelHalves = 1;  // likewise
constexpr size_t kPanelWideRows = 2, kPanelPairRows = 5;

struct V {
  __m256 low, high;
};

alignas(64) constexpr int32_t kMaskTable[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                -1, -1, -1, -1, -1, 0,  0,  0,  0,  0,  0,
                                                0,  0,  0,  0,  0,  0,  0,  0,  0,  0};
/// Lanes [offset, offset + 8) of a mask whose first n lanes are set. n <= 16.
inline __m256i mask_of(size_t n, size_t offset) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMaskTable + 16 - n + offset));
}

inline V set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline V zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline V load(const float* x) { return {_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8)}; }
inline V load_part(const float* x, size_t n) {
  const V none = zero();
  return {_mm256_maskload_ps(x, mask_of(n, 0)),
          n > 8 ? _mm256_maskload_ps(x + 8, mask_of(n, 8)) : none.high};
}
inline __m256 widen(__m128i bits) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
inline V load_bf16(const uint16_t* x) {
  return {widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))),
          widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 8)))};
}
inline V load_bf16_part(const uint16_t* x, size_t n) {
  uint16_t values[16] = {};
  for (size_t i = 0; i < n; ++i) values[i] = x[i];
  return load_bf16(values);
}
/// The first and the second of the pairs of BF16 values in 16 lanes of 32 bits.
inline V load_first_bf16(const uint16_t* x) {
  const V pairs = load(reinterpret_cast<const float*>(x));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs.low), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs.high), 16))};
}
inline V load_second_bf16(const uint16_t* x) {
  const V pairs = load(reinterpret_cast<const float*>(x));
  const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(-65536));
  return {_mm256_and_ps(pairs.low, upper), _mm256_and_ps(pairs.high, upper)};
}
inline void store(float* y, V value) {
  _mm256_storeu_ps(y, value.low);
  _mm256_storeu_ps(y + 8, value.high);
}
inline void store_part(float* y, size_t n, V value) {
  _mm256_maskstore_ps(y, mask_of(n, 0), value.low);
  if (n > 8) _mm256_maskstore_ps(y + 8, mask_of(n, 8), value.high);
}
/// REQUIRES: the lower 16 bits of every lane are zero.
inline void store_bf16(uint16_t* y, V value) {
  const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(value.low), 16);
  const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(value.high), 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xD8);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), packed);
}

/// Later reads through `pointer` read anew.
inline void forget(const uint16_t*& pointer) { asm volatile("" : "+r"(pointer)); }

inline V fma(V a, V b, V c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline V add(V a, V b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline V sub(V a, V b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline V mul(V a, V b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline V div(V a, V b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
inline V vmax(V a, V b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
inline V vmin(V a, V b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
/// y, but 0 where x < limit.
inline V zero_where_below(V x, V limit, V y) {
  return {_mm256_andnot_ps(_mm256_cmp_ps(x.low, limit.low, _CMP_LT_OQ), y.low),
          _mm256_andnot_ps(_mm256_cmp_ps(x.high, limit.high, _CMP_LT_OQ), y.high)};
}
/// REQUIRES: n <= 16.
inline V keep_first(V x, size_t n) {
  const size_t beyond = n > 8 ? n - 8 : 0;
  return {_mm256_and_ps(x.low, _mm256_castsi256_ps(mask_of(n, 0))),
          _mm256_and_ps(x.high, _mm256_castsi256_ps(mask_of(beyond, 0)))};
}
inline __m256 scale_by_power(__m256 p, __m256 shifted) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p),
                                              _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
/// p * 2^e, e being the integer in the low bits of `shifted`.
inline V scale_by_power(V p, V shifted) {
  return {scale_by_power(p.low, shifted.low), scale_by_power(p.high, shifted.high)};
}
inline __m256 round_to_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256 chosen = _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet),
                                         _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_and_ps(chosen, _mm256_castsi256_ps(_mm256_set1_epi32(-65536)));
}
inline V round_to_bf16(V x) { return {round_to_bf16(x.low), round_to_bf16(x.high)}; }

inline float sum(V x) {
  const __m256 by8 = _mm256_add_ps(x.low, x.high);
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  const __m128 by1 = _mm_add_ss(by2, _mm_movehdup_ps(by2));
  return _mm_cvtss_f32(_mm_add_ss(by1, _mm_setzero_ps()));
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

const KernelTable& avx2_kernels() {
  static constexpr KernelTable table = make_table("cpu/avx2");
  return table;
}

}  // namespace tessera::device::cpu
