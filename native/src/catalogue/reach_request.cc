#include "catalogue/reach_request.h"

#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

Status check_list(const char* name, const std::vector<std::string>& items) {
  if (items.size() <= kItemListMax) return Status::ok();
  return invalid_member(std::string("eligibility.") + name,
                        "expected at most " + std::to_string(kItemListMax) + " items, got " +
                            std::to_string(items.size()));
}

}  // namespace

Status complete_reach_request(ReachRequest& request) {
  EligibilityRequest& eligibility = request.eligibility;
  if (eligibility.predicate) TESSERA_RETURN_IF_ERROR(complete_predicate(*eligibility.predicate));
  if (eligibility.drawn) {
    TESSERA_RETURN_IF_ERROR(complete_predicate(*eligibility.drawn, kDrawnPath));
  }
  if (eligibility.allowed) TESSERA_RETURN_IF_ERROR(check_list("allowed", *eligibility.allowed));
  TESSERA_RETURN_IF_ERROR(check_list("denied", eligibility.denied));
  TESSERA_RETURN_IF_ERROR(check_list("seen", eligibility.seen));
  TESSERA_RETURN_IF_ERROR(check_caps(eligibility.caps));
  TESSERA_RETURN_IF_ERROR(check_valuation_use(request.valuation));
  return check_item_policy(request.item_policy);
}

}  // namespace tessera::catalogue
