// The typed members of an item's attributes, read from their JSON without copies.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "catalogue/attributes.h"

namespace tessera::catalogue {

/// Calls visit(name, type, const std::vector<std::string_view>& texts, number) for each typed
/// member of a JSON object, the first where one is there twice. False when `json` is no object.
template <typename Visit>
bool visit_attributes(simdjson::dom::parser& parser, std::string_view json, const Visit& visit) {
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) return false;
  std::vector<std::string_view> texts;
  std::vector<std::string_view> seen;
  for (const auto member : object) {
    if (std::find(seen.begin(), seen.end(), member.key) != seen.end()) continue;
    seen.push_back(member.key);
    const simdjson::dom::element value = member.value;
    texts.clear();
    std::string_view text;
    double number = 0;
    bool truth = false;
    simdjson::dom::array array;
    if (value.get(text) == simdjson::SUCCESS) {
      texts.push_back(text);
      visit(member.key, AttributeType::kText, texts, number);
    } else if (value.get(truth) == simdjson::SUCCESS) {
      texts.push_back(truth ? "true" : "false");
      visit(member.key, AttributeType::kText, texts, number);
    } else if (value.get(number) == simdjson::SUCCESS) {
      visit(member.key, AttributeType::kNumber, texts, number);
    } else if (value.get(array) == simdjson::SUCCESS) {
      bool are_texts = true;
      for (const auto entry : array) {
        are_texts = are_texts && entry.get(text) == simdjson::SUCCESS;
        if (are_texts) texts.push_back(text);
      }
      if (are_texts) visit(member.key, AttributeType::kSet, texts, number);
    }
  }
  return true;
}

}  // namespace tessera::catalogue
