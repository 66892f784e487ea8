// Which semantic ID an item takes that comes with a vector: the first with room, by the rule of the
// codebooks. Decided where the change stands among all changes; only the semantic ID is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/codebooks.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

/// The rule that places an item in a view. Values, and references into the caller that applies
/// changes.
struct PlacementRule {
  /// Null where the catalogue has none: vectors are refused.
  const Codebooks* codebooks = nullptr;
  /// Per level, ascending: codes that no token writes.
  const std::vector<std::vector<uint32_t>>* forbidden_codes = nullptr;
};

/// The semantic ID for an item: the one that it has, paused or not, or else that of the vector.
/// Errors: CATALOGUE_INVALID, the message beginning with `vector`: no codebooks, those of
/// Codebooks::first_with_room().
Result<std::vector<uint32_t>> place_item(const View& view, const PlacementRule& rule,
                                         const std::string& item_id, std::span<const float> vector);

/// Place of a vector, and the items that live there.
struct Landing {
  NearestCodes nearest;
  std::vector<uint32_t> sid;            // that an item would take; empty: none has room
  std::vector<ItemOrdinal> neighbours;  // live, those that share most codes with `nearest` first
  std::vector<uint32_t> shared_levels;  // per neighbour
};

inline constexpr uint32_t kNeighboursMax = 1000;

/// Changes nothing. Errors: as place_item(), but for room.
Result<Landing> find_landing(const View& view, const PlacementRule& rule,
                             std::span<const float> vector, uint32_t neighbours_max);

}  // namespace tessera::catalogue
