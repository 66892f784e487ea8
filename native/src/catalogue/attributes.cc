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

}  // namespace tessera::catalogue
