#include "catalogue/input.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tessera::catalogue {

std::string CatalogueInput::place(size_t item) const {
  const auto after =
      std::upper_bound(sources.begin(), sources.end(), item,
                       [](size_t i, const InputSource& source) { return i < source.first_item; });
  const bool has_source = after != sources.begin();
  const std::string path = has_source ? (after - 1)->path : std::string();
  const uint64_t first = has_source ? (after - 1)->first_item : 0;
  if (item < lines.size() && lines[item] > 0) return path + " line " + std::to_string(lines[item]);
  std::string place = path;
  if (!place.empty()) place += " ";
  return place + "items[" + std::to_string(item - first) + "]";
}

std::string CatalogueInput::describe(size_t item) const {
  return place(item) + " (item " + quote(item_ids[item]) + ")";
}

std::string json_text(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      quoted.push_back('\\');
      quoted.push_back(c);
    } else if (byte < 0x20) {
      quoted.append("\\u00").push_back(kDigits[byte >> 4]);
      quoted.push_back(kDigits[byte & 15]);
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

std::string quote(std::string_view text) {
  constexpr size_t kShownBytes = 64;
  std::string quoted = "\"";
  size_t shown = std::min(text.size(), kShownBytes);
  const bool is_cut = shown < text.size();
  while (is_cut && shown > 0 && (static_cast<uint8_t>(text[shown]) & 0xC0) == 0x80) --shown;
  quoted += text.substr(0, shown);
  return quoted + (is_cut ? "...\"" : "\"");
}

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace tessera::catalogue
