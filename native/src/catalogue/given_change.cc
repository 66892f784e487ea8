#include "catalogue/given_change.h"

#include <simdjson.h>

#include <cmath>
#include <string>

namespace tessera::catalogue {

Status complete_change(size_t index, Change& change) {
  const auto invalid = [index](const char* member, const char* message) {
    return Status(Code::kCatalogueInvalid,
                  "changes[" + std::to_string(index) + "]." + member + ": " + message);
  };
  const bool is_upsert = change.kind == ChangeKind::kUpsert;
  if (is_upsert && change.sid.empty()) return invalid("sid", "is missing");
  if (!std::isfinite(change.priority)) return invalid("priority", "expected a number");
  if (!is_upsert && change.kind != ChangeKind::kSetAttributes) return Status::ok();
  if (change.attributes.empty()) change.attributes = "{}";
  static thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(change.attributes).get(object) != simdjson::SUCCESS) {
    return invalid("attributes", "expected an object");
  }
  change.attributes = simdjson::minify(object);
  return Status::ok();
}

}  // namespace tessera::catalogue
