// From finished paths to items: back-track each path to its SID, drop duplicates, take the items of
// each SID by the stated policy (catalogue/item_policy.h; without one priority descending, item ID
// ascending: the order of the view), rank, cut. Thread-safety: free function; the pool serves one
// caller at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "beam/select.h"
#include "catalogue/item_policy.h"
#include "catalogue/reach.h"
#include "platform/thread_pool.h"

namespace tessera::beam {

struct ExportOptions {
  uint32_t result_count = 0;                      // items at most
  uint32_t items_per_sid = 0;                     // items taken from one SID at most; 0: no cap
  const catalogue::ItemPolicy* policy = nullptr;  // null: none beside these
  catalogue::ItemOrdinal watched_item = catalogue::kNoItem;  // whose fate is explained

  /// True if caps may leave a path without items.
  bool is_diverse() const { return policy != nullptr && policy->has_diversity(); }
};

/// The fate of the watched item among those of its SID.
enum class ItemFate : uint8_t { kNotMet, kTaken, kBehindSidCap, kBehindDiversityCap };

/// Why drawn items have no propensity: a beam, caps that make one item's place depend on others', a
/// search that was not certified.
enum class Propensities : uint8_t { kKnown = 0, kBeam = 1, kCapped = 2, kStopped = 3 };

/// Why items by value have no critical bid: the search proved no more than the answer, or not even
/// that; caps make one item's place depend on others'; nothing was left out.
enum class Prices : uint8_t {
  kKnown = 0,
  kUncertified = 1,
  kStopped = 2,
  kCapped = 3,
  kNoneLeftOut = 4
};

/// Items best first, and the paths they came from. Arrays of one prefix have equal length.
struct Exported {
  std::vector<catalogue::ItemOrdinal> item_ordinals;
  std::vector<float> item_scores;      // that of the item's path
  std::vector<uint32_t> item_paths;    // index into the paths below
  std::vector<float> path_scores;      // best first
  std::vector<uint32_t> path_offsets;  // [paths + 1] into path_codes
  std::vector<uint32_t> path_codes;    // SIDs laid end to end
  std::span<const uint32_t> path(size_t index) const {
    const uint32_t first = path_offsets[index];
    return std::span(path_codes).subspan(first, path_offsets[index + 1] - first);
  }
  uint32_t left_out_by_diversity = 0;  // items that a cap of the policy kept out
  ItemFate watched = ItemFate::kNotMet;
  uint32_t watched_cap = 0;  // kBehindDiversityCap: its index

  // Of a recall by value, per item; empty otherwise.
  std::vector<float> values;
  std::vector<float> item_terms;     // [items * terms], weighted
  std::vector<float> paces;          // factors of bids
  std::vector<float> critical_bids;  // empty: not known
  float best_left_out = kUnknown;    // minus infinity: nothing was
  catalogue::ItemOrdinal best_left_out_item = catalogue::kNoItem;  // where its bid is known
  float best_left_out_bid = kUnknown;  // the lowest with which its value were as the last item's
  Prices prices = Prices::kKnown;
  // Of a recall that draws.
  uint32_t drawn_from = UINT32_MAX;  // first item that was drawn; the others follow
  std::vector<float> inclusions;     // of the drawn ones: their propensities; empty: not known
  Propensities propensities = Propensities::kKnown;

  static constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  float value_of(size_t i) const { return i < values.size() ? values[i] : item_scores[i]; }
  float pace_of(size_t i) const { return i < paces.size() ? paces[i] : 1; }
  float critical_bid_of(size_t i) const {
    return i < critical_bids.size() ? critical_bids[i] : kUnknown;
  }
  bool is_explored(size_t i) const { return i >= drawn_from; }
  float propensity_of(size_t i) const {
    if (!is_explored(i)) return 1;
    return i - drawn_from < inclusions.size() ? inclusions[i - drawn_from] : kUnknown;
  }
};

/// Score of the path that fills the answer; nothing where these paths do not fill it. With
/// `items_per_sid` 0 each path counts for one item, as many as it has at least.
std::optional<float> score_when_full(std::span<const Finished> finished,
                                     const catalogue::Reach& reach, const ExportOptions& options);

/// Order: path score descending, then SID lexicographic, then item order within the SID. A node
/// that finished twice counts once, with its best score. Only paths that give an item are returned.
/// REQUIRES: every node is terminal in `reach`, that of the search.
Exported export_items(std::span<const Finished> finished, const catalogue::Reach& reach,
                      const ExportOptions& options, platform::ThreadPool& threads);

}  // namespace tessera::beam
