#include "beam/lazy_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/check.h"

namespace tessera::beam {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr size_t kFirstRowsMin = 48;  // of a search that nobody can guess for

bool takes_place(const Candidate& candidate, uint32_t rank, uint32_t going_on, uint32_t width,
                 uint32_t terminal_count) {
  if (terminal_count == 0) return rank < width;
  // Paths that go on have places of their own beside terminal tokens (select.h).
  return candidate.goes_on ? going_on < width : rank < width;
}

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

std::vector<uint32_t> widths_of_budget(uint32_t budget, uint32_t selections, uint32_t first_size,
                                       uint32_t last) {
  const uint32_t row_steps = selections - 1;
  std::vector<uint32_t> widths;
  for (uint32_t s = 0, left = budget; s < row_steps; ++s) {
    const uint32_t steps_left = row_steps - s;
    uint32_t width = left / (s == 0 && steps_left > 1 ? 2 : steps_left);
    if (s == 0) width = std::min(width, first_size);
    const uint32_t of_others = steps_left - 1;  // one each at least
    width = std::min(width, left - std::min(left, of_others));
    widths.push_back(std::max(1u, width));
    left -= std::min(left, widths.back());
  }
  widths.push_back(std::max(1u, last));
  return widths;
}

LazySearch::LazySearch(catalogue::Reach reach, LazyOptions options)
    : reach_(std::move(reach)), options_(std::move(options)) {
  TESSERA_CHECK(!options_.widths.empty() && options_.answer.result_count >= 1);
  levels_.resize(options_.widths.size());
  for (size_t s = 0; s < levels_.size(); ++s) levels_[s].width = options_.widths[s];
  reserve();
}

void LazySearch::reserve() {
  size_t widest = 0, all = 0;
  const size_t shown = options_.shown == UINT32_MAX ? 0 : options_.shown;
  for (Level& level : levels_) {
    const size_t width = level.width + shown + 1;
    widest = std::max(widest, width);
    all += width;
  }
  for (Level& level : levels_) level.candidates.reserve(2 * widest);
  incoming_.reserve(widest);
  merged_.reserve(2 * widest);
  scores_.reserve(all);
  finished_.reserve(all);
  step_.next.scores.reserve(widest);
  step_.next.nodes.reserve(widest);
  step_.next.ended.reserve(widest);
  step_.parents.reserve(widest);
  step_.codes.reserve(widest);
  step_.finished.reserve(widest);
  step_.finished_parents.reserve(widest);
}

bool LazySearch::before(const Candidate& a, const Candidate& b) const {
  if (a.score != b.score) return a.score > b.score;
  return a.node != b.node && reach_.view().sid_before(a.node, b.node);
}

/// Fills incoming_ with the candidates of a selection, best first; one that ends and goes on is
/// one.
void LazySearch::collect(const Step& step, uint32_t first_slot) {
  incoming_.clear();
  const bool has_terminals = options_.terminal_count > 0;
  size_t f = 0;
  const auto add_finished = [&] {
    const Finished& path = step.finished[f];
    Candidate ending{path.score, path.node};
    ending.parent = first_slot + step.finished_parents[f++];
    ending.code = has_terminals ? kTerminalCode : reach_.code(path.node);
    ending.ended = static_cast<uint8_t>(options_.terminal_count);
    ending.ends = true;
    incoming_.push_back(ending);
  };
  for (size_t i = 0; i < step.next.nodes.size(); ++i) {
    Candidate next{step.next.scores[i], step.next.nodes[i]};
    next.code = step.codes[i];
    next.parent = first_slot + step.parents[i];
    next.ended = step.next.ended[i];
    next.goes_on = true;
    while (f < step.finished.size()) {
      const Candidate ending{step.finished[f].score, step.finished[f].node};
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

/// Decides what the width keeps, and forgets what need not be shown either. What has a row stays.
void LazySearch::limit(Level& level) {
  uint32_t rank = 0, going_on = 0, shown = 0;
  size_t left = 0;
  for (Candidate& candidate : level.candidates) {
    if (rank == level.width) {
      level.cut = level.has_cut ? std::max(level.cut, candidate.score) : candidate.score;
      level.has_cut = true;
    }
    candidate.is_kept =
        candidate.slot != kNoSlot ||
        takes_place(candidate, rank, going_on, level.width, options_.terminal_count);
    ++rank;
    going_on += candidate.goes_on ? 1 : 0;
    if (!candidate.is_kept && shown++ >= options_.shown) continue;
    level.candidates[left++] = candidate;
  }
  level.candidates.resize(left);
}

void LazySearch::take(uint32_t step, uint32_t first_slot, const Beams& beams,
                      const StepLogits& logits, Scratch& scratch) {
  Level& level = levels_[step];
  asked_.reset();
  SelectOptions select_options;
  select_options.terminal_count = options_.terminal_count;
  select_options.norm = options_.norm;
  // One more than is kept: the cut's score.
  const uint64_t wanted = uint64_t{level.width} + std::max(1u, options_.shown);
  const uint64_t most = beams.nodes.size() * (uint64_t{logits.level_size} + 1);
  select_options.width = static_cast<uint32_t>(std::max<uint64_t>(1, std::min(wanted, most)));
  select(beams, logits, reach_, select_options, scratch, step_);
  // The prompt's row has no slot.
  collect(step_, step == 0 ? 0 : first_slot);
  if (step == 0) {
    for (Candidate& candidate : incoming_) candidate.parent = kNoSlot;
  }
  merged_.resize(level.candidates.size() + incoming_.size());
  std::merge(level.candidates.begin(), level.candidates.end(), incoming_.begin(), incoming_.end(),
             merged_.begin(),
             [this](const Candidate& a, const Candidate& b) { return before(a, b); });
  level.candidates.swap(merged_);
  limit(level);
  steps_taken_ = std::max(steps_taken_, step + 1);
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
    uint32_t kept = 0;
    for (Candidate& candidate : level.candidates) {
      if (is_open(candidate) && kept >= width) {
        candidate.is_kept = candidate.ends;
        candidate.goes_on = false;
        lost_ = std::max(lost_.value_or(candidate.score), candidate.score);
      }
      kept += candidate.is_kept ? 1 : 0;
    }
    level.width = std::max(width, kept);
  }
}

void LazySearch::find_floor() {
  finished_.clear();
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (candidate.is_kept && candidate.ends) finished_.push_back({candidate.score, candidate.node});
    }
  }
  const ExportOptions& answer = options_.answer;
  const bool has_caps = answer.policy != nullptr && answer.policy->has_diversity();
  if (answer.items_per_sid > 1 || has_caps) {
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

std::optional<float> LazySearch::best_open() const {
  std::optional<float> best;
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (!is_open(candidate)) continue;
      if (!best || candidate.score > *best) best = candidate.score;
      break;  // the others of the step are no better
    }
  }
  return best;
}

/// Takes the numbers of a step that has candidates for the first time, and guesses again.
void LazySearch::look(const ThresholdRule* rule, double pass_rows) {
  const uint32_t k = options_.answer.result_count;
  for (uint32_t s = 0; s < steps_taken_ && s + 1 < levels_.size(); ++s) {
    Level& level = levels_[s];
    if (level.features || level.candidates.empty()) continue;
    scores_.clear();
    for (const Candidate& candidate : level.candidates) scores_.push_back(candidate.score);
    level.features = features_of(scores_, k);
    const auto guessed =
        rule == nullptr ? std::nullopt : rule->guess(s, *level.features);
    if (!guessed) continue;
    const auto above = std::count_if(scores_.begin(), scores_.end(), [&](float score) {
      return static_cast<double>(score) >= guessed->score;
    });
    const double rows = rows_ + static_cast<double>(above);
    const double below = deviations_below(guessed->deviation, rows, pass_rows);
    guess_ = static_cast<float>(guessed->score - below * guessed->deviation);
  }
}

/// Score of the n-th best candidate whose row is not computed; of the last where there are fewer.
float LazySearch::nth_open(size_t n) {
  scores_.clear();
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (is_open(candidate)) scores_.push_back(candidate.score);
    }
  }
  const size_t place = std::min(n, scores_.size()) - 1;
  std::nth_element(scores_.begin(), scores_.begin() + static_cast<ptrdiff_t>(place), scores_.end(),
                   std::greater<>());
  return scores_[place];
}

