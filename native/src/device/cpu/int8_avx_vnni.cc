// INT8 products with the 256-bit vpdpbusd of processors without AVX-512. Compiled with its own
// flags; nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include <utility>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kVectors = 2, kHalves = 1;
constexpr size_t kRows = 6;        // 12 of 16 registers hold products
constexpr bool kSumsStay = false;  // there are no registers for them
constexpr size_t kStripTiles = 8;  // tiles of k that all rows of a block read together: 16 KiB
constexpr size_t kSumRows = 96;    // rows of such a block

using I = __m256i;

inline I zero() { return _mm256_setzero_si256(); }
inline I load(const char* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}
inline I broadcast(const char* from) {
  int32_t group;
  __builtin_memcpy(&group, from, sizeof group);
  return _mm256_set1_epi32(group);
}
/// Dot product as _mm256_dpbusd_avx_epi32, of which GCC 12 copies every sum before and after.
inline I dot(I sum, I x, I w) {
#ifdef __AVXVNNI__
  __asm__("%{vex%} vpdpbusd %[w], %[x], %[sum]" : [sum] "+x"(sum) : [x] "x"(x), [w] "x"(w));
  return sum;
#else
  return _mm256_dpbusd_avx_epi32(sum, x, w);
#endif
}
/// With 16 registers the compiler keeps sums where they are by itself.
inline void keep(I&) {}
inline void store(I x, int32_t* to) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
inline I less_64_times(I from, I x) { return _mm256_sub_epi32(from, _mm256_slli_epi32(x, 6)); }

using F = __m256;  // sums of products, scaled

inline F load_sums(const float* from) { return _mm256_load_ps(from); }
inline void store_sums(F sums, float* to) { _mm256_store_ps(to, sums); }
/// sums + products * (row scale * column scales).
inline F plus_products(F sums, I products, float row_scale, const float* w_scales) {
  const F scale = _mm256_mul_ps(_mm256_set1_ps(row_scale), _mm256_loadu_ps(w_scales));
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), scale, sums);
}

}  // namespace

#include "device/cpu/int8_rows_avx2.inc"
#include "device/cpu/int8_sums.inc"
#include "device/cpu/int8_vnni.inc"

#include "device/cpu/int8_static_vnni.inc"

#include "device/cpu/int8_rows.inc"

PanelKernels int8_avx_vnni() {
  return {.operand_row_bytes = operand_row_bytes,
          .write_operand = write_int8_rows,
          .multiply = multiply_panels,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = multiply_static_panels};
}

}  // namespace tessera::device::cpu
