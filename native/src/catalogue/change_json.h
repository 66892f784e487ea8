// Changes and eligibility as JSON: how they cross from whoever asks for them. Thread-safety: free
// functions.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/change.h"
#include "catalogue/eligibility.h"

namespace tessera::catalogue {

inline constexpr size_t kChangesTextBytesMax = 256u << 20;      // of one batch
inline constexpr size_t kEligibilityTextBytesMax = 256u << 20;  // of one request

/// An array of {"op", "item_id", "sid"?, "title"?, "attributes"?, "priority"?}; op is one of
/// kChangeKindNames. Errors: CATALOGUE_INVALID, the message beginning with `changes[i].member`: a
/// member that is missing, of another type, or not of this op.
Result<std::vector<Change>> parse_changes(std::string_view json);

/// {"predicate"?: predicate.h, "allowed"?, "denied"?, "seen"?: arrays of item IDs}. Errors:
/// REQUEST_INVALID, the message beginning with `eligibility.member`.
Result<EligibilityRequest> parse_eligibility(std::string_view json);

}  // namespace tessera::catalogue
