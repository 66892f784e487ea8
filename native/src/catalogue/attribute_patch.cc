#include "catalogue/attribute_patch.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr const char* kKindNames[] = {"set", "unset", "add", "take", "delta"};

Status invalid(const std::string& member, const std::string& message) {
  return {Code::kCatalogueInvalid, member + ": " + message};
}

std::string text_of(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    out += json_text(text);
  }
  return out + ']';
}

const char* name_of(element value) {
  switch (value.type()) {
    case element_type::STRING: return "a text";
    case element_type::BOOL: return "a truth value";
    case element_type::ARRAY: return "a list of others";
    case element_type::OBJECT: return "an object";
    case element_type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

std::vector<std::string> each_once(const std::vector<std::string>& texts) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> result;
  for (const std::string& text : texts) {
    if (seen.insert(text).second) result.push_back(text);
  }
  return result;
}

}  // namespace

struct AttributePatcher::Value {
  std::optional<element> value;  // null counts as absent, as everywhere

  explicit Value(std::optional<element> given = std::nullopt) {
    if (given && !given->is_null()) value = given;
  }
};

Status AttributePatcher::put(Edit edit) {
  const std::string path = std::string(kKindNames[static_cast<int>(edit.kind)]);
  if (edit.name.empty()) return invalid(path, "expected the name of an attribute, got \"\"");
  if (find(edit.name) != nullptr) {
    return invalid(path + "." + edit.name, "expected an attribute named once, got it twice");
  }
  if (edits_.size() == kPatchNamesMax) {
    return invalid(path, "expected at most " + std::to_string(kPatchNamesMax) +
                             " attributes in a patch, got more");
  }
  if (!std::isfinite(edit.delta)) {
    return invalid(path + "." + edit.name,
                   "expected a finite number, got " + number_text(edit.delta));
  }
  edits_.push_back(std::move(edit));
  return Status::ok();
}

Status AttributePatcher::read_set(const std::string& json) {
  if (json.empty()) return Status::ok();
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json).get(object) != simdjson::SUCCESS) {
    return invalid("set", "expected a JSON object of finite numbers and well-formed Unicode, got " +
                              quote(json));
  }
  for (const auto member : object) {
    TESSERA_RETURN_IF_ERROR(
        put({Kind::kSet, std::string(member.key), simdjson::minify(member.value), {}, 0}));
  }
  return Status::ok();
}

Result<AttributePatcher> AttributePatcher::make(const AttributePatch& patch) {
  AttributePatcher patcher;
  TESSERA_RETURN_IF_ERROR(patcher.read_set(patch.set));
  for (const std::string& name : patch.unset) {
    TESSERA_RETURN_IF_ERROR(patcher.put({Kind::kUnset, name, "", {}, 0}));
  }
  size_t text_count = 0;
  for (const PatchTexts& add : patch.add) {
    text_count += add.texts.size();
    TESSERA_RETURN_IF_ERROR(patcher.put({Kind::kAdd, add.attribute, "", each_once(add.texts), 0}));
  }
  for (const PatchTexts& take : patch.take) {
    text_count += take.texts.size();
    std::vector<std::string> texts = take.texts;
    std::sort(texts.begin(), texts.end());
    TESSERA_RETURN_IF_ERROR(patcher.put({Kind::kTake, take.attribute, "", std::move(texts), 0}));
  }
  if (text_count > kPatchTextsMax) {
    return invalid(patch.add.empty() ? "take" : "add",
                   "expected at most " + std::to_string(kPatchTextsMax) +
                       " texts in a patch, got " + std::to_string(text_count));
  }
  for (const PatchNumber& number : patch.delta) {
    TESSERA_RETURN_IF_ERROR(patcher.put({Kind::kDelta, number.attribute, "", {}, number.delta}));
  }
  if (patcher.edits_.empty()) {
    return Status(Code::kCatalogueInvalid,
                  "set: expected set, unset, add, take or delta, got none");
  }
  return patcher;
}

