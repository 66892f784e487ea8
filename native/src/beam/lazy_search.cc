#include "beam/lazy_search.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"

namespace tessera::beam {
namespace {

constexpr size_t kReservedMax = 8192;  // candidates of a step; more take memory as they come
// Of a step's rows a proof has more than the answer has paths: on trained models one for so many.
constexpr uint32_t kPathsPerMore = 2;
constexpr uint32_t kRowsPerSpare = 9, kRestPerSpare = 4;

}  // namespace

void Rows::clear() {
  beams.scores.clear();
  beams.nodes.clear();
  beams.ended.clear();
  codes.clear();
  parents.clear();
  steps.clear();
}

void Rows::push(const Candidate& candidate, uint32_t step) {
  beams.scores.push_back(candidate.score);
  beams.nodes.push_back(candidate.node);
  beams.ended.push_back(candidate.ended);
  codes.push_back(candidate.code);
  parents.push_back(candidate.parent);
  steps.push_back(step);
}

void Rows::push_token(int32_t token, uint32_t parent, uint32_t step) {
  Candidate row;
  row.node = catalogue::kRoot;
  row.code = static_cast<uint32_t>(token);
  row.parent = parent;
  push(row, step);
}

RowShares shares_of_budget(uint32_t budget, uint32_t selections, uint32_t first_size,
                           uint32_t paths) {
  const uint32_t row_steps = selections - 1;
  RowShares shares;
  if (row_steps > 0) {
    const uint32_t least = std::min(budget / row_steps, paths + paths / kPathsPerMore);
    const uint32_t rest = budget - least * row_steps;
    shares.spare_rows = std::min(budget / kRowsPerSpare, rest / kRestPerSpare);
    uint32_t left = budget - shares.spare_rows;
    for (uint32_t s = 0; s < row_steps; ++s) {
      const uint32_t after = row_steps - s - 1;
      uint32_t width = left / (after + 1);
      if (s == 0 && after > 0) width = std::min(left / 2, left - least * after);
      if (s == 0) width = std::min(width, first_size);
      shares.widths.push_back(std::max(1u, width));
      left -= std::min(left, shares.widths.back());
    }
  }
  shares.widths.push_back(std::max(1u, paths));
  return shares;
}

LazySearch::LazySearch(catalogue::Reach reach, LazyOptions options)
    : reach_(std::move(reach)), options_(std::move(options)) {
  TESSERA_CHECK(!options_.widths.empty() && options_.answer.result_count >= 1);
  levels_.resize(options_.widths.size());
  for (size_t s = 0; s < levels_.size(); ++s) levels_[s].width = options_.widths[s];
  if (options_.keys.draw) drawn_.push_back(draw_root(*options_.keys.draw));
  is_probing_ = options_.beam_width > 0 &&
                std::any_of(options_.widths.begin(), options_.widths.end() - 1,
                            [this](uint32_t width) { return width > options_.beam_width; });
  reserve();
}

void LazySearch::reserve() {
  size_t widest = 0, all = 0;
  const size_t shown = options_.shown;
  for (Level& level : levels_) {
    const size_t width = std::min(level.width + shown + 1, kReservedMax);
    widest = std::max(widest, width);
    all += width;
  }
  for (Level& level : levels_) {
    level.candidates.reserve(2 * widest);
    level.arrived.reserve(2 * widest);
  }
  incoming_.reserve(widest);
  merged_.reserve(2 * widest);
  scores_.reserve(all);
  finished_.reserve(all);
  computed_.reserve(all + options_.spare_rows);
  beams_.scores.reserve(widest);
  beams_.nodes.reserve(widest);
  beams_.ended.reserve(widest);
  step_.next.scores.reserve(widest);
  step_.next.nodes.reserve(widest);
  step_.next.ended.reserve(widest);
  step_.parents.reserve(widest);
  step_.codes.reserve(widest);
  step_.finished.reserve(widest);
  step_.finished_parents.reserve(widest);
}

bool LazySearch::before(const Candidate& a, const Candidate& b) const {
  return comes_before(reach_.view(), a, b);
}

/// Fills incoming_ with the candidates of a selection, best first; one that ends and goes on is
/// one.
void LazySearch::collect(const Step& step, uint32_t first_slot) {
  incoming_.clear();
  const bool has_terminals = options_.terminal_count > 0;
  size_t f = 0;
  const auto add_finished = [&] {
    const Finished& path = step.finished[f];
    Candidate ending{path.score, path.score, path.node};
    ending.parent = first_slot + step.finished_parents[f++];
    ending.code = has_terminals ? kTerminalCode : reach_.code(path.node);
    ending.ended = static_cast<uint8_t>(options_.terminal_count);
    ending.ends = true;
    incoming_.push_back(ending);
  };
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    Candidate next{step.next.scores[i], step.next.scores[i], step.next.nodes[i]};
    next.code = step.codes[i];
    next.parent = first_slot + step.parents[i];
    next.ended = step.next.ended[i];
    next.goes_on = true;
    while (f < step.finished.size()) {
      const float score = step.finished[f].score;
      const Candidate ending{score, score, step.finished[f].node};
      if (!has_terminals && ending.node == next.node) {
        next.ends = true;
        ++f;
      } else if (before(ending, next)) {
        add_finished();
      } else {
        break;
      }
    }
    incoming_.push_back(next);
  }
  while (f < step.finished.size()) add_finished();
}

