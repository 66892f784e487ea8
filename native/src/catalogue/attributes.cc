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

std::optional<std::string> read_text(std::string_view json, std::string_view name) {
  static thread_local simdjson::dom::parser parser;
  simdjson::dom::element value;
  if (parser.parse(json.data(), json.size()).at_key(name).get(value) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  bool truth = false;
  if (value.get(truth) != simdjson::SUCCESS) return std::nullopt;
  return truth ? "true" : "false";
}

const std::string* find_text(const AttributeRow& row, std::string_view name) {
  for (const AttributeValue& value : row) {
    if (value.name == name && value.type == AttributeType::kText) return &value.texts.front();
  }
  return nullptr;
}

std::span<const std::string> find_texts(const AttributeRow& row, std::string_view name) {
  for (const AttributeValue& value : row) {
    if (value.name == name && value.type != AttributeType::kNumber) return value.texts;
  }
  return {};
}

double find_number(const AttributeRow& row, std::string_view name) {
  for (const AttributeValue& value : row) {
    if (value.name == name && value.type == AttributeType::kNumber) return value.number;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tessera::catalogue