/// Rows are computed down to this score. REQUIRES: best_open() has one that may matter.
float LazySearch::target(const ThresholdRule* rule, double pass_rows) {
  look(rule, pass_rows);
  const float open = *best_open();
  const float least = floor_.value_or(kNothing);
  if (options_.is_eager) return kNothing;
  if (guess_ && open >= *guess_) return std::max(least, *guess_);
  if (floor_) return least;
  const uint32_t k = options_.answer.result_count;
  return nth_open(std::max<size_t>(2 * size_t{k} + kFirstRowsMin, rows_ / 2));
}

/// Candidates that nobody can come before any more: better than all whose rows are not computed yet
/// in the steps before.
void LazySearch::pick(float target, uint32_t rows_max, uint32_t first_slot, Rows& rows) {
  std::optional<float> bound;
  for (uint32_t s = 0; s + 1 < levels_.size(); ++s) {
    const std::optional<float> bound_of_step = bound;
    for (Candidate& candidate : levels_[s].candidates) {
      if (!is_open(candidate)) continue;
      if (!bound || candidate.score > *bound) bound = candidate.score;
      const bool is_settled = !bound_of_step || candidate.score > *bound_of_step;
      if (!is_settled || candidate.score < target || rows.size() == rows_max) break;
      candidate.slot = first_slot + static_cast<uint32_t>(rows.size());
      rows.push(candidate, s + 1);
    }
  }
}

void LazySearch::next(uint32_t rows_max, uint32_t first_slot, const ThresholdRule* rule,
                      double pass_rows, Rows& rows) {
  rows.clear();
  find_floor();
  const std::optional<float> open = best_open();
  if (!open || (!options_.is_eager && floor_ && *open < *floor_)) return;
  pick(target(rule, pass_rows), rows_max, first_slot, rows);
  TESSERA_CHECK(rows.size() > 0);
  rows_ += static_cast<uint32_t>(rows.size());
  asked_ = *std::max_element(rows.beams.scores.begin(), rows.beams.scores.end());
}

Certificate LazySearch::certificate() const {
  float gap = kNothing;
  bool is_certified = true;
  const auto miss = [&](float score) {
    is_certified = false;
    gap = std::max(gap, score);
  };
  for (size_t s = 0; s < levels_.size(); ++s) {
    if (!levels_[s].has_cut) continue;
    // Of the last step paths alone are cut off, which come after those that are kept.
    const bool is_last = s + 1 == levels_.size();
    const float cut = levels_[s].cut;
    if (!floor_ || (is_last ? cut > *floor_ : cut >= *floor_)) miss(cut);
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
    widths.push_back(is_whole ? kept : levels_[s].width);
    is_whole = is_whole && open == 0;
  }
  return widths;
}

void LazySearch::teach(ThresholdRule& rule) const {
  if (!floor_ || options_.is_eager) return;
  for (uint32_t s = 0; s < levels_.size(); ++s) {
    if (levels_[s].features) rule.observe(s, *levels_[s].features, static_cast<double>(*floor_));
  }
}

}  // namespace tessera::beam
