#include "catalogue/given_change.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "catalogue/eligibility.h"
#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

Status invalid(size_t index, const std::string& member, const std::string& message) {
  return {Code::kCatalogueInvalid, place_of_change(index) + member + ": " + message};
}

bool may_have_predicate(ChangeKind kind) {
  return kind == ChangeKind::kPause || kind == ChangeKind::kResume || kind == ChangeKind::kRemove ||
         kind == ChangeKind::kPatchAttributes;
}

/// A refusal of a predicate, as one of the change that has it.
Status of_change(size_t index, const Status& status) {
  constexpr std::string_view kPath = "eligibility.";
  const std::string& message = status.message();
  const size_t at = message.rfind(kPath, 0) == 0 ? kPath.size() : 0;
  return {Code::kCatalogueInvalid, place_of_change(index) + message.substr(at)};
}

/// Goes through the changes of one batch.
class Applying {
 public:
  Applying(ViewEditor& editor, const AttributeSchema* schema, const PlacementRule& placement)
      : editor_(editor), schema_(schema), placement_(placement) {}

  Status add(size_t index, const GivenChange& given) {
    return given.predicate ? add_matching(index, given) : add_named(index, given);
  }

  AppliedChanges finish() { return std::move(result_); }

 private:
  Status add_named(size_t index, const GivenChange& given) {
    if (given.kind == ChangeKind::kSetPace) return add_pace(index, given);
    if (!named_.insert(given.item_id).second) {
      return invalid(index, "itemId", quote(given.item_id) + " stands in the batch already");
    }
    if (!given.vector.empty()) return add_placed(index, given);
    if (given.kind != ChangeKind::kPatchAttributes) return apply(index, given, nullptr);
    TESSERA_RETURN_IF_ERROR(check_known(editor_.view(), given.item_id, index));
    const ItemOrdinal item = editor_.view().find_item(given.item_id);
    return apply_to(index, given, {&item, 1});
  }

  /// A pace on a text that nothing has is taken, since its items may be on their way; the count
  /// tells it from a typing error.
  Status add_pace(size_t index, const GivenChange& given) {
    Clause of_text;
    of_text.kind = ClauseKind::kIn;
    of_text.attribute = given.title;
    of_text.values = {given.item_id};
    TESSERA_RETURN_IF_ERROR(apply(index, given, nullptr));
    result_.paced.push_back(
        static_cast<uint32_t>(items_matching(editor_.view(), of_text).size()));
    return Status::ok();
  }

  /// An item that comes with a vector in place of a semantic ID.
  Status add_placed(size_t index, const GivenChange& given) {
    Result<std::vector<uint32_t>> sid =
        place_item(editor_.view(), placement_, given.item_id, given.vector);
    if (!sid.is_ok()) {
      return {sid.status().code(), place_of_change(index) + sid.status().message()};
    }
    Change change = given;
    change.sid = std::move(sid).value();
    result_.placed.add(change.sid);
    return apply(index, std::move(change), nullptr);
  }

  Status add_matching(size_t index, const GivenChange& given) {
    EligibilityRequest request;
    request.predicate = given.predicate;
    Status checked = schema_ == nullptr ? Status::ok() : schema_->check_clause(*given.predicate);
    if (checked.is_ok()) checked = check_eligibility(editor_.view(), request);
    if (!checked.is_ok()) return of_change(index, checked);
    const std::vector<ItemOrdinal> items = items_matching(editor_.view(), *given.predicate);
    if (items.size() > kBatchChangesMax - result_.changes.size()) {
      return invalid(index, "predicate",
                     "matches " + std::to_string(items.size()) + " items, expected at most " +
                         std::to_string(kBatchChangesMax) + " changed in a batch");
    }
    result_.matched.push_back(static_cast<uint32_t>(items.size()));
    return apply_to(index, given, items);
  }

  Status apply_to(size_t index, const GivenChange& given, std::span<const ItemOrdinal> items) {
    std::optional<AttributePatcher> patcher;
    if (given.kind == ChangeKind::kPatchAttributes) {
      Result<AttributePatcher> made = AttributePatcher::make(given.patch);
      if (!made.is_ok())
        return {made.status().code(), place_of_change(index) + made.status().message()};
      patcher = std::move(made).value();
    }
    for (const ItemOrdinal item : items) {
      Change change;
      change.kind = given.kind;
      change.item_id = editor_.view().item_id(item);
      if (patcher) {
        Result<std::string> text = patcher->apply(editor_.view().attributes(item));
        if (!text.is_ok()) return of_item(index, change, text.status());
        change.kind = ChangeKind::kSetAttributes;
        change.attributes = std::move(text).value();
        patched_bytes_ += change.attributes.size();
      }
      if (patched_bytes_ > kPatchedBytesMax) {
        return invalid(index, "predicate",
                       "expected at most " + std::to_string(kPatchedBytesMax) +
                           " bytes of attributes that a batch patches, got more");
      }
      const Status applied = apply(index, change, patcher ? &*patcher : nullptr);
      if (!applied.is_ok()) return given.predicate ? of_item(index, change, applied) : applied;
    }
    return Status::ok();
  }

