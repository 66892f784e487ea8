#include <simdjson.h>

#include <cmath>
#include <set>
#include <string>

#include "catalogue/eligibility.h"
#include "catalogue/input.h"
#include "catalogue/view_editor.h"

namespace tessera::catalogue {
namespace {

/// One change of a batch; its errors name where it stands.
class ChangeCheck {
 public:
  ChangeCheck(const View& view, const Change& change, size_t index)
      : view_(view), change_(change), index_(index) {}

  Status run() const {
    if (!is_logged(change_.kind)) return invalid("kind", "expected one that a log keeps");
    if (change_.kind == ChangeKind::kSetPace) return pace();
    TESSERA_RETURN_IF_ERROR(text("itemId", change_.item_id, 1, kMaxItemIdBytes));
    if (!std::isfinite(change_.priority)) {
      return invalid("priority", "expected a finite number, got " + number_text(change_.priority));
    }
    TESSERA_RETURN_IF_ERROR(attributes());
    if (change_.kind == ChangeKind::kUpsert) {
      TESSERA_RETURN_IF_ERROR(text("title", change_.title, 0, kMaxTextBytes));
      TESSERA_RETURN_IF_ERROR(sid());
      return room();
    }
    return check_known(view_, change_.item_id, index_);
  }

 private:
  Status invalid(const std::string& field, const std::string& message) const {
    return {Code::kCatalogueInvalid, place_of_change(index_) + field + ": " + message};
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
    std::set<std::string> fresh;
    for (const AttributeValue& value : read_attributes(change_.attributes)) {
      TESSERA_RETURN_IF_ERROR(attribute(value, fresh));
    }
    return Status::ok();
  }
  /// `fresh` are names that the change is the first to have.
  Status attribute(const AttributeValue& value, std::set<std::string>& fresh) const {
    const AttributeType type = view_.attribute_type(value.name).value_or(value.type);
    if (value.type != type) {
      return invalid("attributes." + value.name,
                     std::string("is a ") + kAttributeTypeNames[static_cast<int>(value.type)] +
                         ", expected a " + kAttributeTypeNames[static_cast<int>(type)]);
    }
    if (view_.attribute_type(value.name) || !fresh.insert(value.name).second) return Status::ok();
    const uint64_t names = view_.eligibility_index().attributes().attribute_count() +
                           view_.later_attribute_count() + fresh.size();
    if (names <= kAttributesMax) return Status::ok();
    return invalid("attributes." + value.name,
                   "more than " + std::to_string(kAttributesMax) + " attributes in the catalogue");
  }
  Status pace() const {
    TESSERA_RETURN_IF_ERROR(text("title", change_.title, 1, kMaxItemIdBytes));
    TESSERA_RETURN_IF_ERROR(text("itemId", change_.item_id, 1, kMaxItemIdBytes));
    if (!(change_.priority > 0 && change_.priority <= 1)) {
      return invalid("priority", "expected a factor above 0 and at most 1");
    }
    if (view_.attribute_type(change_.title).value_or(AttributeType::kText) !=
        AttributeType::kText) {
      return invalid("title", "expected a text attribute, got " + quote(change_.title));
    }
    const bool is_known = view_.pace(change_.title, change_.item_id) != 1;
    if (is_known || change_.priority == 1 || view_.pace_count() < kPacesMax) return Status::ok();
    return invalid("itemId", "more than " + std::to_string(kPacesMax) + " paces in the catalogue");
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

  Status room() const {
    if (view_.item_count() < kMaxItems && view_.node_count() + change_.sid.size() <= kMaxNodes) {
      return Status::ok();
    }
    return invalid("itemId", "more than " + std::to_string(kMaxItems) + " items or " +
                                 std::to_string(kMaxNodes) + " nodes in the catalogue");
  }

  const View& view_;
  const Change& change_;
  const size_t index_;
};

}  // namespace

Status check_known(const View& view, const std::string& item_id, size_t index) {
  const ItemOrdinal item = view.find_item(item_id);
  if (item != kNoItem && view.state(item) != ItemState::kRemoved) return Status::ok();
  return {Code::kItemNotFound,
          place_of_change(index) + "itemId: " + quote(item_id) + " is not in the catalogue"};
}

Status check_change(const View& view, const Change& change, size_t index) {
  return ChangeCheck(view, change, index).run();
}

Status apply_changes(ViewEditor& editor, std::span<const Change> changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_change(editor.view(), changes[i], i));
    editor.apply(changes[i]);
  }
  return Status::ok();
}

}  // namespace tessera::catalogue
