// The only header of the engine that a file of CUDA kernels includes: such files (*.cu) are
// compiled by nvcc for the card and, in tests, as plain C++ on an emulation of its threads
// (simt.h), so they keep to what both understand.
//
// Kernels have C names, take plain values and pointers to device memory, and use of the language
// the built-in indices, __syncthreads, the warp functions below and the two macros for shared
// memory. BF16 values are their bits in uint16_t, as everywhere in the engine.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define TESSERA_KERNEL extern "C" __global__ void
#define TESSERA_DEVICE __device__ __forceinline__
/// `count` values of a block's shared memory, not initialised; count is a constant.
#define TESSERA_SHARED(type, name, count) __shared__ __align__(16) type name[count]
/// The dynamic shared memory of the launch; one use in a kernel.
#define TESSERA_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
/// Before a loop whose index chooses registers: without it they may lie in memory.
#define TESSERA_UNROLL _Pragma("unroll")
#else
#include <bit>

#include "cuda/device/simt.h"
#define TESSERA_UNROLL
#endif

namespace tessera::cuda {

inline constexpr uint32_t kWarpLanes = 32;
inline constexpr uint32_t kFullWarp = 0xFFFFFFFFu;
inline constexpr float kLowest = -3.402823466e+38f;

TESSERA_DEVICE uint32_t float_bits(float value) {
#if defined(__CUDACC__)
  return __float_as_uint(value);
#else
  return std::bit_cast<uint32_t>(value);
#endif
}

TESSERA_DEVICE float bits_float(uint32_t bits) {
#if defined(__CUDACC__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

TESSERA_DEVICE float widen(uint16_t bf16) { return bits_float(static_cast<uint32_t>(bf16) << 16); }

/// Nearest BF16 value, ties to even; NaN stays NaN.
TESSERA_DEVICE uint16_t narrow(float value) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// 16 bytes as one thread loads and stores them.
struct alignas(16) Chunk {
  uint32_t words[4];
};

/// Two neighbours, the first at an even element.
TESSERA_DEVICE uint32_t pair_at(const uint16_t* elements) {
  return *reinterpret_cast<const uint32_t*>(elements);
}

/// The same in every lane: halves are added in one order, so the sum depends on the values alone.
TESSERA_DEVICE float warp_sum(float value) {
  for (uint32_t offset = kWarpLanes / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kFullWarp, value, static_cast<int>(offset));
  }
  return value;
}

TESSERA_DEVICE float warp_maximum(float value) {
  for (uint32_t offset = kWarpLanes / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kFullWarp, value, static_cast<int>(offset)));
  }
  return value;
}

/// d += a b for a 16x16 (row-major), b 16x8 (column-major) and d 16x8 of BF16, sums in F32, by one
/// warp: mma.sync.m16n8k16 of the PTX ISA (sm_80 on), whose fragments these are. Lane l has, with
/// g = l / 4 and t = l % 4: of a rows g and g + 8, columns 2t, 2t + 1 (a[0], a[1]) and 2t + 8,
/// 2t + 9 (a[2], a[3]); of b the same rows of column g; of d columns 2t, 2t + 1 of row g (d[0],
/// d[1]) and of row g + 8 (d[2], d[3]).
TESSERA_DEVICE void multiply_16x8x16(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                     float (&d)[4]) {
#if defined(__CUDACC__)
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  simt::multiply_16x8x16(a, b, d);
#endif
}

/// Likewise of INT8, a 16x32 and b 32x8, exact sums: mma.sync.m16n8k32, lane by lane the same bytes
/// of a row or a column: of a and b four at 4t and four at 4t + 16.
TESSERA_DEVICE void multiply_16x8x32(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                     int32_t (&d)[4]) {
#if defined(__CUDACC__)
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  simt::multiply_16x8x32(a, b, d);
#endif
}

}  // namespace tessera::cuda