bool LazySearch::has_place(const Candidate& candidate, uint32_t rank, uint32_t going_on,
                           uint32_t width) const {
  if (options_.terminal_count == 0) return rank < width;
  // Paths that go on have places of their own beside terminal tokens (select.h).
  return candidate.goes_on ? going_on < width : rank < width;
}

/// Decides which candidates the width keeps, and forgets those that need not be shown either. A
/// candidate with a row stays, unless that was computed in advance.
void LazySearch::limit(Level& level) {
  uint32_t rank = 0, going_on = 0, shown = 0;
  size_t left = 0;
  for (Candidate& candidate : level.candidates) {
    if (rank == level.width) level.cut = std::max(level.cut.value_or(kNothing), candidate.key);
    const bool is_within = has_place(candidate, rank, going_on, level.width);
    Computed* const row = candidate.slot == kNoSlot ? nullptr : &computed_[candidate.slot];
    if (row != nullptr && row->is_in_advance && !is_within) {
      row->is_in_advance = false;
      row->is_in_vain = true;
      --in_advance_;
      ++in_vain_;
    }
    candidate.is_kept = is_within || (row != nullptr && !row->is_in_vain);
    ++rank;
    going_on += candidate.goes_on ? 1 : 0;
    if (!candidate.is_kept && shown++ >= options_.shown) continue;
    level.candidates[left++] = candidate;
  }
  level.candidates.resize(left);
}

void LazySearch::choose(uint32_t step, uint32_t first_slot, std::pair<size_t, size_t> range,
                        const Beams& beams, const StepLogits& logits, Scratch& scratch) {
  const auto [first, end] = range;
  const Beams* chosen = &beams;
  StepLogits of_rows = logits;
  if (first > 0 || end < beams.nodes.size()) {
    beams_.assign(beams, first, end);
    chosen = &beams_;
    of_rows = logits.rows(first, end);
  }
  SelectOptions select_options;
  select_options.terminal_count = options_.terminal_count;
  select_options.norm = options_.norm;
  // One more than is kept: the cut's score.
  const uint64_t wanted = uint64_t{levels_[step].width} + std::max(1u, options_.shown);
  const uint64_t most = (end - first) * (uint64_t{logits.level_size} + 1);
  select_options.width = static_cast<uint32_t>(std::max<uint64_t>(1, std::min(wanted, most)));
  if (!options_.keys.are_scores()) {
    return choose_keyed(step, first_slot + static_cast<uint32_t>(first), *chosen, of_rows,
                        select_options, scratch);
  }
  select(*chosen, of_rows, reach_, select_options, scratch, step_);
  collect(step_, first_slot + static_cast<uint32_t>(first));
}

void LazySearch::merge_incoming(Level& level) {
  merged_.resize(level.candidates.size() + incoming_.size());
  std::merge(level.candidates.begin(), level.candidates.end(), incoming_.begin(), incoming_.end(),
             merged_.begin(),
             [this](const Candidate& a, const Candidate& b) { return before(a, b); });
  level.candidates.swap(merged_);
  limit(level);
}

/// Rows that are settled are selected from together, each of the others alone: a width may yet cut
/// it off, and then nothing of it counts.
void LazySearch::take(uint32_t step, uint32_t first_slot, const Beams& beams,
                      const StepLogits& logits, Scratch& scratch) {
  Level& level = levels_[step];
  asked_.reset();
  steps_taken_ = std::max(steps_taken_, step + 1);
  if (step == 0) {
    choose(0, 0, {0, 1}, beams, logits, scratch);
    for (Candidate& candidate : incoming_) candidate.parent = kNoSlot;
    merge_incoming(level);
    return;
  }
  size_t settled = 0;
  while (settled < beams.nodes.size() && !computed_[first_slot + settled].is_in_advance) ++settled;
  if (settled > 0) {
    choose(step, first_slot, {0, settled}, beams, logits, scratch);
    level.arrived.insert(level.arrived.end(), incoming_.begin(), incoming_.end());
  }
  for (size_t row = settled; row < beams.nodes.size(); ++row) {
    choose(step, first_slot, {row, row + 1}, beams, logits, scratch);
    level.arrived.insert(level.arrived.end(), incoming_.begin(), incoming_.end());
  }
}

