#include "beam/cuda/export_kernels.h"
#include "beam/cuda/trie_walk.h"

namespace tessera::beam::cuda {

using tessera::cuda::kFullWarp;
using tessera::cuda::kWarpLanes;

/// Calls take(place, item) for the items of a path that may be had, in order, place by place up to
/// `most`; a whole warp calls it. Returns their number.
template <typename Take>
TESSERA_DEVICE uint32_t for_items(const Export& request, uint32_t node, uint32_t most,
                                  const Take& take) {
  const Items items = items_of(*request.trie, find_row(*request.trie, node), node);
  const uint32_t lane = threadIdx.x % kWarpLanes;
  uint32_t count = 0;
  for (uint32_t first = 0; first < items.count && count < most; first += kWarpLanes) {
    const uint32_t i = first + lane;
    uint32_t item = 0;
    if (i < items.count) item = items.list == nullptr ? items.first + i : items.list[i];
    const bool is_taken = i < items.count && is_open(request.items_open, item);
    const uint32_t votes = __ballot_sync(kFullWarp, is_taken);
    const uint32_t place = count + static_cast<uint32_t>(__popc(votes & ((1u << lane) - 1)));
    if (is_taken && place < most) take(place, item);
    count += static_cast<uint32_t>(__popc(votes));
  }
  return count < most ? count : most;
}

TESSERA_KERNEL tessera_export_items(const Export* requests) {
  const Export& request = requests[blockIdx.y];
  const uint32_t warp = threadIdx.x / kWarpLanes, warps = kSelectThreads / kWarpLanes;
  const uint32_t most = request.items_per_path > 0 && request.items_per_path < request.items_max
                            ? request.items_per_path
                            : request.items_max;
  for (uint32_t path = warp; path < request.paths; path += warps) {
    const uint32_t count = for_items(request, request.nodes[path], most, [](uint32_t, uint32_t) {});
    if (threadIdx.x % kWarpLanes == 0) request.counts[path] = count;
  }
  __syncthreads();
  uint32_t done = 0;  // items of the paths before
  for (uint32_t first = 0; first < request.paths; first += kSelectThreads) {
    const uint32_t path = first + threadIdx.x;
    uint32_t total = 0;
    const uint32_t before =
        done + sum_before(path < request.paths ? request.counts[path] : 0, total);
    if (path < request.paths) request.counts[path] = before;
    done += total;
  }
  __syncthreads();
  for (uint32_t path = warp; path < request.paths; path += warps) {
    const uint32_t begin = request.counts[path];
    if (begin >= request.items_max) continue;
    const uint32_t left = request.items_max - begin;
    for_items(request, request.nodes[path], most < left ? most : left,
              [&](uint32_t place, uint32_t item) {
                request.items[begin + place] = item;
                request.item_paths[begin + place] = path;
              });
  }
  if (threadIdx.x == 0) *request.item_count = done < request.items_max ? done : request.items_max;
}

}  // namespace tessera::beam::cuda