  /// A patch may fit some of the items that a predicate lets pass, and others not.
  static Status of_item(size_t index, const Change& change, const Status& status) {
    const std::string at = place_of_change(index);
    const std::string& message = status.message();
    const std::string rest = message.rfind(at, 0) == 0 ? message.substr(at.size()) : message;
    return {status.code(), at + rest + " (item " + quote(change.item_id) + ")"};
  }

  Status apply(size_t index, Change change, const AttributePatcher* patcher) {
    if (schema_ != nullptr && !change.attributes.empty()) {
      const Status declared = schema_->check_object(
          change.attributes,
          [patcher](std::string_view name) { return patcher == nullptr || patcher->names(name); });
      if (!declared.is_ok()) return {declared.code(), place_of_change(index) + declared.message()};
    }
    TESSERA_RETURN_IF_ERROR(check_change(editor_.view(), change, index));
    editor_.apply(change);
    result_.changes.push_back(std::move(change));
    return Status::ok();
  }

  ViewEditor& editor_;
  const AttributeSchema* schema_;
  const PlacementRule& placement_;
  std::unordered_set<std::string_view> named_;
  AppliedChanges result_;
  uint64_t patched_bytes_ = 0;
};

}  // namespace

std::vector<GivenChange> given(std::span<const Change> changes) {
  return {changes.begin(), changes.end()};
}

Status complete_change(size_t index, GivenChange& change) {
  const bool is_upsert = change.kind == ChangeKind::kUpsert;
  if (is_upsert && change.sid.empty() && change.vector.empty()) {
    return invalid(index, "sid", "expected codes, or a vector or text in place of them, got none");
  }
  if (!change.vector.empty() && (!is_upsert || !change.sid.empty())) {
    return invalid(index, "vector",
                   "expected none beside a sid, and none but of an upsert, got " +
                       std::to_string(change.vector.size()) + " numbers");
  }
  if (!std::isfinite(change.priority)) {
    return invalid(index, "priority",
                   "expected a finite number, got " + number_text(change.priority));
  }
  if (change.predicate) {
    if (!may_have_predicate(change.kind) || !change.item_id.empty()) {
      return invalid(index, "predicate",
                     "expected none beside an item ID, and none of this kind of change");
    }
    const Status completed = complete_predicate(*change.predicate);
    if (!completed.is_ok()) return of_change(index, completed);
  }
  if (!is_upsert && change.kind != ChangeKind::kSetAttributes) return Status::ok();
  if (change.attributes.empty()) change.attributes = "{}";
  static thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(change.attributes).get(object) != simdjson::SUCCESS) {
    return invalid(index, "attributes",
                   "expected a JSON object of finite numbers and well-formed Unicode, got " +
                       quote(change.attributes));
  }
  change.attributes = simdjson::minify(object);
  return Status::ok();
}

Result<AppliedChanges> apply_given(ViewEditor& editor, std::span<const GivenChange> changes,
                                   const AttributeSchema* schema, const PlacementRule& placement) {
  if (changes.size() > kBatchChangesMax) {
    return Status(Code::kCatalogueInvalid, "changes: " + std::to_string(changes.size()) +
                                               ", expected at most " +
                                               std::to_string(kBatchChangesMax));
  }
  Applying applying(editor, schema, placement);
  for (size_t i = 0; i < changes.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(applying.add(i, changes[i]));
  }
  return applying.finish();
}

std::vector<ItemOrdinal> items_matching(const View& view, const Clause& clause) {
  Roaring items = view.eligibility_index().attributes().evaluate(clause);
  view.item_changes().for_each([&](ItemOrdinal item, const ItemChange& entry) {
    if (entry.state != ItemState::kRemoved && matches(clause, entry.row)) {
      items.add(item);
    } else {
      items.remove(item);
    }
  });
  std::vector<ItemOrdinal> result(items.cardinality());
  items.toUint32Array(result.data());
  return result;
}

}  // namespace tessera::catalogue
