#include <simdjson.h>

#include <cmath>
#include <map>
#include <string>
#include <unordered_set>

#include "catalogue/eligibility.h"
#include "catalogue/input.h"
#include "catalogue/view_editor.h"

namespace tessera::catalogue {
namespace {

using AttributeTypes = std::map<std::string, AttributeType>;

/// One change of a batch; its errors name where it stands.
class ChangeCheck {
 public:
  /// `types` are those of attributes that the batch is the first to have.
  ChangeCheck(const View& view, const Change& change, size_t index, AttributeTypes& types)
      : view_(view),
        change_(change),
        types_(types),
        at_("changes[" + std::to_string(index) + "].") {}

  Status run() const {
    if (static_cast<uint32_t>(change_.kind) >= kChangeKinds) {
      return invalid("kind", "expected 0.." + std::to_string(kChangeKinds - 1));
    }
    TESSERA_RETURN_IF_ERROR(text("itemId", change_.item_id, 1, kMaxItemIdBytes));
    if (!std::isfinite(change_.priority)) return invalid("priority", "expected a finite number");
    TESSERA_RETURN_IF_ERROR(attributes());
    if (change_.kind == ChangeKind::kUpsert) {
      TESSERA_RETURN_IF_ERROR(text("title", change_.title, 0, kMaxTextBytes));
      return sid();
    }
    const ItemOrdinal item = view_.find_item(change_.item_id);
    if (item != kNoItem && view_.state(item) != ItemState::kRemoved) return Status::ok();
    return {Code::kItemNotFound,
            at_ + "itemId: " + quote(change_.item_id) + " is not in the catalogue"};
  }

 private:
  Status invalid(const std::string& field, const std::string& message) const {
    return {Code::kCatalogueInvalid, at_ + field + ": " + message};
  }
  Status text(const char* field, std::string_view value, size_t bytes_min, size_t bytes_max) const {
    if (value.size() < bytes_min || value.size() > bytes_max) {
      return invalid(field, "has " + std::to_string(value.size()) + " bytes, expected " +
                                std::to_string(bytes_min) + " to " + std::to_string(bytes_max));
    }
    if (!simdjson::validate_utf8(value.data(), value.size())) {
      return invalid(field, "is not valid UTF-8");
    }
    return Status::ok();
  }
  Status attributes() const {
    if (change_.attributes.empty()) return Status::ok();
    TESSERA_RETURN_IF_ERROR(text("attributes", change_.attributes, 0, kMaxTextBytes));
    static thread_local simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(change_.attributes).get(object) != simdjson::SUCCESS) {
      return invalid("attributes", "expected a JSON object, got " + quote(change_.attributes));
    }
    for (const AttributeValue& value : read_attributes(change_.attributes)) {
      TESSERA_RETURN_IF_ERROR(attribute(value));
    }
    return Status::ok();
  }
  Status attribute(const AttributeValue& value) const {
    const std::optional<AttributeType> known = view_.attribute_type(value.name);
    const AttributeType type =
        known ? *known : types_.emplace(value.name, value.type).first->second;
    if (value.type != type) {
      return invalid("attributes." + value.name,
                     std::string("is a ") + kAttributeTypeNames[static_cast<int>(value.type)] +
                         ", expected a " + kAttributeTypeNames[static_cast<int>(type)]);
    }
    const uint64_t names = view_.eligibility_index().attributes().attribute_count() +
                           view_.later_attribute_count() + types_.size();
    if (types_.empty() || names <= kAttributesMax) return Status::ok();
    return invalid("attributes." + value.name,
                   "more than " + std::to_string(kAttributesMax) + " attributes in the catalogue");
  }
  Status sid() const {
    const std::vector<uint32_t>& sid = change_.sid;
    if (sid.empty() || sid.size() > view_.depth()) {
      return invalid("sid", "has " + std::to_string(sid.size()) + " codes, expected 1 to " +
                                std::to_string(view_.depth()));
    }
    for (uint32_t level = 0; level < sid.size(); ++level) {
      if (sid[level] < view_.level_size(level)) continue;
      return invalid("sid[" + std::to_string(level) + "]",
                     std::to_string(sid[level]) + ", expected a code in 0.." +
                         std::to_string(view_.level_size(level) - 1));
    }
    return Status::ok();
  }

  const View& view_;
  const Change& change_;
  AttributeTypes& types_;
  const std::string at_;
};

}  // namespace

Status check_changes(const View& view, std::span<const Change> changes) {
  if (changes.size() > kBatchChangesMax) {
    return {Code::kCatalogueInvalid, "changes: " + std::to_string(changes.size()) +
                                         ", expected at most " + std::to_string(kBatchChangesMax)};
  }
  std::unordered_set<std::string_view> seen;
  AttributeTypes types;
  uint64_t codes = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(ChangeCheck(view, changes[i], i, types).run());
    if (!seen.insert(changes[i].item_id).second) {
      return {Code::kCatalogueInvalid, "changes[" + std::to_string(i) +
                                           "].itemId: " + quote(changes[i].item_id) +
                                           " stands in the batch already"};
    }
    codes += changes[i].sid.size();
  }
  if (uint64_t{view.item_count()} + changes.size() > kMaxItems ||
      view.node_count() + codes > kMaxNodes) {
    return {Code::kCatalogueInvalid, "changes: more than " + std::to_string(kMaxItems) +
                                         " items or " + std::to_string(kMaxNodes) + " nodes"};
  }
  return Status::ok();
}

}  // namespace tessera::catalogue
