// Typed attributes of items: what a request's eligibility may ask about. Read from the JSON object
// that an item carries: a text or a truth value is one of an enumeration, an array of texts is a
// set, a number is a number; null is absent; objects and other arrays are carried but not typed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::catalogue {

enum class AttributeType : uint8_t { kText = 0, kSet = 1, kNumber = 2 };
inline constexpr const char* kAttributeTypeNames[] = {"text", "set", "number"};

struct AttributeValue {
  std::string name;
  AttributeType type = AttributeType::kText;
  double number = 0;               // kNumber
  std::vector<std::string> texts;  // kText: one; kSet: any number
};
using AttributeRow = std::vector<AttributeValue>;

/// Typed members of a JSON object text; empty for "" and for what is no object.
AttributeRow read_attributes(std::string_view json);

/// The text that the object has under a name, as its row would; nothing where it has none. Without
/// the rest of the row, which takes several times as long.
std::optional<std::string> read_text(std::string_view json, std::string_view name);

/// The text that a row has under a name; null where it has none, or another type.
const std::string* find_text(const AttributeRow& row, std::string_view name);
/// The texts that a row has under a name, of a text or a set; empty where it has none.
std::span<const std::string> find_texts(const AttributeRow& row, std::string_view name);
/// Number attribute of the row; NaN if absent.
double find_number(const AttributeRow& row, std::string_view name);

}  // namespace tessera::catalogue
