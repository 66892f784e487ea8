#include "catalogue/changed_texts.h"

namespace tessera::catalogue {

void ChangedTexts::bring_to(const View& view) {
  const auto texts_in = [this](const ItemChange* change) -> std::span<const std::string> {
    if (change == nullptr || change->state == ItemState::kRemoved) return {};
    return find_texts(change->row, attribute_);
  };
  PersistentMap<ItemChange>::for_each_difference(
      version_, view.item_changes(),
      [&](ItemOrdinal item, const ItemChange* before, const ItemChange* after) {
        for (const std::string& text : texts_in(before)) {
          const auto found = by_text_.find(text);
          if (found == by_text_.end()) continue;  // the set has it twice
          found->second.remove(item);
          if (found->second.isEmpty()) by_text_.erase(found);
        }
        for (const std::string& text : texts_in(after)) by_text_[text].add(item);
        if (after == nullptr) {
          items_.remove(item);
        } else if (before == nullptr) {
          items_.add(item);
        }
      });
  version_ = view.item_changes();
}

const Roaring* ChangedTexts::items_with(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? nullptr : &found->second;
}

}  // namespace tessera::catalogue