const AttributePatcher::Edit* AttributePatcher::find(std::string_view name) const {
  const auto found = std::find_if(edits_.begin(), edits_.end(),
                                  [name](const Edit& edit) { return edit.name == name; });
  return found == edits_.end() ? nullptr : &*found;
}

Status AttributePatcher::refuse(const Edit& edit, const std::string& message) {
  return invalid(std::string(kKindNames[static_cast<int>(edit.kind)]) + "." + edit.name, message);
}

Result<std::optional<std::string>> AttributePatcher::edited_set(const Edit& edit,
                                                                const Value& value) {
  const bool is_add = edit.kind == Kind::kAdd;
  if (!value.value) return is_add ? std::optional(text_of(edit.texts)) : std::nullopt;
  simdjson::dom::array array;
  const Status other = refuse(edit, std::string("expected a set, got ") + name_of(*value.value));
  if (value.value->get(array) != simdjson::SUCCESS) return other;
  std::vector<std::string> texts;
  for (const element entry : array) {
    std::string_view text;
    if (entry.get(text) != simdjson::SUCCESS) return other;
    texts.emplace_back(text);
  }
  if (is_add) {
    texts.insert(texts.end(), edit.texts.begin(), edit.texts.end());
  } else {
    std::erase_if(texts, [&edit](const std::string& text) {
      return std::binary_search(edit.texts.begin(), edit.texts.end(), text);
    });
  }
  return std::optional(text_of(each_once(texts)));
}

Result<std::optional<std::string>> AttributePatcher::edited_number(const Edit& edit,
                                                                   const Value& value) {
  double number = 0;
  if (value.value && value.value->get(number) != simdjson::SUCCESS) {
    return refuse(edit, std::string("expected a number, got ") + name_of(*value.value));
  }
  number += edit.delta;
  if (!std::isfinite(number)) {
    return refuse(edit, "expected a sum that is finite, got " + number_text(number));
  }
  return std::optional(number_text(number));
}

/// The text of the member afterwards; nothing where it goes.
Result<std::optional<std::string>> AttributePatcher::edited(const Edit& edit, const Value& value) {
  switch (edit.kind) {
    case Kind::kSet: return std::optional(edit.json);
    case Kind::kUnset: return std::optional<std::string>();
    case Kind::kDelta: return edited_number(edit, value);
    default: return edited_set(edit, value);
  }
}

Result<std::string> AttributePatcher::apply(std::string_view attributes) const {
  static thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(attributes.data(), attributes.size()).get(object) != simdjson::SUCCESS) {
    return invalid("attributes", "expected a JSON object, got " + quote(attributes));
  }
  std::string out = "{";
  const auto put_member = [&out](std::string_view name, std::string_view json) {
    if (out.size() > 1) out += ',';
    out += json_text(name);
    out += ':';
    out += json;
  };
  std::vector<bool> is_done(edits_.size());
  for (const auto member : object) {
    const Edit* edit = find(member.key);
    if (edit == nullptr) {
      put_member(member.key, simdjson::minify(member.value));
      continue;
    }
    // Of a member that is there twice the first counts; the others must not come to light.
    const size_t at = static_cast<size_t>(edit - edits_.data());
    if (is_done[at]) continue;
    is_done[at] = true;
    Result<std::optional<std::string>> text = edited(*edit, Value(member.value));
    if (!text.is_ok()) return text.status();
    if (text.value()) put_member(edit->name, *text.value());
  }
  for (size_t at = 0; at < edits_.size(); ++at) {
    if (is_done[at]) continue;
    Result<std::optional<std::string>> text = edited(edits_[at], Value());
    if (!text.is_ok()) return text.status();
    if (text.value()) put_member(edits_[at].name, *text.value());
  }
  return out + '}';
}

}  // namespace tessera::catalogue
