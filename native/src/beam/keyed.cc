// Selection by keys other than scores: every child of a row is looked at, since its key is not
// known from its logit.
#include <algorithm>

#include "beam/candidate.h"
#include "beam/selection.h"

namespace tessera::beam {
namespace {

constexpr size_t kSpare = 256;  // candidates beyond the width before the worst are dropped

class KeyedSelection {
 public:
  KeyedSelection(const Keys& keys, const Beams& beams, const StepLogits& logits, const Reach& reach,
                 const SelectOptions& options, float least, Scratch& scratch,
                 std::vector<Candidate>& chosen)
      : keys_(keys),
        beams_(beams),
        logits_(logits),
        reach_(reach),
        options_(options),
        least_(least),
        scratch_(scratch),
        selection_(beams, logits, reach, options, scratch),
        chosen_(chosen) {
    selection_.check();
  }

  void add_valued(uint32_t row) {
    const catalogue::Appraiser& appraiser = *keys_.appraiser;
    const float norm = selection_.list_row(row);
    const float beam_score = beams_.scores[row];
    const float most =
        beams_.ended[row] > 0 ? catalogue::kExcluded : appraiser.most(beams_.nodes[row]);
    const std::vector<uint32_t>& codes = scratch_.listed_codes;
    for (size_t i = 0; i < codes.size(); ++i) {
      const float score = candidate_score(beam_score, selection_.row(row)[codes[i]], norm);
      // No child has more below it than its parent.
      if (is_dropped(appraiser.value(score, most))) continue;
      const NodeIndex node = scratch_.listed_nodes[i];
      const float below = appraiser.most(node);
      if (below == catalogue::kExcluded) continue;
      (void)add(row, appraiser.value(score, below), score, node, codes[i]);
    }
    if (!selection_.has_terminal(row)) return;
    const float score = candidate_score(beam_score, logits_.terminal[row], norm);
    const float at = most_at(beams_.nodes[row]);
    if (at == catalogue::kExcluded) return;
    (void)add_terminal(row, appraiser.value(score, at), score);
  }

  void add_drawn(uint32_t row, const Drawn& parent, std::vector<Drawn>& drawn) {
    const float norm = selection_.list_row(row);
    const std::vector<uint32_t>& codes = scratch_.listed_codes;
    const bool ends = selection_.has_terminal(row);
    std::vector<float>& of_row = scratch_.logits;
    of_row.clear();
    for (const uint32_t code : codes) of_row.push_back(selection_.row(row)[code]);
    if (ends) of_row.push_back(logits_.terminal[row]);
    std::vector<Drawn>& children = children_;
    children.assign(of_row.size(), Drawn{});
    for (size_t i = 0; i < children.size(); ++i) {
      children[i].path = child_path(parent.path, i < codes.size() ? codes[i] : kTerminalCode);
    }
    normalise(parent, of_row, keys_.draw->temperature, children);
    draw_children(parent, children);
    for (size_t i = 0; i < children.size(); ++i) {
      const auto key = static_cast<float>(children[i].key);
      const float score = candidate_score(beams_.scores[row], of_row[i], norm);
      const NodeIndex node = i < codes.size() ? scratch_.listed_nodes[i] : beams_.nodes[row];
      if (is_excluded(node)) continue;
      Candidate* const added =
          i < codes.size() ? add(row, key, score, node, codes[i]) : add_terminal(row, key, score);
      if (added == nullptr) continue;
      added->drawn = static_cast<uint32_t>(drawn.size());
      drawn.push_back(children[i]);
    }
  }

  float dropped() const { return dropped_; }

  void finish() {
    keep_best(0);
    std::sort(chosen_.begin(), chosen_.end(),
              [this](const Candidate& a, const Candidate& b) { return before(a, b); });
    if (options_.terminal_count > 0) return;
    for (Candidate& candidate : chosen_) {
      candidate.ends = reach_.is_terminal(candidate.node);
      candidate.goes_on = reach_.has_children(candidate.node);
    }
  }

 private:
  bool before(const Candidate& a, const Candidate& b) const {
    return comes_before(reach_.view(), a, b);
  }

  float most_at(NodeIndex node) const {
    const catalogue::ItemList items = reach_.view().items(node);
    float most = catalogue::kExcluded;
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (reach_.may_get(items[i])) most = std::max(most, keys_.appraiser->sum(items[i]));
    }
    return most;
  }

  bool is_excluded(NodeIndex node) const {
    return keys_.appraiser != nullptr && keys_.appraiser->most(node) == catalogue::kExcluded;
  }

  bool is_dropped(float key) {
    if (!(key < least_)) return false;
    dropped_ = std::max(dropped_, key);
    return true;
  }

  /// Null where it is not wanted.
  Candidate* add(uint32_t row, float key, float score, NodeIndex node, uint32_t code) {
    if (is_dropped(key)) return nullptr;
    keep_best(options_.width + kSpare);
    Candidate candidate;
    candidate.key = key;
    candidate.score = score;
    candidate.node = node;
    candidate.code = code;
    candidate.parent = row;
    candidate.goes_on = true;  // as finish() finds without terminal tokens
    return &chosen_.emplace_back(candidate);
  }

  Candidate* add_terminal(uint32_t row, float key, float score) {
    Candidate* const candidate = add(row, key, score, beams_.nodes[row], kTerminalCode);
    if (candidate == nullptr) return nullptr;
    candidate->ended = static_cast<uint8_t>(beams_.ended[row] + 1);
    candidate->ends = candidate->ended == options_.terminal_count;
    candidate->goes_on = !candidate->ends;
    return candidate;
  }

  /// Keeps the best once more than `spare` beyond the width have gathered.
  void keep_best(size_t spare) {
    const size_t width = options_.width;
    if (chosen_.size() <= width + spare) return;
    const auto last = chosen_.begin() + static_cast<ptrdiff_t>(width - 1);
    std::nth_element(chosen_.begin(), last, chosen_.end(),
                     [this](const Candidate& a, const Candidate& b) { return before(a, b); });
    least_ = std::max(least_, last->key);
    chosen_.resize(width);
  }

  const Keys& keys_;
  const Beams& beams_;
  const StepLogits& logits_;
  const Reach& reach_;
  const SelectOptions& options_;
  float least_;
  float dropped_ = kNothing;
  Scratch& scratch_;
  Selection selection_;
  std::vector<Candidate>& chosen_;
  std::vector<Drawn> children_;  // of one row
};

}  // namespace

/// All candidates of a row as a list, and their norm.
float Selection::list_row(uint32_t beam) {
  ReachChildren children;
  if (beams_.ended[beam] == 0) children = reach_.children(beams_.nodes[beam]);
  return run_of(beam, children, true).norm;
}

float choose_by_keys(const Keys& keys, const Beams& beams, const StepLogits& logits,
                     const Reach& reach, const SelectOptions& options, float least,
                     std::span<const Drawn> rows, Scratch& scratch, std::vector<Candidate>& chosen,
                     std::vector<Drawn>& drawn) {
  chosen.clear();
  KeyedSelection selection(keys, beams, logits, reach, options, least, scratch, chosen);
  for (uint32_t row = 0; row < beams.nodes.size(); ++row) {
    if (keys.draw) {
      selection.add_drawn(row, rows[row], drawn);
    } else {
      selection.add_valued(row);
    }
  }
  selection.finish();
  return selection.dropped();
}

}  // namespace tessera::beam
