// Changes and eligibility as JSON: how they cross from whoever asks for them. Thread-safety: free
// functions.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/change.h"
#include "catalogue/eligibility.h"

namespace tessera::catalogue {

inline constexpr size_t kChangesTextBytesMax = 256u << 20;      // of one message of a batch
inline constexpr size_t kEligibilityTextBytesMax = 256u << 20;  // of one request

/// Appends an array of {"op", "item_id", "sid"?, "title"?, "attributes"?, "priority"?}; op is one
/// of kChangeKindNames. Errors: CATALOGUE_INVALID, the message beginning with `changes[i].member`,
/// where i counts all of `changes`: a member that is missing, of another type, or not of this op;
/// more than kChangesMax in the array, or more than kBatchChangesMax with those before.
Status parse_changes(std::string_view json, std::vector<Change>& changes);

/// {"predicate"?: predicate.h, "allowed"?, "denied"?, "seen"?: arrays of item IDs}. Errors:
/// REQUEST_INVALID, the message beginning with `eligibility.member`.
Result<EligibilityRequest> parse_eligibility(std::string_view json);

}  // namespace tessera::catalogue
