// The kernels of wider instruction sets over SIMDe, so that their text is tested on machines that
// lack the instructions. Compiled for AVX2, once per set (TESSERA_EMULATED_SET is its file). Test
// only.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <cstdint>
#include <cstring>

namespace {

/// SIMDe lacks it.
[[maybe_unused]] simde__m512 floats_of(const simde__m512i& words) {
  int32_t from[16];
  float to[16];
  std::memcpy(from, &words, sizeof from);
  for (int i = 0; i < 16; ++i) to[i] = static_cast<float>(from[i]);
  simde__m512 floats;
  std::memcpy(&floats, to, sizeof to);
  return floats;
}

}  // namespace

#define _mm512_cvtepi32_ps floats_of
#define _mm256_dpbusd_avx_epi32 simde_mm256_dpbusd_epi32

#include TESSERA_EMULATED_SET
