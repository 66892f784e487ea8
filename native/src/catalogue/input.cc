#include "catalogue/input.h"

namespace tessera::catalogue {

std::string CatalogueInput::describe(size_t item) const {
  constexpr size_t kShownBytes = 64;
  std::string place;
  if (!source.empty() && item < lines.size()) {
    place = source + " line " + std::to_string(lines[item]);
  } else {
    place = (source.empty() ? "items[" : source + " items[") + std::to_string(item) + "]";
  }
  std::string_view id = item_ids[item];
  const bool is_long = id.size() > kShownBytes;
  if (is_long) {
    size_t shown = kShownBytes;
    while (shown > 0 && (static_cast<unsigned char>(id[shown]) & 0xC0) == 0x80) --shown;
    id = id.substr(0, shown);
  }
  return place + " (item \"" + std::string(id) + (is_long ? "...\")" : "\")");
}

}  // namespace tessera::catalogue
