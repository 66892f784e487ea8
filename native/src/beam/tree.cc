#include "beam/tree.h"

#include <algorithm>
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

}  // namespace

TreeWatch::TreeWatch(Reach reach) : reach_(std::move(reach)), beam_rows_{kNoRow} {}

void TreeWatch::list(const Step& step, size_t first_next, size_t first_finished,
                     uint32_t terminal_count) {
  candidates_.clear();
  for (size_t i = first_next; i < step.next.nodes.size(); ++i) {
    candidates_.push_back({step.next.scores[i], step.next.nodes[i], step.next.ended[i],
                           step.parents[i], step.codes[i], kGoesOn});
  }
  for (size_t i = first_finished; i < step.finished.size(); ++i) {
    const auto& [score, node] = step.finished[i];
    if (terminal_count == 0 && reach_.has_children(node)) continue;
    const uint32_t code = terminal_count == 0 ? reach_.code(node) : kTerminalCode;
    candidates_.push_back({score, node, terminal_count, step.finished_parents[i], code, kEndsHere});
  }
}

/// REQUIRES: candidates_ are those of the step, which has no terminal tokens.
void TreeWatch::mark_ending(const Step& step) {
  ending_.clear();
  for (const Finished& path : step.finished) ending_.push_back(path.node);
  std::sort(ending_.begin(), ending_.end());
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    const bool ends = std::binary_search(ending_.begin(), ending_.end(), candidates_[i].node);
    if (ends) candidates_[i].outcome |= kEndsHere;
  }
}

/// Selections are totally ordered, so what one with more room adds stands behind what was chosen,
/// in either list.
void TreeWatch::observe(const Beams& beams, const StepLogits& logits, const SelectOptions& options,
                        const Step& chosen, Scratch& scratch) {
  list(chosen, 0, 0, options.terminal_count);
  if (options.terminal_count == 0) mark_ending(chosen);
  const auto first = static_cast<uint32_t>(tree_.scores.size());
  reserve(first + candidates_.size() + kRejectedMax);
  for (const Candidate& candidate : candidates_) add(candidate);
  SelectOptions wider = options;
  wider.width += kRejectedMax;
  select(beams, logits, reach_, wider, scratch, more_);
  list(more_, chosen.next.nodes.size(), chosen.finished.size(), options.terminal_count);
  std::stable_sort(candidates_.begin(), candidates_.end(), [this](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score : reach_.view().sid_before(a.node, b.node);
  });
  candidates_.resize(std::min<size_t>(candidates_.size(), kRejectedMax));
  for (Candidate& rejected : candidates_) {
    rejected.outcome = 0;
    add(rejected);
  }
  beam_rows_.resize(chosen.next.nodes.size());
  for (uint32_t i = 0; i < beam_rows_.size(); ++i) beam_rows_[i] = first + i;
  ++steps_;
}

void TreeWatch::reserve(size_t rows) {
  tree_.scores.reserve(rows);
  tree_.rows.reserve(rows);
}

void TreeWatch::add(const Candidate& candidate) {
  const Counted counted = candidate.ended > 0 ? Counted{items_at(reach_, candidate.node), true}
                                              : items_below(reach_, candidate.node);
  const uint32_t outcome = candidate.outcome | (counted.is_whole ? 0 : kAtLeast);
  tree_.rows.push_back(
      {steps_, beam_rows_[candidate.parent], candidate.code, outcome, counted.items});
  tree_.scores.push_back(candidate.score);
}

}  // namespace tessera::beam
