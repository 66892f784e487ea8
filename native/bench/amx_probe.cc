// Statements of our own instead of the compiler's intrinsics, as in device/cpu/amx.cc.
#include "device/cpu/amx_tiles.h"
#include "probes.h"

namespace tessera::bench {
namespace {

using device::cpu::kTileRowBytes;
using device::cpu::TileConfig;

/// Four sums over the same two tiles of ones and of twos.
template <typename Multiply>
float run(uint64_t rounds, uint8_t left, uint8_t right, const Multiply& multiply) {
  static constexpr TileConfig config = device::cpu::whole_tiles();
  alignas(64) uint8_t operands[2][device::cpu::kTileRows * kTileRowBytes];
  for (size_t i = 0; i < sizeof operands[0]; ++i) {
    operands[0][i] = left;
    operands[1][i] = right;
  }
  asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  asm volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3");
  asm volatile("tileloadd (%0,%1,1), %%tmm4" ::"r"(operands[0]), "r"(kTileRowBytes) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm5" ::"r"(operands[1]), "r"(kTileRowBytes) : "memory");
  for (uint64_t round = 0; round < rounds; ++round) multiply();
  asm volatile("tilestored %%tmm3, (%0,%1,1)" ::"r"(operands[0]), "r"(kTileRowBytes) : "memory");
  asm volatile("tilerelease" ::: "memory");
  return operands[0][0];
}

}  // namespace

float bf16_probe_amx(uint64_t rounds) {
  return run(rounds, 0x3F, 0x3C, [] {
    asm volatile(
        "tdpbf16ps %tmm5, %tmm4, %tmm0\n\ttdpbf16ps %tmm5, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm5, %tmm4, %tmm2\n\ttdpbf16ps %tmm5, %tmm4, %tmm3");
  });
}

float int8_probe_amx(uint64_t rounds) {
  return run(rounds, 1, 2, [] {
    asm volatile(
        "tdpbssd %tmm5, %tmm4, %tmm0\n\ttdpbssd %tmm5, %tmm4, %tmm1\n\t"
        "tdpbssd %tmm5, %tmm4, %tmm2\n\ttdpbssd %tmm5, %tmm4, %tmm3");
  });
}

}  // namespace tessera::bench
