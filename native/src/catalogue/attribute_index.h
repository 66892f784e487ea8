// The attributes of a snapshot's items by value: compressed bitmaps of items per text (Roaring,
// arXiv:1603.06549) and one column per number. Immutable once built.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "catalogue/predicate.h"
#include "catalogue/snapshot.h"

#include <roaring/roaring.hh>

namespace tessera::catalogue {

inline constexpr uint32_t kAttributesMax = 64;          // typed names of a catalogue
inline constexpr uint32_t kAttributeValuesMax = 65536;  // different texts of one

class AttributeIndex {
 public:
  /// Reads the attributes of every item once. An attribute beyond a limit above, or of more than
  /// one type, is kept by name only: predicates about it are refused.
  static AttributeIndex build(const Snapshot& snapshot);

  struct Attribute {
    AttributeType type = AttributeType::kText;
    std::string refusal;  // why no predicate may be about it; empty: one may
    std::map<std::string, Roaring, std::less<>> items;  // by text
    std::vector<double> numbers;                        // by item; not a number: absent
  };

  /// Null where no item has it.
  const Attribute* find(std::string_view name) const;
  /// Items of the snapshot that match. REQUIRES: every attribute is known and of its clause's type.
  Roaring evaluate(const Clause& clause) const;
  const std::map<std::string, Attribute, std::less<>>& attributes() const { return attributes_; }
  uint32_t attribute_count() const { return static_cast<uint32_t>(attributes_.size()); }

 private:
  void add(ItemOrdinal item, std::string_view name, AttributeType type,
           const std::vector<std::string_view>& texts, double number);
  Roaring evaluate_leaf(const Clause& clause, const Roaring* within) const;
  Roaring evaluate_all(const Clause& clause) const;

  uint32_t item_count_ = 0;
  std::map<std::string, Attribute, std::less<>> attributes_;
};

}  // namespace tessera::catalogue
