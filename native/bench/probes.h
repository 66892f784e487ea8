// Peak rates of the machine's multiply-add units: independent multiply-adds on registers or tiles,
// nothing else. Matrix products are compared with these ceilings.
#pragma once

#include <cstdint>
#include <vector>

#include "device/panel.h"
#include "platform/thread_pool.h"

namespace tessera::bench {

/// Each runs its operations `rounds` times. The loops are statements of our own, to which no
/// compiler adds copies of registers; only machines with the instructions may run them.
void f32_probe_avx2(uint64_t rounds);
void f32_probe_avx512(uint64_t rounds);
void bf16_probe_avx512(uint64_t rounds);
/// Crossed pairs of 16 bits (device/cpu/int8_avx2.cc): the fastest exact product of two signed
/// bytes without VNNI.
void int8_probe_avx2(uint64_t rounds);
void int8_probe_avx_vnni(uint64_t rounds);
void int8_probe_avx512_vnni(uint64_t rounds);
void bf16_probe_amx(uint64_t rounds);
void int8_probe_amx(uint64_t rounds);
/// The same, and after each product of tiles 16 rows of sums are converted, scaled and added, on
/// registers: what the scales of each 64 k (docs/internals/kernels.md) leave of the unit's rate.
void scaled_int8_probe_amx(uint64_t rounds);

struct Probe {
  const char* name;
  uint64_t operations;  // of a round
  bool is_integer;
  void (*run)(uint64_t rounds);
};

inline constexpr uint64_t kChains = 14;        // more than latency times pipes
inline constexpr uint64_t kCrossedChains = 6;  // likewise, with the four steps of INT8 on AVX2
inline constexpr uint64_t kTileChains = 6;
inline constexpr uint64_t kTileProducts = kTileChains * 16 * 16 * 2;

inline constexpr Probe kF32Avx2{"multiply-add avx2", kChains * 8 * 2, false, f32_probe_avx2};
inline constexpr Probe kF32Avx512{"multiply-add avx512", kChains * 16 * 2, false, f32_probe_avx512};
inline constexpr Probe kBf16Avx512{"multiply-add bf16 avx512", kChains * 32 * 2, false,
                                   bf16_probe_avx512};
inline constexpr Probe kInt8Avx2{"multiply-add int8 avx2", kCrossedChains * 32 * 2, true,
                                 int8_probe_avx2};
inline constexpr Probe kInt8AvxVnni{"multiply-add int8 avx-vnni", kChains * 32 * 2, true,
                                    int8_probe_avx_vnni};
inline constexpr Probe kInt8Avx512{"multiply-add int8 avx512-vnni", kChains * 64 * 2, true,
                                   int8_probe_avx512_vnni};
inline constexpr Probe kBf16Amx{"multiply-add bf16 amx", kTileProducts * 32, false, bf16_probe_amx};
inline constexpr Probe kInt8Amx{"multiply-add int8 amx", kTileProducts * 64, true, int8_probe_amx};
inline constexpr Probe kScaledInt8Amx{"multiply-add int8 amx with scales", kTileProducts * 64, true,
                                      scaled_int8_probe_amx};

/// Those that this processor can run.
std::vector<Probe> probes_here();

/// Operations a second of all threads together: the best of `runs`, each so long that waking the
/// threads is less than a hundredth of it.
double multiply_add_rate(platform::ThreadPool& pool, const Probe& probe, int runs);

/// F32, BF16 or INT8, as results are named.
const char* type_name(device::PanelType type);

/// The most of the probes that multiply panels of `type`; BF16 may also be multiplied as F32.
/// 0: none does.
double multiply_add_roof(platform::ThreadPool& pool, device::PanelType type, int runs);

/// Bytes a second that all threads together read of `bytes` of memory, as often as makes a run
/// long: the best of `runs`.
double reading_rate(platform::ThreadPool& pool, const char* memory, uint64_t bytes, int runs);

}  // namespace tessera::bench
