#include "catalogue/item_policy.h"

#include <cmath>
#include <limits>

#include "catalogue/attribute_schema.h"
#include "catalogue/eligibility.h"
#include "catalogue/input.h"
#include "catalogue/invalid_member.h"

namespace tessera::catalogue {

Status check_item_policy(const ItemPolicyRequest& policy) {
  const std::string path = "itemPolicy.diversity";
  if (policy.diversity.size() > kDiversityCapsMax) {
    return invalid_member(path, "expected at most " + std::to_string(kDiversityCapsMax) +
                                    " caps, got " + std::to_string(policy.diversity.size()));
  }
  size_t text_bytes = policy.order_by.size();
  for (size_t i = 0; i < policy.diversity.size(); ++i) {
    const DiversityCap& cap = policy.diversity[i];
    const std::string at = path + "[" + std::to_string(i) + "]";
    text_bytes += cap.attribute.size();
    if (cap.items_max < 1) return invalid_member(at + ".maxItems", "expected at least 1, got 0");
    for (size_t other = 0; other < i; ++other) {
      if (policy.diversity[other].attribute != cap.attribute) continue;
      return invalid_member(at + ".attribute", "expected another attribute than that of cap " +
                                                   std::to_string(other) + ", got the same");
    }
  }
  if (text_bytes <= kItemPolicyTextBytesMax) return Status::ok();
  return invalid_member("itemPolicy", "expected at most " +
                                          std::to_string(kItemPolicyTextBytesMax) +
                                          " bytes of names, got " + std::to_string(text_bytes));
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
    policy->numbers_ = ItemNumbers(view, request.order_by);
  }
  for (size_t i = 0; i < request.diversity.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(
        check_attribute(view, "itemPolicy.diversity[" + std::to_string(i) + "].attribute",
                        request.diversity[i].attribute, AttributeType::kText));
  }
  return std::shared_ptr<const ItemPolicy>(std::move(policy));
}

double ItemPolicy::order_of(const View& view, ItemOrdinal item) const {
  const double number = numbers_.of(view, item);
  return std::isnan(number) ? -std::numeric_limits<double>::infinity() : number;
}

uint32_t DiversityCount::take(ItemOrdinal item) {
  if (policy_ == nullptr || policy_->request().diversity.empty()) return kNone;
  const std::vector<DiversityCap>& caps = policy_->request().diversity;
  const AttributeRow row = read_attributes(view_.attributes(item));
  for (uint32_t i = 0; i < caps.size(); ++i) {
    const std::string* text = find_text(row, caps[i].attribute);
    if (text == nullptr) continue;
    const auto found = counts_[i].find(*text);
    if (found != counts_[i].end() && found->second == caps[i].items_max) return i;
  }
  for (uint32_t i = 0; i < caps.size(); ++i) {
    const std::string* text = find_text(row, caps[i].attribute);
    if (text != nullptr) ++counts_[i][*text];
  }
  return kNone;
}

}  // namespace tessera::catalogue
