// Positions of a prompt's blocks beside attention (attend_kernels.h has their layout).
//
//   tessera_mirror     grid (mirrors, 2 kv_heads), block kBlockThreads: one layer's positions
//   tessera_clear      grid (layers, 2 kv_heads), block kBlockThreads: positions of one block
#pragma once

#include <cstdint>

#include "cuda/kernels/attend_kernels.h"

namespace tessera::attention::cuda {

inline constexpr uint32_t kBlockThreads = 128;

/// Positions of a prompt that another one has too; the first lies in the first block of both.
struct MirroredRows {
  const int64_t* from = nullptr;  // half the address of each block
  uint16_t* const* to = nullptr;
  uint32_t first = 0;  // in its block
  uint32_t count = 0;
};

/// Positions [first, first + count) of a block that are to be zero.
struct ClearedRows {
  uint16_t* block = nullptr;
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t head_dim = 0;
};

}  // namespace tessera::attention::cuda
