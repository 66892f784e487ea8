// One immutable version of the catalogue: a memory-mapped, checksummed file holding the trie of
// live semantic IDs (level-local codes), the items of each SID and their attributes. Safe to share
// between threads; the file stays mapped until the last reference goes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "catalogue/format.h"
#include "catalogue/text_table.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {

using NodeIndex =
    uint32_t;  // 0 is the root; nodes are numbered level by level, lexicographically within a level
using ItemOrdinal = uint32_t;  // items are numbered in (node, priority descending, item ID) order
inline constexpr NodeIndex kRoot = 0;
inline constexpr NodeIndex kNoNode = 0xFFFFFFFFu;
inline constexpr ItemOrdinal kNoItem = 0xFFFFFFFFu;

/// Codes of consecutive nodes, ascending, stored as u8, u16 or u32.
class Codes {
 public:
  Codes() = default;
  Codes(const std::byte* data, uint32_t count, uint32_t code_bytes)
      : data_(data), count_(count), code_bytes_(code_bytes) {}

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const std::byte* data() const { return data_; }
  uint32_t code_bytes() const { return code_bytes_; }
  /// Calls visitor with a pointer to the stored type: the switch is paid once, outside a loop.
  template <typename Visitor>
  auto visit(Visitor&& visitor) const {
    switch (code_bytes_) {
      case 1: return visitor(reinterpret_cast<const uint8_t*>(data_));
      case 2: return visitor(reinterpret_cast<const uint16_t*>(data_));
      default: return visitor(reinterpret_cast<const uint32_t*>(data_));
    }
  }
  /// REQUIRES: index < size().
  uint32_t operator[](size_t index) const {
    return visit([index](const auto* codes) { return static_cast<uint32_t>(codes[index]); });
  }

 private:
  const std::byte* data_ = nullptr;
  uint32_t count_ = 0;
  uint32_t code_bytes_ = 1;
};

/// Children of a node: codes ascending; child i is node first_child + i.
struct Children {
  Codes codes;
  NodeIndex first_child = kNoNode;
};

/// Items of a SID in export order: [first, first + count).
struct ItemRange {
  ItemOrdinal first = 0;
  uint32_t count = 0;
};

class Snapshot final {
 public:
  /// Maps and validates the file (magic, version, section bounds, checksums, structure).
  /// Errors: CATALOGUE_NOT_FOUND, CATALOGUE_CORRUPT naming the section, IO_FAILED.
  static Result<std::shared_ptr<const Snapshot>> open(const std::string& path);

  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const std::string& digest() const { return digest_; }  // hex content digest: the version
  uint32_t depth() const { return directory_->depth; }   // deepest level, 1..kMaxDepth
  /// Codes of level 0..depth-1 are in [0, level_size).
  uint32_t level_size(uint32_t level) const { return directory_->level_sizes[level]; }
  /// Token pattern of a level, such as "<a_{code}>"; empty when the source had plain codes.
  std::string_view level_pattern(uint32_t level) const;
  uint64_t node_count() const { return directory_->level_begin[depth() + 1]; }
  /// Nodes above the deepest level: the first ones.
  uint32_t interior_count() const { return interior_count_; }
  uint64_t path_count() const { return directory_->path_count; }  // distinct SIDs
  uint64_t item_count() const { return directory_->item_count; }
  uint64_t file_bytes() const { return directory_->file_bytes; }
  /// Nodes at depth level + 1.
  uint64_t nodes_at_level(uint32_t level) const {
    return directory_->level_begin[level + 2] - directory_->level_begin[level + 1];
  }
  /// Length of the node's SID; 0 for the root. REQUIRES: node < node_count().
  uint32_t depth_of(NodeIndex node) const {
    uint32_t depth = 0;
    while (node >= directory_->level_begin[depth + 1]) ++depth;
    return depth;
  }

  Children children(NodeIndex node) const {
    if (node >= interior_count_) return {};
    const NodeIndex first = child_offsets_[node];
    const uint32_t code_bytes = directory_->code_bytes;
    return {
        Codes(codes_ + uint64_t{first} * code_bytes, child_offsets_[node + 1] - first, code_bytes),
        first};
  }
  bool has_children(NodeIndex node) const {
    return node < interior_count_ && child_offsets_[node] != child_offsets_[node + 1];
  }
  /// Asks the memory for what children(), has_children() and items() of a node will read.
  void prefetch(NodeIndex node) const {
    if (node < interior_count_) __builtin_prefetch(child_offsets_ + node);
    if (node >= first_item_node_) __builtin_prefetch(item_offsets_ + (node - first_item_node_));
  }
  /// Child of `node` by `code`, or kNoNode.
  NodeIndex child(NodeIndex node, uint32_t code) const;
  /// Node whose SID is `codes`, or kNoNode.
  NodeIndex find_node(std::span<const uint32_t> codes) const;
  /// REQUIRES: node is not the root.
  NodeIndex parent(NodeIndex node) const;
  /// Last code of the node's SID. REQUIRES: node is not the root.
  uint32_t code(NodeIndex node) const {
    return Codes(codes_, static_cast<uint32_t>(node_count()), directory_->code_bytes)[node];
  }

  /// Items whose SID ends at `node`; count 0 when none does.
  ItemRange items(NodeIndex node) const {
    if (node < first_item_node_) return {};
    const uint32_t* offsets = item_offsets_ + (node - first_item_node_);
    return {offsets[0], offsets[1] - offsets[0]};
  }
  bool is_terminal(NodeIndex node) const { return items(node).count > 0; }

  std::string_view item_id(ItemOrdinal item) const { return item_ids_[item]; }
  /// Empty when none was given.
  std::string_view title(ItemOrdinal item) const {
    return titles_.is_empty() ? std::string_view() : titles_[item];
  }
  /// JSON object text, "{}" when none.
  std::string_view attributes(ItemOrdinal item) const {
    const std::string_view text = attributes_.is_empty() ? std::string_view() : attributes_[item];
    return text.empty() ? std::string_view("{}") : text;
  }
  double priority(ItemOrdinal item) const {
    return priorities_ == nullptr ? 0.0 : priorities_[item];
  }
  ItemOrdinal find_item(std::string_view item_id) const;  // kNoItem when absent
  NodeIndex node_of(ItemOrdinal item) const;
  /// Writes the codes of a node's SID; returns their number (its depth).
  uint32_t sid(NodeIndex node, std::span<uint32_t, kMaxDepth> codes) const;
  /// True when the SID of `a` comes before that of `b` (a prefix before its extensions).
  bool sid_before(NodeIndex a, NodeIndex b) const;

 private:
  friend class SnapshotReader;  // snapshot.cc: sets the pointers after its checks
  Snapshot() = default;

  platform::MappedFile file_;
  const Directory* directory_ = nullptr;
  std::string digest_;
  uint32_t interior_count_ = 0;    // nodes above the deepest level: only they have child offsets
  NodeIndex first_item_node_ = 0;  // first node of the shallowest level with items
  const std::byte* codes_ = nullptr;
  const uint32_t* child_offsets_ = nullptr;
  const uint32_t* item_offsets_ = nullptr;
  const uint32_t* parent_hints_ = nullptr;
  const uint32_t* item_hints_ = nullptr;
  const uint32_t* root_index_ = nullptr;
  const uint32_t* item_hash_ = nullptr;
  uint64_t item_hash_mask_ = 0;
  const double* priorities_ = nullptr;
  TextTable item_ids_;
  TextTable titles_;
  TextTable attributes_;
  std::string_view level_patterns_;
};

}  // namespace tessera::catalogue
