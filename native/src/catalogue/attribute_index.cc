#include "catalogue/attribute_index.h"

#include <limits>

#include "catalogue/attribute_reader.h"

namespace tessera::catalogue {
namespace {

// A range is tested item by item where fewer than one in this many are left to test.
constexpr uint64_t kSparseItems = 8;

}  // namespace

AttributeIndex AttributeIndex::build(const Snapshot& snapshot) {
  AttributeIndex index;
  index.item_count_ = static_cast<uint32_t>(snapshot.item_count());
  simdjson::dom::parser parser;
  for (ItemOrdinal item = 0; item < index.item_count_; ++item) {
    const std::string_view json = snapshot.attributes(item);
    if (json == "{}") continue;
    visit_attributes(
        parser, json,
        [&](std::string_view name, AttributeType type, const std::vector<std::string_view>& texts,
            double number) { index.add(item, name, type, texts, number); });
  }
  for (auto& [name, attribute] : index.attributes_) {
    for (auto& [text, items] : attribute.items) items.runOptimize();
  }
  return index;
}

void AttributeIndex::add(ItemOrdinal item, std::string_view name, AttributeType type,
                         const std::vector<std::string_view>& texts, double number) {
  auto found = attributes_.find(name);
  if (found == attributes_.end()) {
    found = attributes_.emplace(name, Attribute{type, "", {}, {}}).first;
    if (attributes_.size() > kAttributesMax) {
      found->second.refusal = "is beyond the first " + std::to_string(kAttributesMax);
    }
  }
  Attribute& attribute = found->second;
  if (attribute.refusal.empty() && attribute.type != type) {
    attribute.refusal = "is of more than one type";
  }
  if (attribute.refusal.empty() && attribute.items.size() > kAttributeValuesMax) {
    attribute.refusal = "has more than " + std::to_string(kAttributeValuesMax) + " values";
  }
  if (!attribute.refusal.empty()) {
    attribute.items.clear();
    attribute.numbers = {};
    return;
  }
  if (type == AttributeType::kNumber) {
    if (attribute.numbers.empty()) {
      attribute.numbers.assign(item_count_, std::numeric_limits<double>::quiet_NaN());
    }
    attribute.numbers[item] = number;
  }
  for (const std::string_view text : texts) {
    auto place = attribute.items.find(text);
    if (place == attribute.items.end()) place = attribute.items.emplace(text, Roaring()).first;
    place->second.add(item);
  }
}

const AttributeIndex::Attribute* AttributeIndex::find(std::string_view name) const {
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? nullptr : &found->second;
}

Roaring AttributeIndex::evaluate_leaf(const Clause& clause, const Roaring* within) const {
  Roaring result;
  const Attribute* attribute = find(clause.attribute);
  if (attribute == nullptr) return result;  // later items alone have it
  if (clause.kind != ClauseKind::kRange) {
    for (const std::string& value : clause.values) {
      const auto found = attribute->items.find(value);
      if (found != attribute->items.end()) result |= found->second;
    }
    return result;
  }
  const auto test = [&](uint32_t item) {
    const double number = attribute->numbers[item];
    if (number >= clause.min && number <= clause.max) result.add(item);
  };
  if (attribute->numbers.empty()) return result;
  if (within != nullptr && within->cardinality() * kSparseItems < item_count_) {
    for (const uint32_t item : *within) test(item);
  } else {
    for (uint32_t item = 0; item < item_count_; ++item) test(item);
  }
  return result;
}

/// Ranges last: they are tested on what the others have left.
Roaring AttributeIndex::evaluate_all(const Clause& clause) const {
  Roaring result;
  result.addRange(0, item_count_);
  for (const bool takes_ranges : {false, true}) {
    for (const Clause& below : clause.clauses) {
      const bool is_range = below.kind == ClauseKind::kRange;
      if (is_range != takes_ranges) continue;
      result &= is_range ? evaluate_leaf(below, &result) : evaluate(below);
    }
  }
  return result;
}

Roaring AttributeIndex::evaluate(const Clause& clause) const {
  switch (clause.kind) {
    case ClauseKind::kAll: return evaluate_all(clause);
    case ClauseKind::kAny: {
      Roaring result;
      for (const Clause& below : clause.clauses) result |= evaluate(below);
      return result;
    }
    case ClauseKind::kNot: {
      Roaring result = evaluate(clause.clauses[0]);
      result.flip(0, item_count_);
      return result;
    }
    default: return evaluate_leaf(clause, nullptr);
  }
}

}  // namespace tessera::catalogue
