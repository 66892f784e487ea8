#include "model/json.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tessera::model {
namespace {

constexpr size_t kDescribedCharacters = 80;

/// The first number outside of strings that Python writes and JSON has not, with the string before
/// it, which is its field; empty: none.
std::string foreign_number(std::string_view text) {
  std::string_view field;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      const size_t begin = ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      field = text.substr(begin, std::min(at, text.size()) - begin).substr(0, kDescribedCharacters);
    }
    for (const std::string_view number : {"NaN", "Infinity"}) {
      if (!text.substr(std::min(at, text.size())).starts_with(number)) continue;
      return std::string(number) + " at " + std::string(field) + ", which is no number of JSON";
    }
  }
  return {};
}

}  // namespace

std::string describe(simdjson::dom::element value) {
  std::string text = simdjson::minify(value);
  if (text.size() > kDescribedCharacters) text = text.substr(0, kDescribedCharacters) + "...";
  return text;
}

Result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser, std::string_view text,
                                          const std::string& file, Code code) {
  if (text.empty()) return Status(code, file + ": expected JSON, got nothing");
  simdjson::dom::element root;
  const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::SUCCESS) return root;
  const std::string number = foreign_number(text);
  return Status(code, file + ": expected JSON, got: " +
                          (number.empty() ? simdjson::error_message(error) : number));
}

std::optional<simdjson::dom::element> ObjectReader::find(std::string_view field) const {
  simdjson::dom::element value;
  if (object_.at_key(field).get(value) != simdjson::SUCCESS || value.is_null()) return {};
  return value;
}

void ObjectReader::refuse(std::string_view field, const std::string& expected) {
  if (!status_.is_ok()) return;
  const std::optional<simdjson::dom::element> value = find(field);
  status_ = Status(code_, file_ + ": " + path_ + std::string(field) + ": expected " + expected +
                              ", got " + (value ? describe(*value) : "nothing"));
}

void ObjectReader::refuse_twins() {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, value] : object_) {
    if (!names.insert(name).second) return refuse(name, "one value (it is there twice)");
  }
}

bool ObjectReader::is_null(std::string_view field) const {
  simdjson::dom::element value;
  return object_.at_key(field).get(value) == simdjson::SUCCESS && value.is_null();
}

void ObjectReader::refuse_others(std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object_) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return refuse(name, "no such field");
    }
  }
}

void ObjectReader::refuse_objects(const std::string& expected) {
  for (const auto& [name, value] : object_) {
    if (value.is_object()) return refuse(name, expected);
  }
}

void ObjectReader::adopt(const ObjectReader& nested) {
  if (status_.is_ok()) status_ = nested.status_;
}

uint32_t ObjectReader::whole(std::string_view field, uint32_t lowest, uint32_t highest,
                             std::optional<uint32_t> otherwise) {
  const std::optional<simdjson::dom::element> value = find(field);
  if (!value && otherwise) return *otherwise;
  uint64_t number = 0;
  if (!value || value->get_uint64().get(number) != simdjson::SUCCESS || number < lowest ||
      number > highest) {
    refuse(field, "a whole number in " + std::to_string(lowest) + ".." + std::to_string(highest));
    return lowest;
  }
  return static_cast<uint32_t>(number);
}

double ObjectReader::number(std::string_view field, double above, double highest,
                            std::optional<double> otherwise) {
  const std::optional<simdjson::dom::element> value = find(field);
  if (!value && otherwise) return *otherwise;
  double number = 0;
  if (!value || value->get_double().get(number) != simdjson::SUCCESS || !(number > above) ||
      !(number <= highest)) {
    refuse(field,
           "a number above " + std::to_string(above) + " and at most " + std::to_string(highest));
    return highest;
  }
  return number;
}

bool ObjectReader::boolean(std::string_view field, bool otherwise) {
  const std::optional<simdjson::dom::element> value = find(field);
  if (!value) return otherwise;
  bool truth = false;
  if (value->get_bool().get(truth) != simdjson::SUCCESS) refuse(field, "true or false");
  return truth;
}

std::string ObjectReader::text(std::string_view field, std::optional<std::string> otherwise) {
  const std::optional<simdjson::dom::element> value = find(field);
  if (!value && otherwise) return *otherwise;
  std::string_view characters;
  if (!value || value->get_string().get(characters) != simdjson::SUCCESS) refuse(field, "a string");
  return std::string(characters);
}

std::optional<ObjectReader> ObjectReader::object(std::string_view field) {
  const std::optional<simdjson::dom::element> value = find(field);
  if (!value) return {};
  simdjson::dom::object nested;
  if (value->get_object().get(nested) != simdjson::SUCCESS) {
    refuse(field, "an object");
    return {};
  }
  return ObjectReader(nested, file_, path_ + std::string(field) + ".", code_);
}

}  // namespace tessera::model