std::optional<float> LazySearch::bound_of(size_t level) const {
  std::optional<float> bound;
  for (size_t s = 0; s < level; ++s) {
    for (const Candidate& candidate : levels_[s].candidates) {
      if (!is_open(candidate)) continue;
      if (!bound || candidate.key > *bound) bound = candidate.key;
      break;  // the others of the step are no better
    }
  }
  return bound;
}

/// Arrivals from rows that are settled become candidates, those from rows in vain are forgotten.
void LazySearch::settle() {
  for (size_t s = 1; s < levels_.size(); ++s) {
    Level& level = levels_[s];
    const std::optional<float> bound = bound_of(s - 1);
    for (const Candidate& parent : levels_[s - 1].candidates) {
      if (parent.slot == kNoSlot || (bound && parent.key <= *bound)) continue;
      in_advance_ -= std::exchange(computed_[parent.slot].is_in_advance, false) ? 1 : 0;
    }
    if (level.arrived.empty()) continue;
    incoming_.clear();
    size_t left = 0;
    for (const Candidate& candidate : level.arrived) {
      const Computed& row = computed_[candidate.parent];
      if (row.is_in_advance) level.arrived[left++] = candidate;
      if (!row.is_in_advance && !row.is_in_vain) incoming_.push_back(candidate);
    }
    level.arrived.resize(left);
    if (incoming_.empty()) continue;
    std::sort(incoming_.begin(), incoming_.end(),
              [this](const Candidate& a, const Candidate& b) { return before(a, b); });
    merge_incoming(level);
  }
}

void LazySearch::narrow(uint32_t width) {
  for (size_t s = 0; s < levels_.size(); ++s) {
    Level& level = levels_[s];
    if (level.width <= width) continue;
    if (level.candidates.empty()) {
      level.width = width;
      continue;
    }
    if (s + 1 == levels_.size()) continue;  // no rows follow
    uint32_t kept = 0, shown = 0;
    std::erase_if(level.candidates, [&](Candidate& candidate) {
      if (is_open(candidate) && kept >= width) {
        lost_ = std::max(lost_.value_or(candidate.key), candidate.key);
        (candidate.ends ? candidate.goes_on : candidate.is_kept) = false;
      }
      if (!candidate.is_kept) return shown++ >= options_.shown;
      kept += options_.terminal_count == 0 || candidate.goes_on ? 1 : 0;
      return false;
    });
    level.width = std::max(width, kept);
  }
}

void LazySearch::find_floor() {
  if (!options_.keys.are_scores()) return find_keyed_floor();
  finished_.clear();
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (candidate.is_kept && candidate.ends)
        finished_.push_back({candidate.score, candidate.node});
    }
  }
  const ExportOptions& answer = options_.answer;
  if (answer.items_per_sid > 1 || answer.is_diverse()) {
    floor_ = score_when_full(finished_, reach_, answer);
    return;
  }
  // A path gives an item at least, and no path is found twice.
  floor_.reset();
  if (finished_.size() < answer.result_count) return;
  scores_.clear();
  for (const Finished& path : finished_) scores_.push_back(path.score);
  const auto last = scores_.begin() + (answer.result_count - 1);
  std::nth_element(scores_.begin(), last, scores_.end(), std::greater<>());
  floor_ = *last;
}

std::optional<float> LazySearch::best_open() const { return bound_of(levels_.size()); }

Certificate LazySearch::certificate() const {
  if (!options_.keys.are_scores()) return keyed_certificate();
  float gap = kNothing;
  bool is_certified = true;
  const auto miss = [&](float score) {
    is_certified = false;
    gap = std::max(gap, score);
  };
  for (size_t s = 0; s < levels_.size(); ++s) {
    const std::optional<float> cut = levels_[s].cut;
    if (!cut) continue;
    // Of the last step paths alone are cut off, which come after those that are kept.
    const bool is_last = s + 1 == levels_.size();
    if (!floor_ || (is_last ? *cut > *floor_ : *cut >= *floor_)) miss(*cut);
  }
  for (const std::optional<float>& open : {lost_, asked_, best_open()}) {
    if (open && (!floor_ || *open >= *floor_)) miss(*open);
  }
  return {is_certified, gap};
}

std::vector<uint32_t> LazySearch::widths_used() const {
  std::vector<uint32_t> widths;
  bool is_whole = true;  // all prefixes before the step are computed
  for (uint32_t s = 0; s < steps_taken_; ++s) {
    uint32_t kept = 0, open = 0;
    for (const Candidate& candidate : levels_[s].candidates) {
      kept += candidate.is_kept ? 1 : 0;
      open += is_open(candidate) ? 1 : 0;
    }
    // The last selection keeps all paths where their items go by keys of their own.
    const bool keeps_all = s + 1 == levels_.size() && !options_.keys.are_scores();
    widths.push_back(is_whole || keeps_all ? kept : levels_[s].width);
    is_whole = is_whole && open == 0;
  }
  return widths;
}

}  // namespace tessera::beam
