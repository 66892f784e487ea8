// The kernels of wider instruction sets over SIMDe, so that their text is tested on machines that
// lack the instructions. Compiled for AVX2, once per set (TESSERA_EMULATED_SET is its file). Test
// only.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define _mm256_dpbusd_avx_epi32 simde_mm256_dpbusd_epi32

#include TESSERA_EMULATED_SET
