// Kernels for AVX-512 (F, BW, DQ, VL): a vector is one register. Compiled with its own flags;
// nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include "device/cpu/kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kTileM = 4, kTileN = 4;  // 16 sums hide the latency of two multiply-add pipes
constexpr size_t kPanelRows = 14, kPanelHalves = 2;  // 28 of 32 registers hold sums
constexpr size_t kPanelWideRows = 14, kPanelPairRows = 12;

using V = __m512;

/// The first n of 16 lanes. REQUIRES: n <= 16.
inline __mmask16 mask_of(size_t n) { return static_cast<__mmask16>((1u << n) - 1u); }

inline V set1(float x) { return _mm512_set1_ps(x); }
inline V zero() { return _mm512_setzero_ps(); }
inline V load(const float* x) { return _mm512_loadu_ps(x); }
inline V load_part(const float* x, size_t n) { return _mm512_maskz_loadu_ps(mask_of(n), x); }
inline V widen(__m256i bits) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
inline V load_bf16(const uint16_t* x) {
  return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}
inline V load_bf16_part(const uint16_t* x, size_t n) {
  return widen(_mm256_maskz_loadu_epi16(mask_of(n), x));
}
/// The first and the second of the pairs of BF16 values in 16 lanes of 32 bits.
inline V load_first_bf16(const uint16_t* x) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(x), 16));
}
inline V load_second_bf16(const uint16_t* x) {
  const __m512i upper = _mm512_set1_epi32(-65536);
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(x), upper));
}
inline void store(float* y, V value) { _mm512_storeu_ps(y, value); }
inline void store_part(float* y, size_t n, V value) { _mm512_mask_storeu_ps(y, mask_of(n), value); }
/// REQUIRES: the lower 16 bits of every lane are zero.
inline void store_bf16(uint16_t* y, V value) {
  const __m512i upper = _mm512_srli_epi32(_mm512_castps_si512(value), 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtepi32_epi16(upper));
}

inline void forget(const uint16_t*&) {}

inline V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
inline V add(V a, V b) { return _mm512_add_ps(a, b); }
inline V sub(V a, V b) { return _mm512_sub_ps(a, b); }
inline V mul(V a, V b) { return _mm512_mul_ps(a, b); }
inline V div(V a, V b) { return _mm512_div_ps(a, b); }
inline V vmax(V a, V b) { return _mm512_max_ps(a, b); }
inline V vmin(V a, V b) { return _mm512_min_ps(a, b); }
/// y, but 0 where x < limit.
inline V zero_where_below(V x, V limit, V y) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), y);
}
inline V keep_first(V x, size_t n) { return _mm512_maskz_mov_ps(mask_of(n), x); }
/// p * 2^e, e being the integer in the low bits of `shifted`.
inline V scale_by_power(V p, V shifted) {
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p),
                                              _mm512_slli_epi32(_mm512_castps_si512(shifted), 23)));
}
inline V round_to_bf16(V x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
  const __m512i chosen =
      _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), quiet);
  return _mm512_castsi512_ps(_mm512_and_si512(chosen, _mm512_set1_epi32(-65536)));
}

inline float sum(V x) {
  const __m256 by8 = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  const __m128 by1 = _mm_add_ss(by2, _mm_movehdup_ps(by2));
  return _mm_cvtss_f32(_mm_add_ss(by1, _mm_setzero_ps()));
}

/// Lanes i and i + 8 of a, then of b, added: [a: 8 lanes | b: 8 lanes].
inline V halves(V a, V b) {
  return add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}
/// Quarters from two results of halves: lanes i and i + 4 added: four quarters of 4 lanes.
inline V quarters(V ab, V cd) {
  return add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xDD));
}

/// Stores the sums of 16 vectors by the tree of sum(): in the end quarter i holds row i.
inline void store_sums_of_16(const V (&sums)[4][4], float* y, size_t y_stride) {
  V columns[4];  // quarter i: 4 partial sums of (row i, column j)
  for (int j = 0; j < 4; ++j) {
    columns[j] = quarters(halves(sums[0][j], sums[1][j]), halves(sums[2][j], sums[3][j]));
  }
  const auto pairs = [](V a, V b) {  // lanes i and i + 2 of each quarter: [a0 b0 a1 b1]
    return add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  };
  const V left = pairs(columns[0], columns[1]), right = pairs(columns[2], columns[3]);
  V result = add(_mm512_shuffle_ps(left, right, 0x44), _mm512_shuffle_ps(left, right, 0xEE));
  result = add(result, zero());
  _mm_storeu_ps(y, _mm512_extractf32x4_ps(result, 0));
  _mm_storeu_ps(y + y_stride, _mm512_extractf32x4_ps(result, 1));
  _mm_storeu_ps(y + 2 * y_stride, _mm512_extractf32x4_ps(result, 2));
  _mm_storeu_ps(y + 3 * y_stride, _mm512_extractf32x4_ps(result, 3));
}

template <int M, int N>
inline void store_sums(const V (&sums)[M][N], float* y, size_t y_stride) {
  if constexpr (M == 4 && N == 4) {
    store_sums_of_16(sums, y, y_stride);
  } else {
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) y[static_cast<size_t>(i) * y_stride + j] = sum(sums[i][j]);
    }
  }
}

}  // namespace

#include "device/cpu/panels.inc"

#include "device/cpu/kernels.inc"

const KernelTable& avx512_kernels() {
  static constexpr KernelTable table = make_table("cpu/avx512");
  return table;
}

}  // namespace tessera::device::cpu
