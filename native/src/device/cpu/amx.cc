// Panel products on the tile unit of the processor. Compiled with the flags of AVX-512, which every
// processor with tiles has; nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include <utility>

#include "device/cpu/amx_kernels.h"
#include "device/cpu/amx_tiles.h"
#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

/// Own statements rather than the compiler's intrinsics: GCC 12 declares 8 of the 64 bytes that
/// ldtilecfg reads, and its tile numbers cannot be template arguments. A thread configures before
/// it uses tiles; the process has been granted them (platform::detect_cpu_features).
struct TileUnit {
  static void configure(const TileConfig& config) {
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  }
  static void release() { asm volatile("tilerelease" ::: "memory"); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  /// 16 rows, `stride` bytes apart.
  template <int kTile>
  static void load(const void* from, size_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  /// Loads, like load, a tile that is read once and need not stay in the first-level cache.
  template <int kTile>
  static void load_streamed(const void* from, size_t stride) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* to, size_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  /// kSum += kLeft x kRight over pairs of BF16, or over groups of four signed bytes.
  template <int kSum, int kLeft, int kRight>
  static void multiply_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply_i8() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

using SumRow = __m512;
inline SumRow load_sums(const float* from) { return _mm512_loadu_ps(from); }
inline void store_sums(float* to, SumRow sums) { _mm512_storeu_ps(to, sums); }
/// sums + products * (row scale * column scales).
inline SumRow add_products(const int32_t* products, float row_scale, SumRow w_scales, SumRow sums) {
  const __m512 whole = _mm512_cvtepi32_ps(_mm512_load_si512(products));
  return _mm512_fmadd_ps(whole, _mm512_mul_ps(_mm512_set1_ps(row_scale), w_scales), sums);
}

}  // namespace

#include "device/cpu/int8_rows_avx2.inc"

#include "device/cpu/int8_sums.inc"

#include "device/cpu/amx_panels.inc"

#include "device/cpu/int8_rows.inc"

PanelKernels amx_bf16() {
  return {kBlockRows,      amx_row_bytes_bf16,
          write_bf16_rows, amx_multiply<TileUnit, PanelType::kBf16>,
          nullptr,         false,
          kPanelTile};
}

PanelKernels amx_int8() {
  return {.row_block = kBlockRows,
          .operand_row_bytes = amx_row_bytes_i8,
          .write_operand = write_int8_rows,
          .multiply = amx_multiply<TileUnit, PanelType::kI8>,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = amx_multiply<TileUnit, PanelType::kStaticI8>};
}

}  // namespace tessera::device::cpu
