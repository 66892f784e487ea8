// The rows that a search computes next: the other half of lazy_search.cc.
#include <algorithm>
#include <functional>

#include "base/check.h"
#include "beam/lazy_search.h"
#include "beam/out_of_reach.h"

namespace tessera::beam {
namespace {

constexpr size_t kFirstRowsMin = 48, kRowsMin = 16;  // of a search that nobody can guess for
constexpr size_t kProbedSteps = 2;
constexpr double kAboveAtFirst = 1, kBelowAtLast = 0.5;  // deviations

}  // namespace

/// Takes the numbers of a step that has candidates for the first time, and guesses again. Rows that
/// an early step leaves out are computed beside those of later ones and cost no pass; those that
/// the last leaves out do.
void LazySearch::look(const ThresholdRule* rule, double pass_rows) {
  const uint32_t k = options_.answer.result_count;
  for (uint32_t s = 0; s < steps_taken_ && s + 1 < levels_.size(); ++s) {
    Level& level = levels_[s];
    if (level.features || level.candidates.empty()) continue;
    scores_.clear();
    for (const Candidate& candidate : level.candidates) scores_.push_back(candidate.key);
    const float best = options_.keys.are_scores() ? 0 : scores_.front();
    level.features = features_of(scores_, k, best);
    const auto guessed = rule == nullptr ? std::nullopt : rule->guess(s, *level.features);
    if (!guessed) continue;
    const auto above = std::count_if(scores_.begin(), scores_.end(), [&](float score) {
      return static_cast<double>(score) >= guessed->score;
    });
    const double rows = this->rows() + static_cast<double>(above);
    const double below =
        s + 2 == levels_.size()
            ? std::max(kBelowAtLast, deviations_below(guessed->deviation, rows, pass_rows))
            : -(s == 0 || s + 3 < levels_.size() ? kAboveAtFirst : 0.0);
    guess_ = static_cast<float>(guessed->score - below * guessed->deviation);
  }
}

/// Score of the n-th best candidate whose row is not computed; of the last where there are fewer.
float LazySearch::nth_open(size_t n) {
  scores_.clear();
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (is_open(candidate)) scores_.push_back(candidate.key);
    }
  }
  const size_t place = std::min(n, scores_.size()) - 1;
  std::nth_element(scores_.begin(), scores_.begin() + static_cast<ptrdiff_t>(place), scores_.end(),
                   std::greater<>());
  return scores_[place];
}

/// Rows are computed down to this score. REQUIRES: `open` may matter.
float LazySearch::target(float open, const ThresholdRule* rule, double pass_rows) {
  look(rule, pass_rows);
  if (options_.is_eager) return kNothing;
  if (guess_ && open >= *guess_) return std::max(least(), *guess_);
  if (floor_) return least();
  const size_t k = options_.answer.result_count;
  // The first step is the least certain.
  return nth_open(steps_taken_ == 1 ? 2 * k + kFirstRowsMin : std::max(k + kRowsMin, rows() / 4ul));
}

void LazySearch::pick(float target, uint32_t rows_max, Rows& rows) {
  std::optional<float> bound;
  for (uint32_t s = 0; s + 1 < levels_.size(); ++s) {
    const std::optional<float> bound_of_step = bound;
    for (Candidate& candidate : levels_[s].candidates) {
      if (!is_open(candidate)) continue;
      if (!bound || candidate.key > *bound) bound = candidate.key;
      const bool is_settled = !bound_of_step || candidate.key > *bound_of_step;
      const bool may_be_early = !options_.is_eager && in_vain_ + in_advance_ < options_.spare_rows;
      if (!is_settled && !may_be_early) break;
      if (candidate.key < target || rows.size() == rows_max) break;
      ask(candidate, s, is_settled, rows);
    }
  }
}

void LazySearch::ask(Candidate& candidate, size_t level, bool is_settled, Rows& rows) {
  candidate.slot = static_cast<uint32_t>(computed_.size());
  computed_.push_back({.is_in_advance = !is_settled, .drawn = candidate.drawn});
  asked_ = std::max(asked_.value_or(candidate.key), candidate.key);
  in_advance_ += is_settled ? 0 : 1;
  rows.push(candidate, static_cast<uint32_t>(level + 1));
}

/// Rows that a beam of `width` computes of a step, as far as its candidates are known.
void LazySearch::pick_beam(size_t level, uint32_t width, uint32_t rows_max, Rows& rows) {
  const std::optional<float> bound = bound_of(level);
  uint32_t rank = 0, going_on = 0;
  for (Candidate& candidate : levels_[level].candidates) {
    if (rows.size() == rows_max) return;
    const bool is_within = has_place(candidate, rank++, going_on, width);
    going_on += candidate.goes_on ? 1 : 0;
    if (!is_within || !is_open(candidate)) continue;
    ask(candidate, level, !bound || candidate.key > *bound, rows);
  }
}

/// By the candidates of the probed rows, all of them and no others: then the answer depends neither
/// on earlier searches nor on how rows are shared among passes.
bool LazySearch::is_out_of_reach_at(size_t level) {
  const ExportOptions& answer = options_.answer;
  const uint32_t per_path = std::max(1u, answer.items_per_sid);
  const uint32_t paths = (answer.result_count + per_path - 1) / per_path;
  const Level& next = levels_[level + 1];
  if (next.width < paths) return false;
  scores_.clear();
  for (const auto* of : {&next.candidates, &next.arrived}) {
    for (const Candidate& candidate : *of) scores_.push_back(candidate.key);
  }
  return is_out_of_reach(levels_[level].cut, scores_, paths);
}

/// Asks for the rows that tell whether the proof is within reach; none: that is known.
void LazySearch::probe(uint32_t rows_max, Rows& rows) {
  const size_t steps = std::min(kProbedSteps, levels_.size() - 1);
  if (computed_.empty()) {
    scores_.clear();
    for (const Candidate& candidate : levels_[0].candidates) {
      if (candidate.is_kept) scores_.push_back(candidate.score);
    }
    const uint32_t codes = reach_.view().level_size(0);
    const auto known = static_cast<uint32_t>(scores_.size());
    is_probing_ = is_doubtful(scores_, codes, levels_[0].cut ? codes : std::min(known, codes));
  }
  for (size_t s = 0; is_probing_ && s < steps; ++s) {
    const uint32_t most = s == 0 ? UINT32_MAX : options_.spare_rows;
    pick_beam(s, std::min(options_.beam_width, most), rows_max, rows);
    if (rows.size() > 0) return;
  }
  for (size_t s = 0; is_probing_ && s < steps; ++s) {
    if (!is_out_of_reach_at(s)) continue;
    narrow(options_.beam_width);
    options_.spare_rows = 0;
    break;
  }
  is_probing_ = false;
}

void LazySearch::next(uint32_t rows_max, const ThresholdRule* rule, double pass_rows, Rows& rows) {
  rows.clear();
  settle();
  find_floor();
  const std::optional<float> open = best_open();
  if (!open || (!options_.is_eager && *open < least())) return;
  if (is_probing_) {
    probe(rows_max, rows);
    if (rows.size() == 0) return next(rows_max, rule, pass_rows, rows);
  } else {
    pick(target(*open, rule, pass_rows), rows_max, rows);
  }
  TESSERA_CHECK(rows.size() > 0);
}

void LazySearch::teach(ThresholdRule& rule) const {
  if (!floor_ || options_.is_eager) return;
  for (uint32_t s = 0; s < levels_.size(); ++s) {
    if (levels_[s].features) rule.observe(s, *levels_[s].features, static_cast<double>(*floor_));
  }
}

}  // namespace tessera::beam
