// INT8 products with the 512-bit vpdpbusd. Compiled with its own flags; nothing but intrinsics and
// anonymous namespaces here.
#include <immintrin.h>

#include <utility>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kVectors = 1, kHalves = 2;
// 12 products are enough to hide the latency of one. With more of them the scaling of a tile's
// products takes so many of the processor's own registers that the next tile's have to wait.
constexpr size_t kRows = 6;
// Loads and stores of sums beside the scaling of each tile took a twentieth of a product's time.
constexpr bool kSumsStay = true;    // in registers, over a strip
constexpr size_t kStripTiles = 16;  // tiles of k that all rows of a block read together: 32 KiB
constexpr size_t kSumRows = 192;    // rows of such a block

using I = __m512i;

inline I zero() { return _mm512_setzero_si512(); }
inline I load(const char* from) { return _mm512_load_si512(from); }
inline I broadcast(const char* from) {
  int32_t group;
  __builtin_memcpy(&group, from, sizeof group);
  return _mm512_set1_epi32(group);
}
/// As _mm512_dpbusd_epi32, of which GCC 12 copies every sum before and after, and then has too few
/// registers for a tile.
inline I dot(I sum, I x, I w) {
#ifdef __AVX512VNNI__
  __asm__("vpdpbusd %[w], %[x], %[sum]" : [sum] "+v"(sum) : [x] "v"(x), [w] "v"(w));
  return sum;
#else
  return _mm512_dpbusd_epi32(sum, x, w);
#endif
}
/// In the register where it is: GCC 12 copies one of the sums before and after otherwise.
inline void keep(I& x) { __asm__("" : "+v"(x)); }
inline void store(I x, int32_t* to) { _mm512_storeu_si512(to, x); }
inline I less_64_times(I from, I x) { return _mm512_sub_epi32(from, _mm512_slli_epi32(x, 6)); }

using F = __m512;  // sums of products, scaled

inline F load_sums(const float* from) { return _mm512_load_ps(from); }
inline void store_sums(F sums, float* to) { _mm512_store_ps(to, sums); }
/// sums + products * (row scale * column scales).
inline F plus_products(F sums, I products, float row_scale, const float* w_scales) {
  const F scale = _mm512_mul_ps(_mm512_set1_ps(row_scale), _mm512_loadu_ps(w_scales));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), scale, sums);
}

}  // namespace

#include "device/cpu/int8_rows_avx2.inc"
#include "device/cpu/int8_sums.inc"
#include "device/cpu/int8_vnni.inc"

#include "device/cpu/int8_static_vnni.inc"

#include "device/cpu/int8_rows.inc"

PanelKernels int8_avx512_vnni() {
  return {.operand_row_bytes = operand_row_bytes,
          .write_operand = write_int8_rows,
          .multiply = multiply_panels,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = multiply_static_panels};
}

}  // namespace tessera::device::cpu
