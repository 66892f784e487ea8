#include "beam/tree.h"

#include <unordered_map>
#include <utility>

namespace tessera::beam {
namespace {

using catalogue::ItemList;
using catalogue::NodeIndex;
using catalogue::Reach;

struct Counted {
  uint32_t items = 0;
  bool is_whole = true;
};

uint32_t items_at(const Reach& reach, NodeIndex node) {
  const ItemList items = reach.view().items(node);
  uint32_t count = 0;
  for (uint32_t i = 0; i < items.size(); ++i) count += reach.may_get(items[i]) ? 1 : 0;
  return count;
}

/// Nodes of a snapshot are numbered level by level, and its items by their nodes: those below a
/// node are one run per level.
uint32_t items_below_in_snapshot(const Reach& reach, NodeIndex node) {
  const catalogue::Snapshot& base = reach.base();
  uint64_t count = 0;
  for (NodeIndex first = node, last = node;;) {
    const catalogue::ItemRange from = base.items(first);
    const catalogue::ItemRange to = base.items(last);
    count += reach.count(from.first, to.first + to.count);
    // The run of children begins at its first parent that has one, and ends at its last.
    while (first < last && !base.has_children(first)) ++first;
    while (last > first && !base.has_children(last)) --last;
    if (!base.has_children(first)) return static_cast<uint32_t>(count);
    const catalogue::Children end = base.children(last);
    first = base.children(first).first_child;
    last = end.first_child + end.codes.size() - 1;
  }
}

/// A walk, since changes have taken items from anywhere and put them anywhere.
Counted items_below_by_walk(const Reach& reach, NodeIndex node) {
  Counted counted;
  std::vector<NodeIndex> nodes{node};
  for (uint32_t walked = 0; !nodes.empty(); ++walked) {
    if (walked == kWalkedMax) return {counted.items, false};
    const NodeIndex here = nodes.back();
    nodes.pop_back();
    counted.items += items_at(reach, here);
    const catalogue::ReachChildren below = reach.children(here);
    for (uint32_t i = 0; i < below.base.codes.size() && nodes.size() <= kWalkedMax; ++i) {
      const bool passes =
          below.mask == nullptr || catalogue::test_bit(below.mask, below.mask_begin + i);
      if (passes) nodes.push_back(below.base.first_child + i);
    }
    for (const catalogue::AddedChild& child : below.added) {
      if (reach.may_enter(child.node)) nodes.push_back(child.node);
    }
  }
  return counted;
}

Counted items_below(const Reach& reach, NodeIndex node) {
  if (reach.view().has_changes()) return items_below_by_walk(reach, node);
  return {items_below_in_snapshot(reach, node), true};
}

class TreeBuilder {
 public:
  explicit TreeBuilder(const Reach& reach) : reach_(reach) {}

  void add(uint32_t step, const Candidate& candidate) {
    const Counted counted = candidate.ended > 0 ? Counted{items_at(reach_, candidate.node), true}
                                                : items_below(reach_, candidate.node);
    uint32_t outcome = counted.is_whole ? 0 : kAtLeast;
    if (candidate.is_kept) {
      outcome |= (candidate.goes_on ? kGoesOn : 0) | (candidate.ends ? kEndsHere : 0);
      if (candidate.goes_on && candidate.slot == kNoSlot) outcome |= kProvedOut;
    }
    const auto parent = rows_.find(candidate.parent);
    if (candidate.slot != kNoSlot) rows_.emplace(candidate.slot, tree_.rows.size());
    tree_.rows.push_back({step, parent == rows_.end() ? kNoRow : parent->second, candidate.code,
                          outcome, counted.items});
    tree_.scores.push_back(candidate.key);
  }
  Tree take() { return std::move(tree_); }

 private:
  const Reach& reach_;
  std::unordered_map<uint32_t, uint32_t> rows_;  // by the slot of a computed row
  Tree tree_;
};

}  // namespace

Tree tree_of(const LazySearch& search, const Reach& reach) {
  TreeBuilder tree(reach);
  const auto add = [&](uint32_t step, const auto& is_shown) {
    uint32_t shown = 0;
    for (const Candidate& candidate : search.candidates(step)) {
      if (is_shown(candidate) && (candidate.is_kept || shown++ < kRejectedMax)) {
        tree.add(step, candidate);
      }
    }
  };
  for (uint32_t step = 0; step < search.steps_taken(); ++step) {
    add(step, [](const Candidate& c) { return c.is_kept && c.goes_on; });
    add(step, [](const Candidate& c) { return c.is_kept && !c.goes_on; });
    add(step, [](const Candidate& c) { return !c.is_kept; });
  }
  return tree.take();
}

}  // namespace tessera::beam
