// One version of a catalogue as the kernels of search and export read it: the arrays of its
// snapshot and, over them, what has changed since. Every pointer is to device memory.
//
// The changes are the persistent map of catalogue/view.h, node for node: versions share the parts
// of it that do not differ, so a new version costs what it touches.
#pragma once

#include <cstdint>

namespace tessera::beam::cuda {

/// A child that the snapshot lacks and that leads to a live item.
struct LaterChild {
  uint32_t code = 0;
  uint32_t node = 0;
  uint32_t place =
      0;  // among all children of its parent, the snapshot's and these, codes ascending
};

/// catalogue::NodeChange: what differs at a node.
struct NodeRow {
  uint32_t node = 0;
  uint32_t item_count = 0;
  uint32_t later_count = 0;
  const uint64_t* live_children = nullptr;  // bit i: child i of the snapshot is live; null: all are
  const uint32_t* items = nullptr;          // in place of the snapshot's; null: those hold
  const LaterChild* later = nullptr;        // codes ascending
};

/// A node of the map (catalogue/persistent_map.h). Behind it lie as many slots as `used` has bits:
/// addresses of rows, with kRowMark added, or of map nodes.
struct MapNode {
  uint64_t used = 0;
};
inline constexpr uint32_t kMapBits = 6;  // of a key's path, per map node
inline constexpr uint64_t kRowMark = 1;

/// Sections of a snapshot (catalogue/format.h), and the changes.
struct Trie {
  const void* codes = nullptr;  // u8, u16 or u32 per node
  uint32_t code_bytes = 1;
  uint32_t interior_count = 0;              // nodes that have child offsets
  const uint32_t* child_offsets = nullptr;  // [interior_count + 1]
  uint32_t first_item_node = 0;
  uint32_t node_count = 0;                 // of the snapshot: later nodes are numbered from here on
  const uint32_t* item_offsets = nullptr;  // [node_count - first_item_node + 1]
  const MapNode* changes = nullptr;        // null: none
};

}  // namespace tessera::beam::cuda
