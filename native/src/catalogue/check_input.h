// The checks between an importer and the builder: every limit of format.h, with the item named.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "catalogue/input.h"

namespace tessera::catalogue {

/// Level sizes of a valid input: the declared ones, else the largest code of each level plus one.
/// Errors: CATALOGUE_INVALID: no item, too many, columns of unequal length, SID empty or deeper
/// than kMaxDepth, code outside its level, item ID empty or too long, text too long or not UTF-8,
/// priority not finite.
Result<std::vector<uint32_t>> check_input(const CatalogueInput& input);

}  // namespace tessera::catalogue
