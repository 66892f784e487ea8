#include "beam/tree.h"

#include <algorithm>
#include <set>
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

/// What a selection chose; a path that ends and goes on is one.
std::vector<TreeWatch::Candidate> TreeWatch::candidates_of(const Step& step,
                                                           uint32_t terminal_count) const {
  std::vector<Candidate> candidates;
  std::vector<NodeIndex> ending;
  if (terminal_count == 0) {
    for (const Finished& path : step.finished) ending.push_back(path.node);
    std::sort(ending.begin(), ending.end());
  }
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    const NodeIndex node = step.next.nodes[i];
    const bool ends = std::binary_search(ending.begin(), ending.end(), node);
    candidates.push_back({step.next.scores[i], node, step.next.ended[i], step.parents[i],
                          step.codes[i], kGoesOn | (ends ? kEndsHere : 0)});
  }
  for (size_t i = 0; i < step.finished.size(); ++i) {
    const auto& [score, node] = step.finished[i];
    if (terminal_count == 0 && reach_.has_children(node)) continue;
    const uint32_t code = terminal_count == 0 ? reach_.code(node) : kTerminalCode;
    candidates.push_back({score, node, terminal_count, step.finished_parents[i], code, kEndsHere});
  }
  return candidates;
}

void TreeWatch::observe(const Beams& beams, const StepLogits& logits, const SelectOptions& options,
                        const Step& chosen) {
  const std::vector<Candidate> taken = candidates_of(chosen, options.terminal_count);
  std::set<std::pair<NodeIndex, uint32_t>> places;
  for (const Candidate& candidate : taken) places.insert({candidate.node, candidate.ended});
  SelectOptions wider = options;
  wider.width += kRejectedMax;
  Step more;
  select(beams, logits, reach_, wider, *scratch_, more);
  std::vector<Candidate> rejected;
  for (Candidate candidate : candidates_of(more, options.terminal_count)) {
    candidate.outcome = 0;
    if (!places.contains({candidate.node, candidate.ended})) rejected.push_back(candidate);
  }
  std::stable_sort(rejected.begin(), rejected.end(), [this](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score : reach_.view().sid_before(a.node, b.node);
  });
  if (rejected.size() > kRejectedMax) rejected.resize(kRejectedMax);
  const auto first = static_cast<uint32_t>(tree_.scores.size());
  for (const Candidate& candidate : taken) add(candidate);
  for (const Candidate& candidate : rejected) add(candidate);
  beam_rows_.resize(chosen.next.nodes.size());
  for (uint32_t i = 0; i < beam_rows_.size(); ++i) beam_rows_[i] = first + i;
  ++steps_;
}

void TreeWatch::add(const Candidate& candidate) {
  const Counted counted = candidate.ended > 0 ? Counted{items_at(reach_, candidate.node), true}
                                              : items_below(reach_, candidate.node);
  const uint32_t outcome = candidate.outcome | (counted.is_whole ? 0 : kAtLeast);
  for (const uint32_t cell :
       {steps_, beam_rows_[candidate.parent], candidate.code, outcome, counted.items}) {
    tree_.cells.push_back(cell);
  }
  tree_.scores.push_back(candidate.score);
}

}  // namespace tessera::beam
