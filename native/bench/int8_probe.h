// What the machine's integer multiply-add units can do at most on 8-bit numbers, as fma_probe.h.
#pragma once

#include <cstdint>

namespace tessera::bench {

/// Runs `rounds` times kInt8ProbeOperationsAvx2 operations: pairs of numbers widened to 16 bits,
/// which is the fastest exact product of two signed bytes without VNNI.
int32_t int8_probe_avx2(uint64_t rounds);

inline constexpr uint64_t kInt8ProbeChains = 6;
inline constexpr uint64_t kInt8ProbeOperationsAvx2 = kInt8ProbeChains * 16 * 2;

}  // namespace tessera::bench
