#include "platform/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tessera::platform {

CpuFeatures detect_cpu_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  // The compiler's check includes whether the operating system saves the registers (XCR0).
  __builtin_cpu_init();
  features.avx2_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  features.avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  features.avx512_bf16 = features.avx512 && __builtin_cpu_supports("avx512bf16") != 0;
  constexpr unsigned kAmxBf16Bit = 1u << 22;  // CPUID.(7,0):EDX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    features.amx_bf16 = (edx & kAmxBf16Bit) != 0;
  }
#endif
  return features;
}

}  // namespace tessera::platform
