#include "catalogue/eligibility_json.h"

#include <simdjson.h>

#include <string>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

using simdjson::dom::element;

Status read_ids(element value, const std::string& path, std::vector<std::string>& ids) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) {
    return {Code::kRequestInvalid, path + ": expected an array"};
  }
  for (const element entry : array) {
    std::string_view id;
    if (entry.get(id) != simdjson::SUCCESS) {
      return {Code::kRequestInvalid,
              path + "[" + std::to_string(ids.size()) + "]: expected an item ID"};
    }
    ids.emplace_back(id);
  }
  return Status::ok();
}

/// Null where the text is too long or no JSON.
bool parse_text(simdjson::dom::parser& parser, std::string_view json, size_t bytes_max,
                element& root) {
  return json.size() <= bytes_max &&
         parser.parse(json.data(), json.size()).get(root) == simdjson::SUCCESS;
}

}  // namespace

Result<EligibilityRequest> parse_eligibility(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::object object;
  if (!parse_text(parser, json, kEligibilityTextBytesMax, root) ||
      root.get(object) != simdjson::SUCCESS) {
    return Status(Code::kRequestInvalid, "eligibility: expected a JSON object, got " + quote(json));
  }
  EligibilityRequest request;
  for (const auto member : object) {
    const std::string path = "eligibility." + std::string(member.key);
    if (member.key == "predicate") {
      Result<Clause> predicate = parse_predicate(std::string(simdjson::minify(member.value)));
      if (!predicate.is_ok()) return predicate.status();
      request.predicate = std::move(predicate).value();
    } else if (member.key == "allowed") {
      request.allowed.emplace();
      TESSERA_RETURN_IF_ERROR(read_ids(member.value, path, *request.allowed));
    } else if (member.key == "denied" || member.key == "seen") {
      TESSERA_RETURN_IF_ERROR(
          read_ids(member.value, path, member.key == "seen" ? request.seen : request.denied));
    } else {
      return Status(Code::kRequestInvalid, path + ": expected predicate, allowed, denied or seen");
    }
  }
  return request;
}

}  // namespace tessera::catalogue
