// One consistent version of a catalogue that changes while it serves: an immutable snapshot and,
// over it, what has changed since. Immutable; a request pins one from its first mask to its export.
//
// Nodes and items of the snapshot keep their numbers; those added later are numbered from
// node_count() and item_count() of the snapshot on, in the order of their arrival. So node numbers
// alone do not order SIDs once there are later nodes: sid_before() does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/attributes.h"
#include "catalogue/persistent_map.h"
#include "catalogue/snapshot.h"
#include "catalogue/values.h"

namespace tessera::catalogue {

class EligibilityIndex;

enum class ItemState : uint8_t { kLive = 0, kPaused = 1, kRemoved = 2 };

/// An item that a change has touched, whole.
struct ItemChange {
  uint64_t edit = 0;
  uint64_t sequence = 0;  // of the change that touched it last
  ItemState state = ItemState::kLive;
  NodeIndex node = kNoNode;
  double priority = 0;
  std::string item_id;
  std::string title;
  std::string attributes;  // JSON object text, "" is "{}"
  AttributeRow row;        // what of them is typed
  Sums sums{};             // by the view's valuations
};

/// A live child that the snapshot does not have.
struct AddedChild {
  uint32_t code = 0;
  NodeIndex node = kNoNode;
};

/// The differences of a node from the snapshot. Nodes that the snapshot lacks always have one.
struct NodeChange {
  uint64_t edit = 0;
  NodeIndex parent = kNoNode;  // parent, code and depth: of later nodes only
  uint32_t code = 0;
  uint32_t depth = 0;
  bool has_items = false;               // `items` replaces the snapshot's
  std::vector<ItemOrdinal> items;       // live ones, in export order
  uint32_t paused_count = 0;            // items of its SID that are paused
  std::vector<uint64_t> live_children;  // bit i: child i of the snapshot is live; empty: all are
  uint32_t dead_child_count = 0;        // zeros among them
  std::vector<AddedChild> added;        // live, codes ascending
  std::vector<AddedChild> dormant;      // without a live item below for now; codes ascending
};

/// Ordinals of other items in the same 32-bit hash of their ID.
struct IdBucket {
  uint64_t edit = 0;
  std::vector<ItemOrdinal> items;
};

/// Live items of a SID in export order.
class ItemList {
 public:
  ItemList() = default;
  explicit ItemList(ItemRange range) : first_(range.first), count_(range.count) {}
  explicit ItemList(std::span<const ItemOrdinal> items)
      : items_(items.data()), count_(static_cast<uint32_t>(items.size())) {}
  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// REQUIRES: index < size().
  ItemOrdinal operator[](uint32_t index) const {
    return items_ == nullptr ? first_ + index : items_[index];
  }

 private:
  const ItemOrdinal* items_ = nullptr;
  ItemOrdinal first_ = 0;
  uint32_t count_ = 0;
};

class View final {
 public:
  /// A snapshot as it is. The level sizes bound what changes may add; empty: those of the snapshot.
  /// REQUIRES: as many as the snapshot is deep at least, none smaller than the snapshot's.
  static std::shared_ptr<const View> of(std::shared_ptr<const Snapshot> base,
                                        std::vector<uint32_t> level_sizes = {},
                                        uint64_t sequence = 0,
                                        std::shared_ptr<const Valuations> valuations = nullptr);

  const Snapshot& base() const { return *base_; }
  const std::shared_ptr<const Snapshot>& shared_base() const { return base_; }
  /// Number of the last change that it holds; grows over the life of a catalogue.
  uint64_t sequence() const { return sequence_; }
  /// The newest mark of a batch that it holds (LiveCatalogue::apply); "" for none.
  const std::string& mark() const { return mark_; }
  /// Sequence of the snapshot: later changes are not in it.
  uint64_t base_sequence() const { return base_sequence_; }
  uint32_t depth() const { return static_cast<uint32_t>(level_sizes_.size()); }
  uint32_t level_size(uint32_t level) const { return level_sizes_[level]; }
  const std::vector<uint32_t>& level_sizes() const { return level_sizes_; }
  /// True if the view differs from its snapshot.
  bool has_changes() const { return !items_.empty(); }
  /// Nodes and items of the snapshot and later ones, dead or alive.
  uint32_t node_count() const { return node_count_; }
  uint32_t item_count() const { return item_count_; }
  /// Items that can be recalled when no request restricts them.
  uint64_t live_item_count() const { return live_item_count_; }
  bool is_later(NodeIndex node) const { return node >= base_node_count_; }

  /// Null where nothing differs.
  const NodeChange* node_change(NodeIndex node) const {
    return node_changes_.empty() ? nullptr : node_changes_.find(node);
  }
  const PersistentMap<NodeChange>& node_changes() const { return node_changes_; }
  const ItemChange* item_change(ItemOrdinal item) const {
    return items_.empty() ? nullptr : items_.find(item);
  }
  const PersistentMap<ItemChange>& item_changes() const { return items_; }

