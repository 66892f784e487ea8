// What the machine's multiply-add units can do at most: independent multiply-adds on registers (or
// tiles), nothing else. The roofs that matrix products are compared with. One file per set of
// instructions, compiled with its own flags and run only where the processor has them.
#pragma once

#include <cstdint>
#include <vector>

#include "device/backends.h"

namespace tessera::bench {

/// Each runs its operations `rounds` times and returns a number that depends on all of them.
float fma_probe_avx2(uint64_t rounds);
float fma_probe_avx512(uint64_t rounds);
/// Pairs of numbers widened to 16 bits: the fastest exact product of two signed bytes without VNNI.
float int8_probe_avx2(uint64_t rounds);
float int8_probe_avx_vnni(uint64_t rounds);
float int8_probe_avx512_vnni(uint64_t rounds);
float bf16_probe_amx(uint64_t rounds);
float int8_probe_amx(uint64_t rounds);

inline constexpr uint64_t kFmaChains = 12;  // more than latency times pipes, fewer than registers
inline constexpr uint64_t kInt8Chains = 6;  // likewise, with the two steps of AVX2
inline constexpr uint64_t kTileChains = 4;
inline constexpr uint64_t kFmaOperationsAvx2 = kFmaChains * 8 * 2;
inline constexpr uint64_t kFmaOperationsAvx512 = kFmaChains * 16 * 2;

struct Probe {
  const char* name;
  device::PanelType numbers;
  device::InstructionSet set;  // with which the engine uses these instructions
  uint64_t operations;         // of a round
  float (*run)(uint64_t rounds);
};

/// Those that this processor can run; of the same numbers the fastest last.
std::vector<Probe> probes_here();

/// The fastest probe for these numbers that the set uses; null where there is none.
const Probe* find_probe(const std::vector<Probe>& probes, device::PanelType numbers,
                        device::InstructionSet set);

}  // namespace tessera::bench
