#include "catalogue/change_json.h"

#include <simdjson.h>

#include <algorithm>
#include <string>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

using simdjson::dom::element;

/// One object of a batch.
class ChangeReader {
 public:
  ChangeReader(size_t index) : at_("changes[" + std::to_string(index) + "]") {}

  Status read(element json, Change& change) {
    simdjson::dom::object object;
    if (json.get(object) != simdjson::SUCCESS) return invalid("", "expected an object");
    TESSERA_RETURN_IF_ERROR(read_op(object, change));
    bool has_id = false;
    bool has_attributes = false;
    bool has_priority = false;
    for (const auto member : object) {
      const std::string_view key = member.key;
      if (key == "op") continue;
      TESSERA_RETURN_IF_ERROR(read_member(key, member.value, change));
      has_id = has_id || key == "item_id";
      has_attributes = has_attributes || key == "attributes";
      has_priority = has_priority || key == "priority";
    }
    if (!has_id) return invalid(".item_id", "is missing");
    if (change.kind == ChangeKind::kUpsert && change.sid.empty()) {
      return invalid(".sid", "is missing");
    }
    if (change.kind == ChangeKind::kSetAttributes && !has_attributes) {
      return invalid(".attributes", "is missing");
    }
    if (change.kind == ChangeKind::kSetPriority && !has_priority) {
      return invalid(".priority", "is missing");
    }
    return Status::ok();
  }

 private:
  Status invalid(const std::string& member, const std::string& message) const {
    return {Code::kCatalogueInvalid, at_ + member + ": " + message};
  }

  Status read_op(simdjson::dom::object object, Change& change) const {
    std::string_view op;
    if (object["op"].get(op) == simdjson::SUCCESS) {
      const auto* end = kChangeKindNames + kChangeKinds;
      const auto* found = std::find(kChangeKindNames, end, op);
      if (found != end) {
        change.kind = static_cast<ChangeKind>(found - kChangeKindNames);
        return Status::ok();
      }
    }
    std::string names;
    for (const char* name : kChangeKindNames)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return invalid(".op", "expected one of " + names);
  }

  Status read_member(std::string_view key, element value, Change& change) const {
    const bool is_upsert = change.kind == ChangeKind::kUpsert;
    const std::string member = "." + std::string(key);
    std::string_view text;
    if (key == "item_id" || (key == "title" && is_upsert)) {
      if (value.get(text) != simdjson::SUCCESS) return invalid(member, "expected a text");
      (key == "title" ? change.title : change.item_id) = text;
      return Status::ok();
    }
    if (key == "sid" && is_upsert) return read_sid(value, change);
    if (key == "attributes" && (is_upsert || change.kind == ChangeKind::kSetAttributes)) {
      if (!value.is_object()) return invalid(member, "expected an object");
      change.attributes = simdjson::minify(value);
      return Status::ok();
    }
    if (key == "priority" && (is_upsert || change.kind == ChangeKind::kSetPriority)) {
      if (value.get(change.priority) == simdjson::SUCCESS) return Status::ok();
      return invalid(member, "expected a number");
    }
    return invalid(member, std::string("is no member of ") +
                               kChangeKindNames[static_cast<size_t>(change.kind)]);
  }

  Status read_sid(element value, Change& change) const {
    simdjson::dom::array codes;
    if (value.get(codes) != simdjson::SUCCESS) return invalid(".sid", "expected an array");
    for (const element entry : codes) {
      uint64_t code = 0;
      if (entry.get(code) != simdjson::SUCCESS || code > 0xFFFFFFFFu) {
        return invalid(".sid[" + std::to_string(change.sid.size()) + "]", "expected a code");
      }
      change.sid.push_back(static_cast<uint32_t>(code));
    }
    return Status::ok();
  }

  const std::string at_;
};

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

Status parse_changes(std::string_view json, std::vector<Change>& changes) {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::array array;
  if (!parse_text(parser, json, kChangesTextBytesMax, root) ||
      root.get(array) != simdjson::SUCCESS) {
    return {Code::kCatalogueInvalid, "changes: expected a JSON array, got " + quote(json)};
  }
  const size_t before = changes.size();
  const size_t most = std::min<size_t>(kChangesMax, kBatchChangesMax - before);
  for (const element entry : array) {
    if (changes.size() - before == most) {
      return {Code::kCatalogueInvalid, "changes: expected at most " + std::to_string(kChangesMax) +
                                           " in a message and " + std::to_string(kBatchChangesMax) +
                                           " in a batch"};
    }
    changes.emplace_back();
    TESSERA_RETURN_IF_ERROR(ChangeReader(changes.size() - 1).read(entry, changes.back()));
  }
  return Status::ok();
}

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
