// Which items of the found SIDs a request takes, and in which order: the highest of a number
// attribute first, and no more than so many that share a value of a text attribute (a campaign, an
// advertiser). Deterministic: what ties falls to the order of the view (priority, then item ID).
// docs/concepts/answers.md.
//
// Thread-safety: an ItemPolicy is immutable once compiled; a DiversityCount belongs to one export.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/item_numbers.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

inline constexpr uint32_t kDiversityCapsMax = 4;
inline constexpr uint32_t kItemPolicyTextBytesMax = 1u << 12;  // of the attributes' names

/// Items that have the same text as an attribute, of a whole answer at most. Items without the
/// attribute are not counted.
struct DiversityCap {
  std::string attribute;
  uint32_t items_max = 0;
};

struct ItemPolicyRequest {
  std::string order_by;  // a number attribute, highest first; empty: the priority of the items
  std::vector<DiversityCap> diversity;
};

/// The checks that need no view. Errors: REQUEST_INVALID, the message beginning with the path of
/// the member at fault, from "itemPolicy" on.
Status check_item_policy(const ItemPolicyRequest& policy);

class ItemPolicy {
 public:
  /// Null where the request asks for nothing. REQUIRES: check_item_policy() has let it pass.
  /// Errors: REQUEST_INVALID: an attribute of another type.
  static Result<std::shared_ptr<const ItemPolicy>> compile(const View& view,
                                                           const ItemPolicyRequest& request);

  const ItemPolicyRequest& request() const { return request_; }
  bool has_order() const { return !request_.order_by.empty(); }
  bool has_diversity() const { return !request_.diversity.empty(); }
  /// Order of a live item; minus infinity if it lacks the attribute: such items come last.
  double order_of(const View& view, ItemOrdinal item) const;

 private:
  ItemPolicyRequest request_;
  ItemNumbers numbers_;  // of `order_by`
};

/// The caps as one answer fills them.
class DiversityCount {
 public:
  /// `policy` may be null.
  DiversityCount(const View& view, const ItemPolicy* policy) : view_(view), policy_(policy) {}

  static constexpr uint32_t kNone = UINT32_MAX;
  /// Index of the first cap that has no room for the item; kNone where it is taken, and counted.
  uint32_t take(ItemOrdinal item);

 private:
  const View& view_;
  const ItemPolicy* policy_;
  std::map<std::string, uint32_t, std::less<>> counts_[kDiversityCapsMax];  // by text
};

}  // namespace tessera::catalogue
