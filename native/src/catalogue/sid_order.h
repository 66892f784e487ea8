// Sorting of semantic IDs: the step that turns a catalogue build into linear passes: a sorted list
// of SIDs is a trie in disguise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catalogue/input.h"

namespace tessera::catalogue {

inline constexpr uint8_t kSameSid = 0xFF;
/// How far ahead of its use a SID is asked for in a pass over many.
inline constexpr size_t kSidsAhead = 16;

/// Asks for the item's codes; a hint without effect on any value.
inline void prefetch_sid(const CatalogueInput& input, uint32_t item) {
  __builtin_prefetch(input.codes.data() + (item == 0 ? 0 : input.sid_ends[item - 1]));
}

/// Item indices in (SID lexicographic, a prefix before its extensions; priority descending; item ID
/// bytewise) order, and per position the length of the SID and the number of leading codes shared
/// with the position before, or kSameSid.
struct SidOrder {
  std::vector<uint32_t> items;
  std::vector<uint8_t> shared;  // shared[0] = 0
  std::vector<uint8_t> depths;  // number of codes
};

/// REQUIRES: every SID has 1..kMaxDepth codes, each below its level's size.
SidOrder order_by_sid(const CatalogueInput& input, std::span<const uint32_t> level_sizes);

}  // namespace tessera::catalogue
