// The attention that treats every beam as a sequence of its own, over keys and values that all
// beams share: what the engine's products over blocks are compared with. The queries of one KV head
// go together, four positions at a time, so that a key or value that was loaded serves both.
#pragma once

#include <cstdint>

#include "device/kernel_table.h"

namespace tessera::bench {

inline constexpr uint32_t kPerBeamDim = 128;

/// out = softmax(q . keys / sqrt(128)) values for two queries of one KV head, q and out
/// [2][128]; keys and values [positions][128]; scores [2][positions] is scratch.
/// REQUIRES: positions is a multiple of 4.
void attend_per_beam_avx2(const device::KernelTable& kernels, const float* q, const float* keys,
                          const float* values, uint32_t positions, float* scores, float* out);

}  // namespace tessera::bench
