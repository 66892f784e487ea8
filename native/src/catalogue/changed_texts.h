// Which items that differ from a snapshot have which text of one attribute: of the version asked
// for last, brought to another by what differs between the two. So the items of a text are found
// without a look at every item that has changed, and without bits of their own.
//
// One thread at a time. Owner: an EligibilityIndex.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "catalogue/view.h"

#include <roaring/roaring.hh>

namespace tessera::catalogue {

class ChangedTexts {
 public:
  explicit ChangedTexts(std::string attribute) : attribute_(std::move(attribute)) {}

  /// To any version of the snapshot, later or earlier.
  void bring_to(const View& view);
  /// Every item that differs from the snapshot.
  const Roaring& items() const { return items_; }
  /// Items that have the text, without removed ones; null: none.
  const Roaring* items_with(std::string_view text) const;

 private:
  const std::string attribute_;
  PersistentMap<ItemChange> version_;
  Roaring items_;
  std::map<std::string, Roaring, std::less<>> by_text_;
};

}  // namespace tessera::catalogue
