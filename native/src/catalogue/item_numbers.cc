#include "catalogue/item_numbers.h"

#include <limits>
#include <utility>

namespace tessera::catalogue {

ItemNumbers::ItemNumbers(const View& view, std::string attribute)
    : attribute_(std::move(attribute)), index_(view.shared_eligibility_index()) {
  const auto* found = index_->attributes().find(attribute_);
  if (found != nullptr) numbers_ = &found->numbers;
}

double ItemNumbers::of(const View& view, ItemOrdinal item) const {
  if (const ItemChange* change = view.item_change(item); change != nullptr) {
    return find_number(change->row, attribute_);
  }
  if (numbers_ == nullptr || item >= numbers_->size()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return (*numbers_)[item];
}

}  // namespace tessera::catalogue
