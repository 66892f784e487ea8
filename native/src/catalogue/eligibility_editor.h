// Changes the bits of an eligibility: items one by one, then the nodes whose items or children have
// changed, each looked at once. One thread; one editor per change from one version to another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "catalogue/flight.h"
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

/// Items that may begin or end their flight in a second.
struct FlightEvents {
  uint64_t edit = 0;
  std::vector<ItemOrdinal> items;
};

/// Step of the clock from one second to a later one.
struct FlightStep {
  const SnapshotFlights* snapshot = nullptr;
  uint32_t from = 0;
  uint32_t to = 0;
  PersistentMap<FlightEvents>& events;  // of items that differ from the snapshot, by second
};

class EligibilityEditor {
 public:
  /// Edits `bits` towards what they are for `view`.
  EligibilityEditor(const View& view, Eligibility& bits) : view_(view), bits_(bits) {}

  /// From the bits of a predicate, or of none, for any version of the view's snapshot, earlier or
  /// later. Costs what differs between the two versions, and the flights that begin or end between
  /// the seconds of `flight`; null: items are had whenever.
  void bring_from(const ViewChanges& from, const std::optional<Clause>& predicate,
                  const FlightStep* flight);
  void set_item(ItemOrdinal item, bool is_eligible);
  /// Brings the nodes in line with the items. The editor ends here.
  void finish();

 private:
  void check_later(NodeIndex node) { nodes_[view_.depth_of(node)].push_back(node); }
  bool has_eligible(NodeIndex node) const;
  bool lets_pass(ItemOrdinal item, const std::optional<Clause>& predicate,
                 const FlightStep* flight) const;
  void pass_seconds(const std::optional<Clause>& predicate, const FlightStep& flight);

  const View& view_;
  Eligibility& bits_;
  std::array<std::vector<NodeIndex>, kMaxDepth + 1> nodes_;  // to look at, by depth
};

}  // namespace tessera::catalogue
