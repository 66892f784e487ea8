#include "catalogue/view_editor.h"

#include <algorithm>

#include "base/check.h"
#include "catalogue/bits.h"
#include "catalogue/checksum.h"

namespace tessera::catalogue {
namespace {

std::vector<AddedChild>::iterator child_place(std::vector<AddedChild>& list, uint32_t code) {
  return std::lower_bound(
      list.begin(), list.end(), code,
      [](const AddedChild& other, uint32_t wanted) { return other.code < wanted; });
}

}  // namespace

ViewEditor::ViewEditor(const View& from)
    : edit_(next_edit()), view_(std::shared_ptr<View>(new View(from))) {}

ViewEditor::ViewEditor(const View& from, std::shared_ptr<const SnapshotValues> values)
    : ViewEditor(from) {
  view_->values_ = std::move(values);
  view_->node_sums_ = {};
  view_->term_ranges_ = view_->values_ == nullptr ? nullptr : view_->values_->ranges();
  std::vector<ItemOrdinal> items;
  view_->items_.for_each([&](ItemOrdinal item, const ItemChange&) { items.push_back(item); });
  for (const ItemOrdinal item : items) {
    set_sums(view_->items_.edit(item, edit_));
    values_.touch(view_->node_of(item));
  }
  // Where an item was that is elsewhere now.
  view_->node_changes_.for_each([&](NodeIndex node, const NodeChange& change) {
    if (change.has_items) values_.touch(node);
  });
}

std::shared_ptr<const View> ViewEditor::finish() {
  values_.finish(*view_, edit_);
  return std::move(view_);
}

/// Sets the sums of an item by whether it is live.
void ViewEditor::set_sums(ItemChange& entry) {
  if (view_->values_ == nullptr) return;
  TermRanges ranges = *view_->term_ranges_;
  entry.sums = sums_of(view_->values_->valuations(), entry.row, &ranges);
  const TermRanges& known = *view_->term_ranges_;
  bool is_wider = false;
  for (size_t v = 0; v < ranges.size(); ++v) {
    for (size_t t = 0; t < ranges[v].size(); ++t) {
      is_wider = is_wider || ranges[v][t].least < known[v][t].least ||
                 ranges[v][t].most > known[v][t].most;
    }
  }
  if (is_wider) view_->term_ranges_ = std::make_shared<TermRanges>(ranges);
}

void ViewEditor::set_pace(const Change& change) {
  const std::string& attribute = change.title;
  const std::string& text = change.item_id;
  PaceBucket& bucket = view_->paces_.edit(hash_pace(attribute, text), edit_);
  const auto same = [&](const Pace& pace) {
    return pace.attribute == attribute && pace.text == text;
  };
  view_->pace_count_ -= static_cast<uint32_t>(std::erase_if(bucket.paces, same));
  if (change.priority == 1) return;
  bucket.paces.push_back({attribute, text, change.priority, view_->sequence_});
  ++view_->pace_count_;
}

void ViewEditor::apply(const Change& change) {
  ++view_->sequence_;
  if (change.kind == ChangeKind::kUpsert) return upsert(change);
  if (change.kind == ChangeKind::kSetPace) return set_pace(change);
  const ItemOrdinal item = view_->find_item(change.item_id);
  TESSERA_CHECK(item != kNoItem);
  switch (change.kind) {
    case ChangeKind::kUpsert: break;
    case ChangeKind::kPause: set_state(item, ItemState::kPaused); break;
    case ChangeKind::kResume: set_state(item, ItemState::kLive); break;
    case ChangeKind::kRemove: set_state(item, ItemState::kRemoved); break;
    case ChangeKind::kSetAttributes:
      set_attributes(touch(item), change.attributes);
      values_.touch(view_->node_of(item));
      break;
    case ChangeKind::kSetPriority: {
      const bool is_live = view_->state(item) == ItemState::kLive;
      if (is_live) take(item);
      touch(item).priority = change.priority;
      if (is_live) place(item);
      break;
    }
    case ChangeKind::kSetPace: break;
    case ChangeKind::kPatchAttributes: TESSERA_CHECK(false);  // none that check_change() lets pass
  }
}

/// The item's entry, copied whole from the snapshot where it has none yet.
ItemChange& ViewEditor::touch(ItemOrdinal item) {
  const bool is_first = view_->items_.find(item) == nullptr;
  ItemChange& entry = view_->items_.edit(item, edit_);
  entry.sequence = view_->sequence_;
  if (is_first && item < view_->base_->item_count()) {
    const Snapshot& base = *view_->base_;
    entry.node = base.node_of(item);
    entry.priority = base.priority(item);
    entry.item_id = base.item_id(item);
    entry.title = base.title(item);
    entry.attributes = base.attributes(item);
    entry.row = read_attributes(entry.attributes);
    set_sums(entry);
  }
  return entry;
}

void ViewEditor::upsert(const Change& change) {
  ItemOrdinal item = view_->find_item(change.item_id);
  const bool is_new = item == kNoItem;
  if (is_new) item = add_item(change.item_id);
  const ItemState before = is_new ? ItemState::kRemoved : view_->state(item);
  if (before == ItemState::kLive) take(item);
  if (before == ItemState::kPaused) count_paused(view_->node_of(item), -1);
  const NodeIndex node = make_path(change.sid);
  ItemChange& entry = touch(item);
  entry.node = node;
  entry.title = change.title;
  set_attributes(entry, change.attributes);
  entry.priority = change.priority;
  entry.state = before == ItemState::kPaused ? ItemState::kPaused : ItemState::kLive;
  if (entry.state == ItemState::kLive) place(item);
  if (entry.state == ItemState::kPaused) count_paused(node, 1);
}

void ViewEditor::set_attributes(ItemChange& entry, const std::string& attributes) {
  entry.attributes = attributes;
  entry.row = read_attributes(attributes);
  set_sums(entry);
  for (const AttributeValue& value : entry.row) {
    if (view_->attribute_type(value.name)) continue;
    auto types = view_->later_attributes_ == nullptr
                     ? std::make_shared<View::AttributeTypes>()
                     : std::make_shared<View::AttributeTypes>(*view_->later_attributes_);
    types->emplace(value.name, value.type);
    view_->later_attributes_ = std::move(types);
  }
}

void ViewEditor::set_state(ItemOrdinal item, ItemState state) {
  const ItemState before = view_->state(item);
  if (before == state) return;
  if (before == ItemState::kLive) take(item);
  if (before == ItemState::kPaused) count_paused(view_->node_of(item), -1);
  touch(item).state = state;
  if (state == ItemState::kLive) place(item);
  if (state == ItemState::kPaused) count_paused(view_->node_of(item), 1);
}

void ViewEditor::count_paused(NodeIndex node, int by) {
  view_->node_changes_.edit(node, edit_).paused_count += static_cast<uint32_t>(by);
}

ItemOrdinal ViewEditor::add_item(const std::string& item_id) {
  const ItemOrdinal item = view_->item_count_++;
  const auto hash = static_cast<uint32_t>(hash_item_id(item_id));
  view_->ids_.edit(hash, edit_).items.push_back(item);
  ItemChange& entry = touch(item);
  entry.item_id = item_id;
  entry.state = ItemState::kRemoved;  // until it has a place
  return item;
}

NodeIndex ViewEditor::make_path(std::span<const uint32_t> sid) {
  NodeIndex node = kRoot;
  for (const uint32_t code : sid) {
    const NodeIndex found = view_->child(node, code);
    node = found != kNoNode ? found : make_child(node, code);
  }
  return node;
}

NodeIndex ViewEditor::make_child(NodeIndex parent, uint32_t code) {
  const NodeIndex node = view_->node_count_++;
  NodeChange& entry = view_->node_changes_.edit(node, edit_);
  entry.parent = parent;
  entry.code = code;
  entry.depth = view_->depth_of(parent) + 1;
  std::vector<AddedChild>& dormant = view_->node_changes_.edit(parent, edit_).dormant;
  dormant.insert(child_place(dormant, code), {code, node});
  return node;
}

/// The node's own list of live items, copied from the snapshot where it has none yet.
std::vector<ItemOrdinal>& ViewEditor::edit_items(NodeIndex node) {
  const ItemList items = view_->items(node);
  NodeChange& entry = view_->node_changes_.edit(node, edit_);
  if (!entry.has_items) {
    entry.has_items = true;
    for (uint32_t i = 0; i < items.size(); ++i) entry.items.push_back(items[i]);
  }
  return entry.items;
}

bool ViewEditor::before(ItemOrdinal a, ItemOrdinal b) const {
  const double priority_a = view_->priority(a);
  const double priority_b = view_->priority(b);
  return priority_a != priority_b ? priority_a > priority_b : view_->item_id(a) < view_->item_id(b);
}

/// Place of an item, or where it would be, in a list of this order.
std::vector<ItemOrdinal>::iterator ViewEditor::place_of(std::vector<ItemOrdinal>& items,
                                                        ItemOrdinal item) const {
  return std::lower_bound(items.begin(), items.end(), item,
                          [this](ItemOrdinal a, ItemOrdinal b) { return before(a, b); });
}

/// Puts a live item at its node; nodes above come alive as far as they were not.
void ViewEditor::place(ItemOrdinal item) {
  NodeIndex node = view_->node_of(item);
  bool was_live = view_->is_live(node);
  std::vector<ItemOrdinal>& items = edit_items(node);
  items.insert(place_of(items, item), item);
  values_.touch(node);
  ++view_->live_item_count_;
  while (!was_live && node != kRoot) {
    const NodeIndex above = view_->parent(node);
    was_live = view_->is_live(above);
    set_child(above, node, true);
    node = above;
  }
}

/// Takes a live item from its node; what has no live item below any more dies.
void ViewEditor::take(ItemOrdinal item) {
  NodeIndex node = view_->node_of(item);
  std::vector<ItemOrdinal>& items = edit_items(node);
  const auto found = place_of(items, item);
  TESSERA_CHECK(found != items.end() && *found == item);
  items.erase(found);
  values_.touch(node);
  --view_->live_item_count_;
  while (node != kRoot && !view_->is_live(node)) {
    const NodeIndex above = view_->parent(node);
    set_child(above, node, false);
    node = above;
  }
}

void ViewEditor::set_child(NodeIndex parent, NodeIndex child, bool live) {
  NodeChange& entry = view_->node_changes_.edit(parent, edit_);
  if (view_->is_later(child)) {
    std::vector<AddedChild>& from = live ? entry.dormant : entry.added;
    std::vector<AddedChild>& to = live ? entry.added : entry.dormant;
    const uint32_t code = view_->code(child);
    const auto found = child_place(from, code);
    TESSERA_CHECK(found != from.end() && found->node == child);
    to.insert(child_place(to, code), *found);
    from.erase(found);
    return;
  }
  const Children children = view_->base_->children(parent);
  if (entry.live_children.empty()) {
    entry.live_children.assign(words_for(children.codes.size()), ~uint64_t{0});
  }
  const uint32_t index = child - children.first_child;
  const uint64_t bit = uint64_t{1} << (index % kWordBits);
  entry.live_children[index / kWordBits] ^= bit;
  entry.dead_child_count += live ? -1 : 1;
}

}  // namespace tessera::catalogue
