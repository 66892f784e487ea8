// The items of found paths where a search goes by value or by a draw: items, not paths, are
// ordered, since several share a path and differ. Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "beam/candidate.h"
#include "beam/export.h"

namespace tessera::beam {

struct FoundItem {
  float key = 0;    // its value, or its draw
  float score = 0;  // of its path
  catalogue::NodeIndex node = catalogue::kNoNode;
  catalogue::ItemOrdinal item = catalogue::kNoItem;
  uint32_t place = 0;  // in the order of its SID
  double log_p = 0;    // of a draw: an equal share of its path's probability
};

/// A found path.
struct FoundPath {
  float key = 0;  // no item of it has a higher one
  float score = 0;
  catalogue::NodeIndex node = catalogue::kNoNode;
  Drawn drawn;
};

struct FoundOptions {
  ExportOptions answer;
  std::span<const catalogue::ItemOrdinal> taken;  // not to be found, but capped with; ascending
};

/// The order of items: key descending, then SID, then the order of the SID.
bool comes_before(const catalogue::View& view, const FoundItem& a, const FoundItem& b);

/// The best `answer.result_count` items of the paths, under the caps of `answer`; without
/// `items_per_sid` there is none of a SID.
std::vector<FoundItem> find_items(std::span<const FoundPath> paths, const Keys& keys,
                                  const catalogue::Reach& reach, const FoundOptions& options,
                                  Exported* counts);

/// The items, best first, and their paths.
void add_items(std::span<const FoundItem> items, const catalogue::Reach& reach, Exported& exported);

}  // namespace tessera::beam