  NodeIndex parent(NodeIndex node) const {
    return is_later(node) ? node_changes_.find(node)->parent : base_->parent(node);
  }
  uint32_t code(NodeIndex node) const {
    return is_later(node) ? node_changes_.find(node)->code : base_->code(node);
  }
  uint32_t depth_of(NodeIndex node) const {
    return is_later(node) ? node_changes_.find(node)->depth : base_->depth_of(node);
  }
  /// Codes of a node, as Snapshot::sid.
  uint32_t sid(NodeIndex node, std::span<uint32_t, kMaxDepth> codes) const;
  bool sid_before(NodeIndex a, NodeIndex b) const;
  /// Child by code, dead or alive, or kNoNode.
  NodeIndex child(NodeIndex node, uint32_t code) const;
  /// Node whose SID is `codes`, dead or alive, or kNoNode.
  NodeIndex find_node(std::span<const uint32_t> codes) const;
  /// Live items whose SID ends at the node.
  ItemList items(NodeIndex node) const {
    const NodeChange* change = node_change(node);
    if (change != nullptr && change->has_items) return ItemList(change->items);
    return is_later(node) ? ItemList() : ItemList(base_->items(node));
  }
  /// True if a live item lies at the node or below.
  bool is_live(NodeIndex node) const;

  std::string_view item_id(ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->item_id : base_->item_id(item);
  }
  std::string_view title(ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->title : base_->title(item);
  }
  /// JSON object text, "{}" when none.
  std::string_view attributes(ItemOrdinal item) const;
  double priority(ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->priority : base_->priority(item);
  }
  ItemState state(ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->state : ItemState::kLive;
  }
  NodeIndex node_of(ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->node : base_->node_of(item);
  }
  /// Also finds what is paused or removed; kNoItem when the ID has never been.
  ItemOrdinal find_item(std::string_view item_id) const;
  /// The type of an attribute on all items; nothing where no item has it or has had it.
  std::optional<AttributeType> attribute_type(std::string_view name) const;
  /// Names that changes have brought, beyond those of the snapshot.
  size_t later_attribute_count() const {
    return later_attributes_ == nullptr ? 0 : later_attributes_->size();
  }
  /// Values of the snapshot by the valuations that requests may name; null: there are none.
  const SnapshotValues* values() const { return values_.get(); }
  /// Sum of the terms of a valuation, without paces; kExcluded where it excludes the item.
  /// REQUIRES: values().
  float sum(uint32_t valuation, ItemOrdinal item) const {
    const ItemChange* change = item_change(item);
    return change != nullptr ? change->sums[valuation] : values_->sum(valuation, item);
  }
  /// No less than the largest sum of a live item at the node or below, and than that of any child.
  /// REQUIRES: values().
  float most(uint32_t valuation, NodeIndex node) const {
    const NodeSums* sums = node_sums_.empty() ? nullptr : node_sums_.find(node);
    if (sums != nullptr) return sums->sums[valuation];
    return is_later(node) ? kExcluded : values_->most(valuation, node);
  }
  const TermRanges& term_ranges() const { return *term_ranges_; }
  /// Factor of the bids of items with the text; 1: none is set.
  double pace(std::string_view attribute, std::string_view text) const;
  bool has_paces() const { return pace_count_ > 0; }
  uint32_t pace_count() const { return pace_count_; }
  const PersistentMap<PaceBucket>& paces() const { return paces_; }
  const EligibilityIndex& eligibility_index() const { return *eligibility_index_; }
  const std::shared_ptr<const EligibilityIndex>& shared_eligibility_index() const {
    return eligibility_index_;
  }

 private:
  friend class ViewEditor;
  friend class ValueEditor;
  using AttributeTypes = std::map<std::string, AttributeType, std::less<>>;

  View() = default;

  std::shared_ptr<const Snapshot> base_;
  std::vector<uint32_t> level_sizes_;
  uint64_t sequence_ = 0;
  uint64_t base_sequence_ = 0;
  std::string mark_;
  uint32_t base_node_count_ = 0;
  uint32_t node_count_ = 0;
  uint32_t item_count_ = 0;
  uint64_t live_item_count_ = 0;
  PersistentMap<NodeChange> node_changes_;                     // by node
  PersistentMap<ItemChange> items_;                            // by ordinal
  std::shared_ptr<const EligibilityIndex> eligibility_index_;  // of the snapshot
  std::shared_ptr<const AttributeTypes> later_attributes_;     // null: none
  std::shared_ptr<const SnapshotValues> values_;               // null: no valuations
  std::shared_ptr<const TermRanges> term_ranges_;
  PersistentMap<NodeSums> node_sums_;  // of nodes that differ from values_
  PersistentMap<PaceBucket> paces_;    // by hash_pace()
  uint32_t pace_count_ = 0;
  PersistentMap<IdBucket> ids_;  // later items by 32 bits of the hash of their ID
};

}  // namespace tessera::catalogue
