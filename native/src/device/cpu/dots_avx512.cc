// BF16 products with the 512-bit vdpbf16ps (SDM volume 2; AMD's manual volume 4 describes the same
// operation). Compiled with its own flags; nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include <utility>

#include "device/cpu/dots_kernels.h"

namespace tessera::device::cpu {
namespace {

using V = __m512;
using P = __m512i;

/// The first n of 16 lanes. REQUIRES: n <= 16.
inline __mmask16 mask_of(size_t n) { return static_cast<__mmask16>((1u << n) - 1u); }

inline V zero() { return _mm512_setzero_ps(); }
inline V load(const float* x) { return _mm512_loadu_ps(x); }
inline V load_part(const float* x, size_t n) { return _mm512_maskz_loadu_ps(mask_of(n), x); }
inline void store(float* y, V value) { _mm512_storeu_ps(y, value); }
inline void store_part(float* y, size_t n, V value) { _mm512_mask_storeu_ps(y, mask_of(n), value); }
inline V add(V a, V b) { return _mm512_add_ps(a, b); }

inline void store_bf16(uint16_t* y, V value) {
  const auto narrow = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), narrow);
}

inline P no_pairs() { return _mm512_setzero_si512(); }
inline P load_pairs(const char* from) { return _mm512_loadu_si512(from); }
inline P broadcast_pair(const char* from) {
  int32_t pair;
  __builtin_memcpy(&pair, from, sizeof pair);
  return _mm512_set1_epi32(pair);
}
/// As _mm512_dpbf16_ps, of which GCC 12 copies every sum before and after, and then has too few
/// registers for a tile.
inline void add_dot(V& sum, P x, P w) {
  __asm__("vdpbf16ps %[w], %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [w] "v"(w));
}

}  // namespace

#include "device/cpu/dots.inc"

PanelKernels dots_avx512() { return dots_kernels(); }

}  // namespace tessera::device::cpu
