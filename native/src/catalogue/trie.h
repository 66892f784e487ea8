// The trie of a catalogue in memory, as the builder lays it out before it is written (format.h
// gives the meaning of each array).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "catalogue/input.h"
#include "catalogue/sid_order.h"

namespace tessera::catalogue {

struct Trie {
  uint32_t depth = 0;
  uint32_t code_bytes = 1;
  uint32_t first_item_depth = 0;
  uint64_t path_count = 0;
  std::vector<uint32_t> level_begin;  // [depth + 2]
  std::vector<std::byte> codes;       // [nodes * code_bytes]
  std::vector<uint32_t> child_offsets;
  std::vector<uint32_t> item_offsets;
  std::vector<uint32_t> parent_hints;
  std::vector<uint32_t> item_hints;
  std::vector<uint32_t> root_index;
  std::vector<uint32_t> items;  // [items]: index into the input by item ordinal

  uint64_t node_count() const { return level_begin[depth + 1]; }
};

/// REQUIRES: `order` is order_by_sid(input, level_sizes), at least one item.
/// Errors: CATALOGUE_INVALID when the trie has more than kMaxNodes nodes.
Result<Trie> build_trie(const CatalogueInput& input, std::span<const uint32_t> level_sizes,
                        const SidOrder& order);

}  // namespace tessera::catalogue
