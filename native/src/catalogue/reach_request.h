// Eligibility, item policy and valuation of a request, before they are compiled for a view:
// one record of native/abi/reach.mjs. Thread-safety: a value and a free function.
#pragma once

#include "base/status.h"
#include "catalogue/eligibility.h"
#include "catalogue/item_policy.h"
#include "catalogue/valuation.h"

namespace tessera::catalogue {

struct ReachRequest {
  EligibilityRequest eligibility;
  ItemPolicyRequest item_policy;
  ValuationUse valuation;
};

/// Checks everything that needs no view, and brings the predicate into its normal form
/// (predicate.h). Errors: REQUEST_INVALID, the message beginning with the path of the member at
/// fault, from "eligibility", "itemPolicy" or
/// "valuation" on.
Status complete_reach_request(ReachRequest& request);

}  // namespace tessera::catalogue
