// Changes the bits of an eligibility: items one by one, then the nodes whose items or children have
// changed, each looked at once. One thread; one editor per change from one version to another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "catalogue/predicate.h"
#include "catalogue/reach.h"

namespace tessera::catalogue {

/// The parts of a view that its bits depend on, beside the snapshot. Keeps no view alive.
struct ViewChanges {
  PersistentMap<ItemChange> items;
  PersistentMap<NodeChange> nodes;
  uint64_t sequence = 0;

  static ViewChanges of(const View& view) {
    return {view.item_changes(), view.node_changes(), view.sequence()};
  }
  bool are_of(const View& view) const {
    return items.is_same(view.item_changes()) && nodes.is_same(view.node_changes());
  }
};

class EligibilityEditor {
 public:
  /// Edits `bits` towards what they are for `view`.
  EligibilityEditor(const View& view, Eligibility& bits) : view_(view), bits_(bits) {}

  /// From the bits of a predicate, or of none, for any version of the view's snapshot, earlier or
  /// later. Costs what differs between the two versions.
  void bring_from(const ViewChanges& from, const std::optional<Clause>& predicate);
  void set_item(ItemOrdinal item, bool is_eligible);
  /// Brings the nodes in line with the items. The editor ends here.
  void finish();

 private:
  void check_later(NodeIndex node) { nodes_[view_.depth_of(node)].push_back(node); }
  bool has_eligible(NodeIndex node) const;

  const View& view_;
  Eligibility& bits_;
  std::array<std::vector<NodeIndex>, kMaxDepth + 1> nodes_;  // to look at, by depth
};

/// Whether a live item of the view with these attributes is let pass.
inline bool lets_pass(const std::optional<Clause>& predicate, const AttributeRow& row) {
  return !predicate || matches(*predicate, row);
}

}  // namespace tessera::catalogue
