// What the kernels of search and export ask of a snapshot's arrays. Included by *.cu only.
#pragma once

#include "beam/cuda/select_kernels.h"
#include "device/cuda/kernel.h"

namespace tessera::beam::cuda {

TESSERA_DEVICE uint32_t child_count(const Trie& trie, uint32_t node) {
  return node < trie.interior_count ? trie.child_offsets[node + 1] - trie.child_offsets[node] : 0;
}

TESSERA_DEVICE uint32_t code_of(const Trie& trie, uint32_t node) {
  if (trie.code_bytes == 1) return static_cast<const uint8_t*>(trie.codes)[node];
  if (trie.code_bytes == 2) return static_cast<const uint16_t*>(trie.codes)[node];
  return static_cast<const uint32_t*>(trie.codes)[node];
}

TESSERA_DEVICE bool is_open(const uint64_t* bits, uint32_t at) {
  return bits == nullptr || (bits[at / 64] >> (at % 64) & 1) != 0;
}

TESSERA_DEVICE bool any_open(const uint64_t* bits, uint32_t begin, uint32_t end) {
  if (bits == nullptr) return begin < end;
  for (uint32_t at = begin; at < end; at += 64 - at % 64) {
    uint64_t word = bits[at / 64] >> (at % 64);
    if (end - at < 64 - at % 64) word &= (uint64_t{1} << (end - at)) - 1;
    if (word != 0) return true;
  }
  return false;
}

/// Sum of `value` over the threads before this one; `total` over all. kSelectThreads threads.
TESSERA_DEVICE uint32_t sum_before(uint32_t value, uint32_t& total) {
  TESSERA_SHARED(uint32_t, warp_sums, kSelectThreads / tessera::cuda::kWarpLanes);
  const uint32_t lane = threadIdx.x % tessera::cuda::kWarpLanes,
                 warp = threadIdx.x / tessera::cuda::kWarpLanes;
  uint32_t sum = value;
  for (uint32_t offset = 1; offset < tessera::cuda::kWarpLanes; offset *= 2) {
    const uint32_t below = __shfl_up_sync(tessera::cuda::kFullWarp, sum, offset);
    if (lane >= offset) sum += below;
  }
  __syncthreads();  // of the call before, all have read
  if (lane == tessera::cuda::kWarpLanes - 1) warp_sums[warp] = sum;
  __syncthreads();
  uint32_t before = 0;
  total = 0;
  for (uint32_t i = 0; i < kSelectThreads / tessera::cuda::kWarpLanes; ++i) {
    before += i < warp ? warp_sums[i] : 0;
    total += warp_sums[i];
  }
  return before + sum - value;
}

}  // namespace tessera::beam::cuda
