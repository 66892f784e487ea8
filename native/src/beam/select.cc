#include "beam/select.h"

#include <algorithm>

#include "beam/selection.h"

namespace tessera::beam {

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }

std::unique_ptr<Scratch, ScratchDeleter> make_scratch() {
  return std::unique_ptr<Scratch, ScratchDeleter>(new Scratch());
}

template <bool kPlain>
uint32_t Selection::parent_of(NodeIndex child) const {
  if (!kPlain && reach_.is_later(child)) {
    const NodeIndex parent = reach_.view().parent(child);
    for (uint32_t beam = 0;; ++beam) {
      if (beams_.nodes[beam] == parent && beams_.ended[beam] == 0) return beam;
    }
  }
  const auto above = std::upper_bound(
      scratch_.ranges.begin(), scratch_.ranges.end(), child,
      [](NodeIndex node, const ChildRange& range) { return node < range.children.first_child; });
  return (above - 1)->beam;
}

template <bool kPlain>
void Selection::push_child(CandidateKey key, uint32_t parent, Step& step) const {
  const NodeIndex node = node_of(key);
  step.next.scores.push_back(score_of(key));
  step.next.nodes.push_back(node);
  step.next.ended.push_back(0);
  step.parents.push_back(parent);
  step.codes.push_back(kPlain ? reach_.base().code(node) : reach_.code(node));
}

void Selection::choose_children(Step& step) const {
  reach_.is_plain() ? choose_children_of<true>(step) : choose_children_of<false>(step);
}

template <bool kPlain>
void Selection::choose_children_of(Step& step) const {
  const auto& nodes = [this]() -> const auto& {
    if constexpr (kPlain) {
      return reach_.base();
    } else {
      return reach_;
    }
  }
  ();
  for (uint32_t i = 0; i < scratch_.key_count; ++i) {
    if (i + kPrefetchDistance < scratch_.key_count) {
      nodes.prefetch(node_of(scratch_.keys[i + kPrefetchDistance]));
    }
    const CandidateKey key = scratch_.keys[i];
    const uint32_t parent = parent_of<kPlain>(node_of(key));
    if (nodes.is_terminal(node_of(key))) {
      step.finished.push_back({score_of(key), node_of(key)});
      step.finished_parents.push_back(parent);
    }
    if (nodes.has_children(node_of(key))) push_child<kPlain>(key, parent, step);
  }
}

void Selection::choose_with_terminals(Step& step) const {
  const std::vector<TerminalCandidate>& terminals = scratch_.terminals;
  uint32_t i = 0;
  size_t t = 0;
  for (uint32_t rank = 0; i < scratch_.key_count || t < terminals.size(); ++rank) {
    bool takes_terminal = i == scratch_.key_count;
    if (!takes_terminal && t < terminals.size()) {
      const float score = score_of(scratch_.keys[i]);
      takes_terminal = terminals[t].score != score
                           ? terminals[t].score > score
                           : reach_.view().sid_before(terminals[t].node, node_of(scratch_.keys[i]));
    }
    const bool has_room = step.next.nodes.size() < options_.width;
    if (rank >= options_.width && !has_room) break;
    if (!takes_terminal) {
      const CandidateKey key = scratch_.keys[i++];
      if (has_room) push_child<false>(key, parent_of<false>(node_of(key)), step);
      continue;
    }
    const TerminalCandidate& chosen = terminals[t++];
    if (chosen.is_last && rank < options_.width) {
      step.finished.push_back({chosen.score, chosen.node});
      step.finished_parents.push_back(chosen.beam);
    } else if (!chosen.is_last && has_room) {
      step.next.scores.push_back(chosen.score);
      step.next.nodes.push_back(chosen.node);
      step.next.ended.push_back(static_cast<uint8_t>(beams_.ended[chosen.beam] + 1));
      step.parents.push_back(chosen.beam);
      step.codes.push_back(kTerminalCode);
    }
  }
}

void Beams::assign(const Beams& from, size_t first, size_t end) {
  const auto copy = [first, end](const auto& all, auto& some) {
    some.assign(all.begin() + static_cast<ptrdiff_t>(first),
                all.begin() + static_cast<ptrdiff_t>(end));
  };
  copy(from.scores, scores);
  copy(from.nodes, nodes);
  copy(from.ended, ended);
}

StepLogits StepLogits::rows(size_t first, size_t end) const {
  const size_t count = end - first;
  StepLogits some = *this;
  some.codes = codes.subspan(first * level_size, count * level_size);
  if (!terminal.empty()) some.terminal = terminal.subspan(first, count);
  if (!log_sum_exp.empty()) some.log_sum_exp = log_sum_exp.subspan(first, count);
  return some;
}

void Step::clear() {
  next.scores.clear();
  next.nodes.clear();
  next.ended.clear();
  parents.clear();
  codes.clear();
  finished.clear();
  finished_parents.clear();
}

void select(const Beams& beams, const StepLogits& logits, const Reach& reach,
            const SelectOptions& options, Scratch& scratch, Step& step) {
  step.clear();
  Selection selection(beams, logits, reach, options, scratch);
  selection.check();
  selection.collect();
  if (options.terminal_count == 0) {
    selection.choose_children(step);
  } else {
    selection.choose_with_terminals(step);
  }
}

}  // namespace tessera::beam
