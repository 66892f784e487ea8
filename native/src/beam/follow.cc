#include "beam/follow.h"

#include <algorithm>

#include "base/check.h"
#include "beam/selection.h"

namespace tessera::beam {
namespace {

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::span<const Route::Edge> below(const Route& route, NodeIndex parent) {
  const auto first =
      std::lower_bound(route.edges.begin(), route.edges.end(), Route::Edge{parent, 0});
  const auto last = std::find_if(first, route.edges.end(), [parent](const Route::Edge& edge) {
    return edge.parent != parent;
  });
  return {first, last};
}

bool ends_at(const Route& route, NodeIndex node) {
  return std::binary_search(route.ends.begin(), route.ends.end(), node);
}

void push_next(Step& step, float score, NodeIndex node, uint8_t ended, uint32_t parent,
               uint32_t code) {
  step.next.scores.push_back(score);
  step.next.nodes.push_back(node);
  step.next.ended.push_back(ended);
  step.parents.push_back(parent);
  step.codes.push_back(code);
}

void finish(Step& step, float score, NodeIndex node, uint32_t parent) {
  step.finished.push_back({score, node});
  step.finished_parents.push_back(parent);
}

}  // namespace

NodeIndex find_path(const Reach& reach, std::span<const uint32_t> codes) {
  if (codes.empty() || codes.size() > reach.view().depth()) return catalogue::kNoNode;
  const NodeIndex node = reach.view().find_node(codes);
  return node != catalogue::kNoNode && reach.is_terminal(node) ? node : catalogue::kNoNode;
}

void find_route(const Reach& reach, std::span<const uint32_t> codes,
                std::span<const uint32_t> offsets, Route& route) {
  TESSERA_CHECK(!offsets.empty() && offsets.back() == codes.size());
  route.edges.clear();
  route.ends.clear();
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    NodeIndex node = find_path(reach, codes.subspan(offsets[i], offsets[i + 1] - offsets[i]));
    if (node == catalogue::kNoNode) continue;
    route.ends.push_back(node);
    while (node != catalogue::kRoot) {
      const NodeIndex parent = reach.view().parent(node);
      route.edges.push_back({parent, node});
      node = parent;
    }
  }
  sort_unique(route.edges);
  sort_unique(route.ends);
}

void Selection::follow_beam(uint32_t beam, const Route& route, Step& step) {
  const NodeIndex node = beams_.nodes[beam];
  const bool is_ended = beams_.ended[beam] > 0;
  const bool may_end = has_terminal(beam);
  ChildRange range{{}, beam};
  if (!is_ended) range.children = reach_.base_children(node);
  const ReachChildren children = children_of(range);
  const ScanRun run = run_of(beam, children, wants_list(children));
  const std::span<const Route::Edge> edges =
      is_ended ? std::span<const Route::Edge>() : below(route, node);
  for (const Route::Edge& edge : edges) {
    const uint32_t code = reach_.code(edge.node);
    const float score = candidate_score(run.beam_score, run.logits[code], run.norm);
    const bool is_end = ends_at(route, edge.node);
    const bool has_terminals = options_.terminal_count > 0;
    if (is_end && !has_terminals) finish(step, score, edge.node, beam);
    if (!below(route, edge.node).empty() || (is_end && has_terminals))
      push_next(step, score, edge.node, 0, beam, code);
  }
  if (!may_end || !ends_at(route, node)) return;
  const float score = candidate_score(run.beam_score, logits_.terminal[beam], run.norm);
  const auto ended = static_cast<uint8_t>(beams_.ended[beam] + 1);
  if (ended == options_.terminal_count) {
    finish(step, score, node, beam);
  } else {
    push_next(step, score, node, ended, beam, kTerminalCode);
  }
}

void Selection::follow(const Route& route, Step& step) {
  for (uint32_t beam = 0; beam < beams_.nodes.size(); ++beam) follow_beam(beam, route, step);
}

void follow(const Beams& beams, const StepLogits& logits, const Reach& reach,
            const SelectOptions& options, const Route& route, Scratch& scratch, Step& step) {
  step.clear();
  Selection selection(beams, logits, reach, options, scratch);
  selection.follow(route, step);
}

}  // namespace tessera::beam
