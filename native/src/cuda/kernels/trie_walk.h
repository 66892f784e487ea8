// Answers the questions of catalogue/reach.h on a card, for one version of a catalogue. Included by
// *.cu only.
#pragma once

#include "cuda/device/kernel.h"
#include "cuda/kernels/select_kernels.h"

namespace tessera::beam::cuda {

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

/// The differences at a node; null where there are none. A key's path is that of PersistentMap.
TESSERA_DEVICE const NodeRow* find_row(const Trie& trie, uint32_t node) {
  uint32_t path = (node ^ node >> 16) * 0x7FEB352Du;
  path = (path ^ path >> 15) * 0x846CA68Bu;
  path ^= path >> 16;
  const MapNode* at = trie.changes;
  while (at != nullptr) {
    const uint64_t bit = uint64_t{1} << (path & ((1u << kMapBits) - 1));
    if ((at->used & bit) == 0) return nullptr;
    const uint64_t slot = reinterpret_cast<const uint64_t*>(at + 1)[__popcll(at->used & (bit - 1))];
    if ((slot & kRowMark) != 0) {
      const auto* row = reinterpret_cast<const NodeRow*>(slot - kRowMark);
      return row->node == node ? row : nullptr;
    }
    at = reinterpret_cast<const MapNode*>(slot);
    path >>= kMapBits;
  }
  return nullptr;
}

/// The children of a node, whether they may be entered or not. `nodes_open`: bit per node that may
/// be entered; null where the request restricts nothing.
TESSERA_DEVICE Fan fan_of(const Trie& trie, const NodeRow* row, const uint64_t* nodes_open,
                          uint32_t node) {
  Fan fan;
  fan.node = node;
  if (node < trie.interior_count) {
    fan.first_child = trie.child_offsets[node];
    fan.base_count = trie.child_offsets[node + 1] - fan.first_child;
  }
  if (row != nullptr) {
    fan.later = row->later;
    fan.later_count = row->later_count;
    fan.mask = row->live_children;
  }
  if (nodes_open != nullptr) {
    fan.mask = nodes_open;
    fan.mask_begin = fan.first_child;
  }
  return fan;
}

struct Child {
  uint32_t node = 0;
  uint32_t code = 0;
  bool is_open = false;
};

/// REQUIRES: place < base_count + later_count of the fan.
TESSERA_DEVICE Child child_at(const Trie& trie, const Fan& fan, const uint64_t* nodes_open,
                              uint32_t place) {
  uint32_t low = 0, high = fan.later_count;  // later children before the place
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (fan.later[middle].place < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Child child;
  if (low < fan.later_count && fan.later[low].place == place) {
    child.node = fan.later[low].node;
    child.code = fan.later[low].code;
    child.is_open = is_open(nodes_open, child.node);
  } else {
    child.node = fan.first_child + place - low;
    child.code = code_of(trie, child.node);
    child.is_open = is_open(fan.mask, fan.mask_begin + place - low);
  }
  return child;
}

TESSERA_DEVICE bool any_child_open(const Fan& fan, const uint64_t* nodes_open) {
  for (uint32_t i = 0; i < fan.later_count; ++i) {
    if (is_open(nodes_open, fan.later[i].node)) return true;
  }
  return any_open(fan.mask, fan.mask_begin, fan.mask_begin + fan.base_count);
}

/// Live items of a node in export order.
struct Items {
  const uint32_t* list = nullptr;  // null: first, first + 1, ...
  uint32_t first = 0;
  uint32_t count = 0;
};

TESSERA_DEVICE Items items_of(const Trie& trie, const NodeRow* row, uint32_t node) {
  Items items;
  if (row != nullptr && row->items != nullptr) {
    items.list = row->items;
    items.count = row->item_count;
  } else if (node >= trie.first_item_node && node < trie.node_count) {
    const uint32_t* offsets = trie.item_offsets + (node - trie.first_item_node);
    items.first = offsets[0];
    items.count = offsets[1] - offsets[0];
  }
  return items;
}

TESSERA_DEVICE bool any_item_open(const Items& items, const uint64_t* items_open) {
  if (items.list == nullptr) return any_open(items_open, items.first, items.first + items.count);
  for (uint32_t i = 0; i < items.count; ++i) {
    if (is_open(items_open, items.list[i])) return true;
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
