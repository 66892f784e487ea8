// The valuation of a request over one view: what items are worth, and bounds of what items below a
// prefix may be worth. docs/concepts/value.md.
//
// A value is `score_weight * score + sum`, each rounded to float; both roundings keep the order of
// what they round, so a bound made of a larger score and a larger sum is never below a value.
//
// Thread-safety: immutable once compiled.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/item_numbers.h"
#include "catalogue/reach.h"
#include "catalogue/valuation.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

/// The terms of one item.
struct Appraisal {
  std::vector<double> terms;  // weighted; of a paced bid as it is paced. NaN: excluded by it
  double pace = 1;
};

class Appraiser {
 public:
  /// Null where the request goes by score. REQUIRES: check_valuation_use() has let it pass.
  /// Errors: REQUEST_INVALID: no valuation or term of that name.
  static Result<std::shared_ptr<const Appraiser>> compile(std::shared_ptr<const View> view,
                                                          const ValuationUse& use);

  /// Valuation of the request: with its weights and floor.
  const Valuation& valuation() const { return valuation_; }
  float floor() const { return floor_; }
  bool has_bid() const { return bid_ < valuation_.terms.size(); }
  size_t bid() const { return bid_; }  // index of its term; of none: their number

  float value(float score, float sum) const {
    if (sum == kExcluded) return kExcluded;
    return (score_weight_ == 0 ? 0.0F : score_weight_ * score) + sum;
  }
  /// No less than the sum of any live item at the node or below, and than that of any child.
  float most(NodeIndex node) const;
  /// Sum of a live item, with its pace; kExcluded: the valuation excludes it.
  float sum(ItemOrdinal item) const;
  Appraisal appraise(ItemOrdinal item) const;
  /// The lowest bid from 0 on with which an item of this score has at least the value `wanted`, or
  /// one above it, its other terms and its pace as they are. NaN: no float suffices. REQUIRES:
  /// has_bid().
  float critical_bid(ItemOrdinal item, float score, float wanted, bool is_above) const;

 private:
  double pace_of(ItemOrdinal item) const;
  /// Weighted, the bid times `pace`. NaN: the item is excluded by it.
  double term_of(size_t term, ItemOrdinal item, double pace) const;
  /// As sum() with this bid.
  float sum_with_bid(const Appraisal& appraisal, double bid) const;
  void bound_own_weights(const Valuation& named, const ValuationUse& use);

  std::shared_ptr<const View> view_;
  std::vector<ItemNumbers> numbers_;  // per term
  Valuation valuation_;
  uint32_t place_ = 0;  // among those of the view
  float score_weight_ = 1;
  float floor_ = kExcluded;
  size_t bid_ = 0;
  bool has_own_weights_ = false;
  // Bounds of own weights: one is the least of scale_ * most, most + shift_ and ceiling_, and rises
  // with most.
  double scale_ = kAsNamed;  // NaN: weights are no multiple of those named
  double shift_ = std::numeric_limits<double>::infinity();
  double slack_ = 0;         // what rounding may take from the two
  float ceiling_ = kSumMax;  // of the sums of all items
};

/// Live items of a reach that a valuation excludes.
uint64_t count_excluded(const Reach& reach, const Appraiser& appraiser);

/// Items that an answer may have of a reach that restricts its items; `appraiser` may be null.
uint32_t count_obtainable(const Reach& reach, const Appraiser* appraiser);

}  // namespace tessera::catalogue
