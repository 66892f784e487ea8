#include "catalogue/view.h"

#include <algorithm>

#include "base/check.h"
#include "catalogue/checksum.h"
#include "catalogue/eligibility.h"

namespace tessera::catalogue {

std::shared_ptr<const View> View::of(std::shared_ptr<const Snapshot> base,
                                     std::vector<uint32_t> level_sizes, uint64_t sequence,
                                     std::shared_ptr<const Valuations> valuations) {
  std::shared_ptr<View> view(new View());
  for (uint32_t level = 0; level < base->depth(); ++level) {
    if (level == level_sizes.size()) level_sizes.push_back(base->level_size(level));
    TESSERA_CHECK(level_sizes[level] >= base->level_size(level));
  }
  view->level_sizes_ = std::move(level_sizes);
  view->sequence_ = sequence;
  view->base_sequence_ = sequence;
  view->base_node_count_ = static_cast<uint32_t>(base->node_count());
  view->node_count_ = view->base_node_count_;
  view->item_count_ = static_cast<uint32_t>(base->item_count());
  view->live_item_count_ = base->item_count();
  view->eligibility_index_ = std::make_shared<EligibilityIndex>(base);
  if (valuations != nullptr && !valuations->empty()) {
    view->values_ = std::make_shared<SnapshotValues>(base, view->eligibility_index_->attributes(),
                                                     std::move(valuations));
    view->term_ranges_ = view->values_->ranges();
  }
  view->base_ = std::move(base);
  return view;
}

uint32_t View::sid(NodeIndex node, std::span<uint32_t, kMaxDepth> codes) const {
  const uint32_t depth = depth_of(node);
  for (uint32_t level = depth; level-- > 0; node = parent(node)) codes[level] = code(node);
  return depth;
}

bool View::sid_before(NodeIndex a, NodeIndex b) const {
  if (!is_later(a) && !is_later(b)) return base_->sid_before(a, b);
  uint32_t depth_a = depth_of(a);
  uint32_t depth_b = depth_of(b);
  const bool is_a_shorter = depth_a < depth_b;
  for (; depth_a > depth_b; --depth_a) a = parent(a);
  for (; depth_b > depth_a; --depth_b) b = parent(b);
  if (a == b) return is_a_shorter;
  for (;;) {
    if (!is_later(a) && !is_later(b)) return a < b;
    const NodeIndex above_a = parent(a);
    const NodeIndex above_b = parent(b);
    if (above_a == above_b) return code(a) < code(b);
    a = above_a;
    b = above_b;
  }
}

NodeIndex View::child(NodeIndex node, uint32_t code) const {
  if (!is_later(node)) {
    const NodeIndex found = base_->child(node, code);
    if (found != kNoNode) return found;
  }
  const NodeChange* change = node_change(node);
  if (change == nullptr) return kNoNode;
  for (const std::vector<AddedChild>* list : {&change->added, &change->dormant}) {
    const auto found = std::lower_bound(
        list->begin(), list->end(), code,
        [](const AddedChild& child, uint32_t wanted) { return child.code < wanted; });
    if (found != list->end() && found->code == code) return found->node;
  }
  return kNoNode;
}

NodeIndex View::find_node(std::span<const uint32_t> codes) const {
  NodeIndex node = kRoot;
  for (size_t level = 0; level < codes.size() && node != kNoNode; ++level) {
    node = child(node, codes[level]);
  }
  return node;
}

bool View::is_live(NodeIndex node) const {
  const NodeChange* change = node_change(node);
  if (change == nullptr) return true;  // the snapshot has no dead ends
  if (!items(node).empty() || !change->added.empty()) return true;
  return !is_later(node) && change->dead_child_count < base_->children(node).codes.size();
}

std::string_view View::attributes(ItemOrdinal item) const {
  const ItemChange* change = item_change(item);
  if (change == nullptr) return base_->attributes(item);
  return change->attributes.empty() ? std::string_view("{}") : change->attributes;
}

double View::pace(std::string_view attribute, std::string_view text) const {
  const PaceBucket* bucket = paces_.find(hash_pace(attribute, text));
  if (bucket == nullptr) return 1;
  for (const Pace& pace : bucket->paces) {
    if (pace.attribute == attribute && pace.text == text) return pace.factor;
  }
  return 1;
}

ItemOrdinal View::find_item(std::string_view item_id) const {
  const ItemOrdinal found = base_->find_item(item_id);
  if (found != kNoItem || ids_.empty()) return found;
  const IdBucket* bucket = ids_.find(static_cast<uint32_t>(hash_item_id(item_id)));
  if (bucket == nullptr) return kNoItem;
  for (const ItemOrdinal item : bucket->items) {
    if (items_.find(item)->item_id == item_id) return item;
  }
  return kNoItem;
}

std::optional<AttributeType> View::attribute_type(std::string_view name) const {
  const AttributeIndex::Attribute* indexed = eligibility_index_->attributes().find(name);
  if (indexed != nullptr && indexed->refusal.empty()) return indexed->type;
  if (later_attributes_ == nullptr) return std::nullopt;
  const auto found = later_attributes_->find(name);
  return found == later_attributes_->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tessera::catalogue
