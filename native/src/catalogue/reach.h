// The items that one search may reach: a pinned view of the catalogue and, where the request
// restricts it, which of its items are eligible. A node is entered only if an item to be had lies
// at it or below. A value; thread-safe as what it points to is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "catalogue/bits.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

/// Live items of one view that a request may get, and the nodes that have one at or below
/// them. Immutable once made (eligibility.h).
struct Eligibility {
  std::vector<uint64_t> items;  // bits by ItemOrdinal, of View::item_count()
  std::vector<uint64_t> nodes;  // bits by NodeIndex, of View::node_count()
  uint32_t capped_items = 0;    // that frequency caps alone keep out
};

/// Candidates below a node: children of the snapshot that the mask lets pass, and later ones.
struct ReachChildren {
  Children base;
  const uint64_t* mask = nullptr;  // bit mask_begin + i is child i's; null: all pass
  uint64_t mask_begin = 0;
  std::span<const AddedChild> added;  // to be asked for with may_enter()

  bool is_plain() const { return mask == nullptr && added.empty(); }
};

class Reach {
 public:
  Reach() = default;
  explicit Reach(std::shared_ptr<const View> view,
                 std::shared_ptr<const Eligibility> eligibility = nullptr)
      : view_(std::move(view)),
        eligibility_(std::move(eligibility)),
        base_(&view_->base()),
        base_node_count_(static_cast<uint32_t>(base_->node_count())),
        is_plain_(eligibility_ == nullptr && !view_->has_changes()) {}

  bool is_set() const { return view_ != nullptr; }
  const View& view() const { return *view_; }
  const std::shared_ptr<const View>& shared_view() const { return view_; }
  /// Null where the request may get every live item.
  const Eligibility* eligibility() const { return eligibility_.get(); }
  /// True if the snapshot alone answers for every node.
  bool is_plain() const { return is_plain_; }
  /// Snapshot of the view.
  const Snapshot& base() const { return *base_; }
  /// True for a node that the snapshot lacks.
  bool is_later(NodeIndex node) const { return node >= base_node_count_; }

  /// Children in the snapshot, whether they may be entered or not.
  Children base_children(NodeIndex node) const {
    return is_later(node) ? Children{} : base_->children(node);
  }
  ReachChildren children(NodeIndex node) const {
    ReachChildren result;
    result.base = base_children(node);
    if (is_plain_) return result;
    const NodeChange* change = view_->node_change(node);
    if (change != nullptr) result.added = change->added;
    if (eligibility_ != nullptr) {
      result.mask = eligibility_->nodes.data();
      result.mask_begin = result.base.first_child;
    } else if (change != nullptr && !change->live_children.empty()) {
      result.mask = change->live_children.data();
    }
    return result;
  }

  /// True if a node may be entered: one that children() of such a node gave as `added`, or any node
  /// where the request restricts its items.
  bool may_enter(NodeIndex node) const {
    return eligibility_ == nullptr || test_bit(eligibility_->nodes.data(), node);
  }
  bool may_get(ItemOrdinal item) const {
    return eligibility_ == nullptr || test_bit(eligibility_->items.data(), item);
  }

  /// Number of the items [begin, end) that a request may get. REQUIRES: nothing differs from the
  /// snapshot.
  uint64_t count(ItemOrdinal begin, ItemOrdinal end) const {
    if (eligibility_ == nullptr) return end - begin;
    return count_bits(eligibility_->items.data(), begin, end);
  }

  bool has_children(NodeIndex node) const {
    if (is_plain_) return base_->has_children(node);
    const ReachChildren below = children(node);
    for (const AddedChild& child : below.added) {
      if (may_enter(child.node)) return true;
    }
    const uint32_t count = below.base.codes.size();
    return below.mask == nullptr ? count > 0
                                 : any_bit(below.mask, below.mask_begin, below.mask_begin + count);
  }

  /// True if the node itself has an item that the request may get.
  bool is_terminal(NodeIndex node) const {
    if (is_plain_) return base_->is_terminal(node);
    const ItemList items = view_->items(node);
    if (eligibility_ == nullptr) return !items.empty();
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (may_get(items[i])) return true;
    }
    return false;
  }

  /// Last code of the node's SID. REQUIRES: node is not the root.
  uint32_t code(NodeIndex node) const {
    return is_later(node) ? view_->code(node) : base_->code(node);
  }

  void prefetch(NodeIndex node) const {
    if (!is_later(node)) base_->prefetch(node);
  }

 private:
  std::shared_ptr<const View> view_;
  std::shared_ptr<const Eligibility> eligibility_;
  const Snapshot* base_ = nullptr;  // of the view
  uint32_t base_node_count_ = 0;
  bool is_plain_ = true;
};

}  // namespace tessera::catalogue
