#include "platform/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace tessera::platform {
#if defined(__x86_64__)
namespace {

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zero where the processor has no such leaf.
CpuidLeaf cpuid(unsigned leaf, unsigned subleaf) {
  CpuidLeaf r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

/// The state components that the operating system saves. REQUIRES: OSXSAVE.
uint64_t saved_state() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

/// Linux lets a process use tiles only after it has asked (arch_prctl, since 5.16).
bool tiles_granted() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx() {
  constexpr unsigned kOsxsave = 1u << 27;                                   // CPUID.(1):ECX
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;  // CPUID.(7,0):EDX
  constexpr uint64_t kTileState = uint64_t{3} << 17;                        // XTILECFG, XTILEDATA
  constexpr unsigned kAll = kBf16 | kTile | kInt8;
  if ((cpuid(7, 0).edx & kAll) != kAll || (cpuid(1, 0).ecx & kOsxsave) == 0) return false;
  return (saved_state() & kTileState) == kTileState && tiles_granted();
}

}  // namespace
#endif

CpuFeatures detect_cpu_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  // The compiler's check includes whether the operating system saves the registers (XCR0).
  __builtin_cpu_init();
  features.avx2_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  constexpr unsigned kAvxVnni = 1u << 4;  // CPUID.(7,1):EAX
  features.avx_vnni = features.avx2_fma && (cpuid(7, 1).eax & kAvxVnni) != 0;
  features.avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  features.avx512_bf16 = features.avx512 && __builtin_cpu_supports("avx512bf16") != 0;
  features.fast_bf16_dots = features.avx512_bf16 && __builtin_cpu_is("amd") != 0;
  features.avx512_vnni =
      features.avx512 && features.avx2_fma && __builtin_cpu_supports("avx512vnni") != 0;
  features.amx = features.avx512 && features.avx2_fma && has_amx();
#endif
  return features;
}

}  // namespace tessera::platform
