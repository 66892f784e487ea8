// One immutable version of the catalogue: a memory-mapped, checksummed file holding the trie of live semantic IDs
// (level-local codes), the items of each SID and their attributes. Safe to share between threads; the file stays
// mapped until the last reference goes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::catalogue {

using NodeIndex = uint32_t;    // 0 is the root; nodes are numbered level by level, in lexicographic order of their SID
using ItemOrdinal = uint32_t;  // items are numbered in (SID, priority descending, item ID) order
inline constexpr NodeIndex kRoot = 0;
inline constexpr NodeIndex kNoNode = 0xFFFFFFFFu;
inline constexpr ItemOrdinal kNoItem = 0xFFFFFFFFu;
inline constexpr uint32_t kMaxDepth = 32;

/// Children of a node: codes ascending; child i is node first_child + i.
struct Children {
  std::span<const uint32_t> codes;
  NodeIndex first_child = kNoNode;
};

/// Items of a SID in export order: [first, first + count).
struct ItemRange {
  ItemOrdinal first = 0;
  uint32_t count = 0;
};

class Snapshot {
 public:
  /// Maps and validates the file (magic, version, section bounds, checksums, structure).
  /// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_CORRUPT naming the section.
  static Result<std::shared_ptr<const Snapshot>> open(const std::string& path);
  virtual ~Snapshot() = default;

  virtual const std::string& digest() const = 0;  // hex content digest: the version
  virtual uint32_t depth() const = 0;             // deepest level, 1..kMaxDepth
  virtual uint32_t level_size(uint32_t level) const = 0;  // codes of level 0..depth-1 are in [0, level_size)
  virtual uint64_t node_count() const = 0;
  virtual uint64_t path_count() const = 0;  // distinct SIDs
  virtual uint64_t item_count() const = 0;
  virtual uint64_t nodes_at_level(uint32_t level) const = 0;  // nodes at depth level + 1

  virtual Children children(NodeIndex node) const = 0;
  /// Child of `node` by `code`, or kNoNode.
  virtual NodeIndex child(NodeIndex node, uint32_t code) const = 0;
  /// Items whose SID ends at `node`; count 0 when none does.
  virtual ItemRange items(NodeIndex node) const = 0;
  bool is_terminal(NodeIndex node) const { return items(node).count > 0; }

  virtual std::string_view item_id(ItemOrdinal item) const = 0;
  virtual std::string_view title(ItemOrdinal item) const = 0;       // empty when none was given
  virtual std::string_view attributes(ItemOrdinal item) const = 0;  // JSON object text, "{}" when none
  virtual ItemOrdinal find_item(std::string_view item_id) const = 0;  // kNoItem when absent
  virtual NodeIndex node_of(ItemOrdinal item) const = 0;
  /// Writes the codes of a node's SID; returns their number (its depth).
  virtual uint32_t sid(NodeIndex node, std::span<uint32_t, kMaxDepth> codes) const = 0;
};

}  // namespace tessera::catalogue
