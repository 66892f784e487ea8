#include "catalogue/item_policy.h"

#include <simdjson.h>

#include <cmath>
#include <limits>

#include "catalogue/attribute_schema.h"
#include "catalogue/eligibility.h"
#include "catalogue/input.h"
#include "catalogue/invalid_member.h"

namespace tessera::catalogue {
namespace {

using simdjson::dom::element;

Status check_attribute(const View& view, const std::string& path, const std::string& name,
                       AttributeType wanted) {
  const AttributeIndex::Attribute* found = view.eligibility_index().attributes().find(name);
  if (found != nullptr && !found->refusal.empty()) return invalid_member(path, found->refusal);
  const std::optional<AttributeType> type = view.attribute_type(name);
  // One that no item has orders nothing and caps nothing.
  if (!type || *type == wanted) return Status::ok();
  return invalid_member(path, std::string("expected a ") + kAttributeTypeNames[size_t(wanted)] +
                                  " attribute, " + quote(name) + " is a " +
                                  kAttributeTypeNames[size_t(*type)]);
}

Status read_cap(element json, const std::string& path, DiversityCap& cap) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return invalid_member(path, "expected an object");
  bool has_attribute = false;
  uint64_t items_max = 0;
  for (const auto member : object) {
    const std::string at = path + "." + std::string(member.key);
    std::string_view text;
    if (member.key == "attribute") {
      if (member.value.get(text) != simdjson::SUCCESS) return invalid_member(at, "expected a text");
      cap.attribute = text;
      has_attribute = true;
    } else if (member.key == "maxItems") {
      const bool is_count = member.value.get(items_max) == simdjson::SUCCESS;
      if (!is_count || items_max < 1 || items_max > UINT32_MAX) {
        return invalid_member(at, "expected a count of at least 1");
      }
    } else {
      return invalid_member(at, "expected attribute or maxItems");
    }
  }
  if (!has_attribute) return invalid_member(path + ".attribute", "is missing");
  if (items_max == 0) return invalid_member(path + ".maxItems", "is missing");
  cap.items_max = static_cast<uint32_t>(items_max);
  return Status::ok();
}

Status read_diversity(element json, std::vector<DiversityCap>& caps) {
  const std::string path = "itemPolicy.diversity";
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return invalid_member(path, "expected an array");
  for (const element entry : array) {
    if (caps.size() == kDiversityCapsMax) {
      return invalid_member(path,
                            "expected at most " + std::to_string(kDiversityCapsMax) + " caps");
    }
    const std::string at = path + "[" + std::to_string(caps.size()) + "]";
    DiversityCap cap;
    TESSERA_RETURN_IF_ERROR(read_cap(entry, at, cap));
    for (const DiversityCap& other : caps) {
      if (other.attribute == cap.attribute)
        return invalid_member(at + ".attribute", "is there twice");
    }
    caps.push_back(std::move(cap));
  }
  return Status::ok();
}

/// The text of a live item's attribute, or null.
const std::string* text_of(const AttributeRow& row, const std::string& name) {
  for (const AttributeValue& value : row) {
    if (value.name == name && value.type == AttributeType::kText) return &value.texts.front();
  }
  return nullptr;
}

}  // namespace

Result<ItemPolicyRequest> parse_item_policy(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::object object;
  if (json.size() > kItemPolicyTextBytesMax ||
      parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root.get(object) != simdjson::SUCCESS) {
    return invalid_member("itemPolicy", "expected a JSON object, got " + quote(json));
  }
  ItemPolicyRequest request;
  for (const auto member : object) {
    std::string_view text;
    if (member.key == "orderBy") {
      if (member.value.get(text) != simdjson::SUCCESS) {
        return invalid_member("itemPolicy.orderBy", "expected a text");
      }
      request.order_by = text;
    } else if (member.key == "diversity") {
      TESSERA_RETURN_IF_ERROR(read_diversity(member.value, request.diversity));
    } else {
      return invalid_member("itemPolicy." + std::string(member.key),
                            "expected orderBy or diversity");
    }
  }
  return request;
}

/// Defined here, beside what else knows the members of a policy.
Status AttributeSchema::check_policy(const ItemPolicyRequest& request) const {
  const auto check = [this](const std::string& path, const std::string& name, AttributeType type) {
    std::string refusal = name_refusal(name);
    if (refusal.empty()) refusal = type_refusal(name, type);
    return refusal.empty() ? Status::ok() : invalid_member(path, refusal);
  };
  if (!request.order_by.empty()) {
    TESSERA_RETURN_IF_ERROR(check("itemPolicy.orderBy", request.order_by, AttributeType::kNumber));
  }
  for (size_t i = 0; i < request.diversity.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check("itemPolicy.diversity[" + std::to_string(i) + "].attribute",
                                  request.diversity[i].attribute, AttributeType::kText));
  }
  return Status::ok();
}

Result<std::shared_ptr<const ItemPolicy>> ItemPolicy::compile(const View& view,
                                                              const ItemPolicyRequest& request) {
  if (request.order_by.empty() && request.diversity.empty()) {
    return std::shared_ptr<const ItemPolicy>();
  }
  auto policy = std::make_shared<ItemPolicy>();
  policy->request_ = request;
  if (!request.order_by.empty()) {
    TESSERA_RETURN_IF_ERROR(
        check_attribute(view, "itemPolicy.orderBy", request.order_by, AttributeType::kNumber));
    policy->index_ = view.shared_eligibility_index();
    const auto* attribute = policy->index_->attributes().find(request.order_by);
    if (attribute != nullptr) policy->numbers_ = &attribute->numbers;
  }
  for (size_t i = 0; i < request.diversity.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(
        check_attribute(view, "itemPolicy.diversity[" + std::to_string(i) + "].attribute",
                        request.diversity[i].attribute, AttributeType::kText));
  }
  return std::shared_ptr<const ItemPolicy>(std::move(policy));
}

double ItemPolicy::order_of(const View& view, ItemOrdinal item) const {
  constexpr double kAbsent = -std::numeric_limits<double>::infinity();
  if (view.item_change(item) == nullptr) {
    if (numbers_ == nullptr || item >= numbers_->size()) return kAbsent;
    const double number = (*numbers_)[item];
    return std::isnan(number) ? kAbsent : number;
  }
  for (const AttributeValue& value : read_attributes(view.attributes(item))) {
    if (value.name == request_.order_by && value.type == AttributeType::kNumber) {
      return value.number;
    }
  }
  return kAbsent;
}

uint32_t DiversityCount::take(ItemOrdinal item) {
  if (policy_ == nullptr || policy_->request().diversity.empty()) return kNone;
  const std::vector<DiversityCap>& caps = policy_->request().diversity;
  const AttributeRow row = read_attributes(view_.attributes(item));
  for (uint32_t i = 0; i < caps.size(); ++i) {
    const std::string* text = text_of(row, caps[i].attribute);
    if (text == nullptr) continue;
    const auto found = counts_[i].find(*text);
    if (found != counts_[i].end() && found->second == caps[i].items_max) return i;
  }
  for (uint32_t i = 0; i < caps.size(); ++i) {
    const std::string* text = text_of(row, caps[i].attribute);
    if (text != nullptr) ++counts_[i][*text];
  }
  return kNone;
}

}  // namespace tessera::catalogue
