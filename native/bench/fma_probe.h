// What the machine's multiply-add units can do at most: independent fused multiply-adds on
// registers, nothing else. The roof that matrix products are compared with.
#pragma once

#include <cstdint>

namespace tessera::bench {

/// Runs `rounds` times kProbeFlops floating-point operations; returns a number that depends on all
/// of them.
float fma_probe_avx2(uint64_t rounds);
float fma_probe_avx512(uint64_t rounds);

inline constexpr uint64_t kProbeChains = 12;  // more than latency times pipes, fewer than registers
inline constexpr uint64_t kProbeFlopsAvx2 = kProbeChains * 8 * 2;
inline constexpr uint64_t kProbeFlopsAvx512 = kProbeChains * 16 * 2;

}  // namespace tessera::bench
