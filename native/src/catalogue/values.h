// Sums of a catalogue's items by its valuations and, for every node of the trie, the largest sum of
// a live item at it or below: what a search by value prunes with. Those of a snapshot are made
// once; a view keeps what differs (view.h), and a change costs the path to the root.
//
// Thread-safety: SnapshotValues is immutable. A ValueEditor belongs to one ViewEditor.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catalogue/attribute_index.h"
#include "catalogue/attributes.h"
#include "catalogue/persistent_map.h"
#include "catalogue/snapshot.h"
#include "catalogue/valuation.h"

namespace tessera::catalogue {

class View;

using Valuations = std::vector<Valuation>;

/// The least and the most that a term has come to among the items of a catalogue.
struct TermRange {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  void take(double value);
};
/// Ranges by valuation and term: never too narrow.
using TermRanges = std::array<std::array<TermRange, kTermsMax>, kValuationsMax>;

/// The largest sums at a node or below, of a view; exact.
struct NodeSums {
  uint64_t edit = 0;
  Sums sums{};
};

/// Factors of the bids of items with a text, those whose names share a 32-bit hash together.
struct Pace {
  std::string attribute;
  std::string text;
  double factor = 1;
  uint64_t sequence = 0;  // of the change that set it
};
struct PaceBucket {
  uint64_t edit = 0;
  std::vector<Pace> paces;
};
uint32_t hash_pace(std::string_view attribute, std::string_view text);

class SnapshotValues {
 public:
  /// 4 bytes an item and valuation, 2 a node above the deepest level.
  SnapshotValues(std::shared_ptr<const Snapshot> snapshot, const AttributeIndex& attributes,
                 std::shared_ptr<const Valuations> valuations);

  const Valuations& valuations() const { return *valuations_; }
  const std::shared_ptr<const TermRanges>& ranges() const { return ranges_; }
  float sum(uint32_t valuation, ItemOrdinal item) const { return columns_[valuation].items[item]; }
  /// No less than the largest sum of the snapshot's items at the node or below.
  float most(uint32_t valuation, NodeIndex node) const;
  uint64_t bytes() const;

 private:
  struct Column {
    std::vector<float> items;
    std::vector<uint16_t> interior;  // upper halves of floats, rounded up
  };

  void add_items(uint32_t valuation, const AttributeIndex& attributes, TermRanges& ranges);
  void add_nodes(Column& column) const;
  float most_of_items(const Column& column, NodeIndex node) const;

  const std::shared_ptr<const Snapshot> snapshot_;
  const std::shared_ptr<const Valuations> valuations_;
  std::vector<Column> columns_;
  std::shared_ptr<const TermRanges> ranges_;
};

/// Sums of an item with these attributes; what its terms come to widens `ranges`, unless null.
Sums sums_of(const Valuations& valuations, const AttributeRow& row, TermRanges* ranges);

/// `sum` rounded to sixteen bits, never down, and back.
uint16_t round_up(float sum);
float widen(uint16_t rounded);

/// Brings the sums of nodes in line with their items, from the deepest level up. Owner: one edit of
/// a view.
class ValueEditor {
 public:
  /// The items of the node have changed, or their sums.
  void touch(NodeIndex node) { touched_.push_back(node); }
  /// Brings the touched nodes, and those above them, in line.
  void finish(View& view, uint64_t edit);

 private:
  struct Raised {
    NodeIndex parent;
    Sums before;
    Sums after;
  };
  void set(View& view, NodeIndex node, const Sums& sums, uint64_t edit);

  std::vector<NodeIndex> touched_;
  std::array<std::vector<Raised>, kMaxDepth + 1> raised_;  // by the depth of the parent
};

}  // namespace tessera::catalogue
