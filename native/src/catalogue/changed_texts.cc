#include "catalogue/changed_texts.h"

namespace tessera::catalogue {

void ChangedTexts::bring_to(const View& view) {
  const auto text_in = [this](const ItemChange* change) -> const std::string* {
    if (change == nullptr || change->state == ItemState::kRemoved) return nullptr;
    return find_text(change->row, attribute_);
  };
  PersistentMap<ItemChange>::for_each_difference(
      version_, view.item_changes(),
      [&](ItemOrdinal item, const ItemChange* before, const ItemChange* after) {
        if (const std::string* text = text_in(before)) {
          const auto found = by_text_.find(*text);
          found->second.remove(item);
          if (found->second.isEmpty()) by_text_.erase(found);
        }
        if (const std::string* text = text_in(after)) by_text_[*text].add(item);
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
