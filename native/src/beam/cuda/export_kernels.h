// From finished paths to items on a card, as beam::export_items does without a policy of its own
// (beam/export.h): of each path in order the first items that may be had, up to a cap, until
// enough.
//
//   tessera_export_items   grid (1, requests), block kSelectThreads: a warp per path counts, then
//                          the places of all paths are summed, then a warp per path writes
#pragma once

#include <cstdint>

#include "beam/cuda/select_kernels.h"

namespace tessera::beam::cuda {

/// One request's paths and items; every pointer is to device memory.
struct Export {
  const Trie* trie = nullptr;  // of the version that the request has pinned
  uint32_t paths = 0;
  const uint32_t* nodes = nullptr;       // [paths] in order of rank, each once
  const uint64_t* items_open = nullptr;  // bit per item that may be had; null: all live ones
  uint32_t items_per_path = 0;           // at most; 0: no cap
  uint32_t items_max = 0;                // in all
  uint32_t* counts = nullptr;            // [paths] scratch
  // Out.
  uint32_t* items = nullptr;       // [items_max] ordinals
  uint32_t* item_paths = nullptr;  // [items_max] index into the paths
  uint32_t* item_count = nullptr;
};

}  // namespace tessera::beam::cuda
