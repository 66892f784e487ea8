#include "catalogue/item_index.h"

#include <algorithm>
#include <string>

#include "catalogue/checksum.h"
#include "catalogue/format.h"
#include "catalogue/snapshot.h"

namespace tessera::catalogue {
namespace {

constexpr size_t kSlotsAhead = 24;

Status duplicate(const CatalogueInput& input, uint32_t a, uint32_t b) {
  return {Code::kCatalogueInvalid, input.describe(std::max(a, b)) + ": item ID already given by " +
                                       input.describe(std::min(a, b)) + ", expected each once"};
}

}  // namespace

Result<std::vector<uint32_t>> build_item_index(const CatalogueInput& input,
                                               std::span<const uint32_t> items) {
  std::vector<uint64_t> hashes(input.item_count());
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash_item_id(input.item_ids[i]);
  const uint64_t mask = hash_slots_for(items.size()) - 1;
  std::vector<uint32_t> slots(mask + 1, kNoItem);
  for (size_t ordinal = 0; ordinal < items.size(); ++ordinal) {
    if (ordinal + 2 * kSlotsAhead < items.size()) {
      __builtin_prefetch(&hashes[items[ordinal + 2 * kSlotsAhead]]);
      __builtin_prefetch(&slots[hashes[items[ordinal + kSlotsAhead]] & mask]);
    }
    const uint32_t item = items[ordinal];
    uint64_t slot = hashes[item] & mask;
    for (; slots[slot] != kNoItem; slot = (slot + 1) & mask) {
      const uint32_t other = items[slots[slot]];
      if (hashes[other] == hashes[item] && input.item_ids[other] == input.item_ids[item]) {
        return duplicate(input, other, item);
      }
    }
    slots[slot] = static_cast<uint32_t>(ordinal);
  }
  return slots;
}

}  // namespace tessera::catalogue
