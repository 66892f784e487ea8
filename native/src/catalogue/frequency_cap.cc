#include "catalogue/frequency_cap.h"

#include <map>
#include <optional>

#include "catalogue/attribute_schema.h"
#include "catalogue/eligibility.h"
#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

std::optional<std::string> text_of(const View& view, ItemOrdinal item, const std::string& name) {
  const ItemChange* change = view.item_change(item);
  if (change == nullptr) return read_text(view.attributes(item), name);
  if (change->state == ItemState::kRemoved) return std::nullopt;
  const std::string* text = find_text(change->row, name);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

/// Texts whose items have behaviours enough between them.
std::vector<std::string> full_texts(const View& view, const CountedCap& cap) {
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < cap.items.size(); ++i) {
    const ItemOrdinal item = view.find_item(cap.items[i]);
    if (item == kNoItem) continue;
    if (const auto text = text_of(view, item, cap.attribute)) counts[*text] += cap.behaviours[i];
  }
  std::vector<std::string> full;
  for (const auto& [text, count] : counts) {
    if (count >= cap.behaviours_max) full.push_back(text);
  }
  return full;
}

void add_full_items(const View& view, const CountedCap& cap, Roaring& items) {
  for (size_t i = 0; i < cap.items.size(); ++i) {
    if (cap.behaviours[i] < cap.behaviours_max) continue;
    const ItemOrdinal item = view.find_item(cap.items[i]);
    if (item != kNoItem) items.add(item);
  }
}

}  // namespace

Status check_caps(const std::vector<CountedCap>& caps) {
  if (caps.size() > kFrequencyCapsMax) {
    return invalid_member("frequencyCaps", "expected at most " + std::to_string(kFrequencyCapsMax) +
                                               " caps, got " + std::to_string(caps.size()));
  }
  for (const CountedCap& cap : caps) {
    if (cap.behaviours_max < 1) {
      return invalid_member(cap.path + ".maxBehaviours", "expected at least 1, got 0");
    }
    if (cap.items.size() > kCountedItemsMax || cap.items.size() != cap.behaviours.size()) {
      return invalid_member(cap.path, "expected counts of at most " +
                                          std::to_string(kCountedItemsMax) + " items, got " +
                                          std::to_string(cap.behaviours.size()) + " of " +
                                          std::to_string(cap.items.size()));
    }
  }
  return Status::ok();
}

Status check_caps(const View& view, const std::vector<CountedCap>& caps) {
  for (const CountedCap& cap : caps) {
    if (cap.attribute.empty()) continue;
    TESSERA_RETURN_IF_ERROR(
        check_attribute(view, cap.path + ".attribute", cap.attribute, AttributeType::kText));
  }
  return Status::ok();
}

/// Defined here, beside what else knows the members of a cap.
Status AttributeSchema::check_caps(const std::vector<CountedCap>& caps) const {
  for (const CountedCap& cap : caps) {
    if (cap.attribute.empty()) continue;
    std::string refusal = name_refusal(cap.attribute);
    if (refusal.empty()) refusal = type_refusal(cap.attribute, AttributeType::kText);
    if (!refusal.empty()) return invalid_member(cap.path + ".attribute", refusal);
  }
  return Status::ok();
}

Roaring capped_items(const View& view, const std::vector<CountedCap>& caps) {
  Roaring items;
  for (const CountedCap& cap : caps) {
    if (cap.attribute.empty()) {
      add_full_items(view, cap, items);
    } else if (const auto texts = full_texts(view, cap); !texts.empty()) {
      items |= view.eligibility_index().items_with(view, cap.attribute, texts);
    }
  }
  return items;
}

std::string refusing_cap(const View& view, const std::vector<CountedCap>& caps, ItemOrdinal item) {
  for (const CountedCap& cap : caps) {
    if (capped_items(view, {cap}).contains(item)) return cap.path;
  }
  return "";
}

}  // namespace tessera::catalogue
