// Eligibility as JSON. Thread-safety: a free function.
#pragma once

#include <string_view>

#include "base/status.h"
#include "catalogue/eligibility.h"

namespace tessera::catalogue {

inline constexpr size_t kEligibilityTextBytesMax = 256u << 20;  // of one request

/// {"predicate"?: predicate.h, "allowed"?, "denied"?, "seen"?: arrays of item IDs}. Errors:
/// REQUEST_INVALID, the message beginning with `eligibility.member`.
Result<EligibilityRequest> parse_eligibility(std::string_view json);

}  // namespace tessera::catalogue
