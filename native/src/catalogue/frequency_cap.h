// Frequency caps: what a user has done often enough of late is not to be had. Callers count the
// behaviours by item; here they are counted by the text of an attribute, with the attributes that
// items have in the version that is searched. docs/concepts/eligibility.md.
//
// Thread-safety: values and free functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "catalogue/view.h"

#include <roaring/roaring.hh>

namespace tessera::catalogue {

inline constexpr uint32_t kFrequencyCapsMax = 8;        // of a request
inline constexpr uint32_t kCountedItemsMax = 1u << 20;  // of a cap

/// A cap, and the behaviours that count towards it. IDs that no catalogue has are no error, and
/// count towards no text; no more do items that were removed.
struct CountedCap {
  std::string path;                  // how an explanation names it, and a refusal
  std::string attribute;             // items that share a text of it count together; "": each alone
  uint32_t behaviours_max = 0;       // at least 1; items with so many are not to be had
  std::vector<std::string> items;    // of the behaviours, each once
  std::vector<uint32_t> behaviours;  // of each of these items
};

/// Errors: REQUEST_INVALID: a limit above, a maximum of 0, another number of counts than items.
Status check_caps(const std::vector<CountedCap>& caps);

/// Errors: REQUEST_INVALID: an attribute that is no text in the view.
Status check_caps(const View& view, const std::vector<CountedCap>& caps);

/// Items of the view that the caps keep out, some of them live.
Roaring capped_items(const View& view, const std::vector<CountedCap>& caps);

/// Path of the first cap that keeps the item out; empty: none does.
std::string refusing_cap(const View& view, const std::vector<CountedCap>& caps, ItemOrdinal item);

}  // namespace tessera::catalogue
