// A number attribute of a view's items: the snapshot's in a column, those of changed items in their
// rows. Thread-safety: immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalogue/eligibility.h"
#include "catalogue/view.h"

namespace tessera::catalogue {

class ItemNumbers {
 public:
  ItemNumbers() = default;
  ItemNumbers(const View& view, std::string attribute);

  /// NaN where the item has no such number. REQUIRES: `view` is of the same snapshot.
  double of(const View& view, ItemOrdinal item) const;

 private:
  std::string attribute_;
  std::shared_ptr<const EligibilityIndex> index_;  // keeps numbers_
  const std::vector<double>* numbers_ = nullptr;   // by item of the snapshot; null: none has it
};

}  // namespace tessera::catalogue
