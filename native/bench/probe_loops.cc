#include "device/cpu/amx_tiles.h"
#include "probes.h"

// Sums are in registers 2 to 15, the operands of all products in 0 and 1. The numbers are ordinary
// ones: products of zeros would take less power than those of a model.
#define TESSERA_CHAINS(one)                                                                       \
  one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11) one(12) one(13) one(14) \
      one(15)
#define TESSERA_CROSSED_CHAINS(one) one(2, 9) one(3, 10) one(4, 11) one(5, 12) one(6, 13) one(7, 14)
#define TESSERA_ZERO(n) "vpxor %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t"
#define TESSERA_LOOP(width, products)                                                            \
  asm volatile("vmovups (%1), %%" width "0\n\tvmovups 64(%1), %%" width                          \
               "1\n\t" TESSERA_CHAINS(TESSERA_ZERO) "1:\n\t" products                            \
                                                    "dec %0\n\tjnz 1b\n\t"                       \
                                                    "vzeroupper"                                 \
               : "+r"(rounds)                                                                    \
               : "r"(&numbers)                                                                   \
               : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

#define TESSERA_F32_YMM(n) "vfmadd213ps %%ymm1, %%ymm0, %%ymm" #n "\n\t"
#define TESSERA_F32_ZMM(n) "vfmadd213ps %%zmm1, %%zmm0, %%zmm" #n "\n\t"
#define TESSERA_BF16_ZMM(n) "vdpbf16ps %%zmm1, %%zmm0, %%zmm" #n "\n\t"
#define TESSERA_INT8_YMM(n) "%{vex%} vpdpbusd %%ymm1, %%ymm0, %%ymm" #n "\n\t"
#define TESSERA_INT8_ZMM(n) "vpdpbusd %%zmm1, %%zmm0, %%zmm" #n "\n\t"
#define TESSERA_CROSSED_YMM(n, left)                                                    \
  "vpaddw %%ymm1, %%ymm0, %%ymm" #left                                                  \
  "\n\tvpaddw %%ymm0, %%ymm0, %%ymm15\n\t"                                              \
  "vpmaddwd %%ymm15, %%ymm" #left ", %%ymm" #left "\n\tvpaddd %%ymm" #left ", %%ymm" #n \
  ", %%ymm" #n "\n\t"

// A row of 16 sums: converted, scaled and added, on sum n.
#define TESSERA_SCALED(n)                                           \
  "vcvtdq2ps %%zmm0, %%zmm10\n\tvmulps %%zmm0, %%zmm1, %%zmm11\n\t" \
  "vfmadd231ps %%zmm10, %%zmm11, %%zmm" #n "\n\t"
#define TESSERA_EIGHT_SCALED \
  TESSERA_SCALED(2)          \
  TESSERA_SCALED(3)          \
  TESSERA_SCALED(4)          \
  TESSERA_SCALED(5) TESSERA_SCALED(6) TESSERA_SCALED(7) TESSERA_SCALED(8) TESSERA_SCALED(9)
#define TESSERA_SCALED_TILE(n) \
  "tdpbssd %%tmm7, %%tmm6, %%tmm" #n "\n\t" TESSERA_EIGHT_SCALED TESSERA_EIGHT_SCALED

namespace tessera::bench {
namespace {

/// Two vectors: floats whose chains x * 0.999 + 0.001 stay near 1; as integers they are any.
struct alignas(64) Numbers {
  float values[32];
};
constexpr Numbers numbers_of(float first, float second) {
  Numbers numbers{};
  for (int i = 0; i < 16; ++i) {
    numbers.values[i] = first;
    numbers.values[16 + i] = second;
  }
  return numbers;
}
constexpr Numbers numbers = numbers_of(0.999f, 0.001f);

/// kTileChains sums over the same two tiles of numbers.
template <typename Multiply>
void run_tiles(uint64_t rounds, uint8_t left, uint8_t right, const Multiply& multiply) {
  using device::cpu::kTileRowBytes;
  static constexpr device::cpu::TileConfig config = device::cpu::whole_tiles();
  alignas(64) uint8_t operands[2][device::cpu::kTileRows * kTileRowBytes];
  for (size_t i = 0; i < sizeof operands[0]; ++i) {
    operands[0][i] = left;
    operands[1][i] = right;
  }
  asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  asm volatile(
      "tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3\n\t"
      "tilezero %tmm4\n\ttilezero %tmm5");
  asm volatile("tileloadd (%0,%1,1), %%tmm6" ::"r"(operands[0]), "r"(kTileRowBytes) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm7" ::"r"(operands[1]), "r"(kTileRowBytes) : "memory");
  for (uint64_t round = 0; round < rounds; ++round) multiply();
  asm volatile("tilerelease" ::: "memory");
}

}  // namespace

void f32_probe_avx2(uint64_t rounds) { TESSERA_LOOP("ymm", TESSERA_CHAINS(TESSERA_F32_YMM)); }
void f32_probe_avx512(uint64_t rounds) { TESSERA_LOOP("zmm", TESSERA_CHAINS(TESSERA_F32_ZMM)); }
void bf16_probe_avx512(uint64_t rounds) { TESSERA_LOOP("zmm", TESSERA_CHAINS(TESSERA_BF16_ZMM)); }
void int8_probe_avx2(uint64_t rounds) {
  TESSERA_LOOP("ymm", TESSERA_CROSSED_CHAINS(TESSERA_CROSSED_YMM));
}
void int8_probe_avx_vnni(uint64_t rounds) { TESSERA_LOOP("ymm", TESSERA_CHAINS(TESSERA_INT8_YMM)); }
void int8_probe_avx512_vnni(uint64_t rounds) {
  TESSERA_LOOP("zmm", TESSERA_CHAINS(TESSERA_INT8_ZMM));
}

void bf16_probe_amx(uint64_t rounds) {
  run_tiles(rounds, 0x3F, 0x3C, [] {
    asm volatile(
        "tdpbf16ps %tmm7, %tmm6, %tmm0\n\ttdpbf16ps %tmm7, %tmm6, %tmm1\n\t"
        "tdpbf16ps %tmm7, %tmm6, %tmm2\n\ttdpbf16ps %tmm7, %tmm6, %tmm3\n\t"
        "tdpbf16ps %tmm7, %tmm6, %tmm4\n\ttdpbf16ps %tmm7, %tmm6, %tmm5");
  });
}

void int8_probe_amx(uint64_t rounds) {
  run_tiles(rounds, 1, 2, [] {
    asm volatile(
        "tdpbssd %tmm7, %tmm6, %tmm0\n\ttdpbssd %tmm7, %tmm6, %tmm1\n\t"
        "tdpbssd %tmm7, %tmm6, %tmm2\n\ttdpbssd %tmm7, %tmm6, %tmm3\n\t"
        "tdpbssd %tmm7, %tmm6, %tmm4\n\ttdpbssd %tmm7, %tmm6, %tmm5");
  });
}

void scaled_int8_probe_amx(uint64_t rounds) {
  asm volatile("vzeroall");
  run_tiles(rounds, 1, 2, [] {
    asm volatile(TESSERA_SCALED_TILE(0) TESSERA_SCALED_TILE(1) TESSERA_SCALED_TILE(2)
                     TESSERA_SCALED_TILE(3) TESSERA_SCALED_TILE(4) TESSERA_SCALED_TILE(5)::
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                           "xmm9", "xmm10", "xmm11");
  });
  asm volatile("vzeroupper");
}

}  // namespace tessera::bench
