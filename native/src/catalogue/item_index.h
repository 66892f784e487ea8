// Open-addressed index from item ID to item ordinal, as it lies in the snapshot file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "catalogue/input.h"

namespace tessera::catalogue {

/// `items[ordinal]` is the input index of each ordinal. Errors: CATALOGUE_INVALID naming an item ID
/// given twice.
Result<std::vector<uint32_t>> build_item_index(const CatalogueInput& input,
                                               std::span<const uint32_t> items);

}  // namespace tessera::catalogue
