#include "catalogue/attribute_reader.h"

namespace tessera::catalogue {

AttributeRow read_attributes(std::string_view json) {
  AttributeRow row;
  if (json.empty() || json == "{}") return row;
  static thread_local simdjson::dom::parser parser;
  visit_attributes(parser, json,
                   [&](std::string_view name, AttributeType type,
                       const std::vector<std::string_view>& texts, double number) {
                     row.push_back({std::string(name), type, number, {texts.begin(), texts.end()}});
                   });
  return row;
}

const std::string* find_text(const AttributeRow& row, std::string_view name) {
  for (const AttributeValue& value : row) {
    if (value.name == name && value.type == AttributeType::kText) return &value.texts.front();
  }
  return nullptr;
}

}  // namespace tessera::catalogue
