// The rows that a search computes next: the other half of lazy_search.cc.
#include <algorithm>
#include <functional>

#include "base/check.h"
#include "beam/lazy_search.h"

namespace tessera::beam {
namespace {

constexpr size_t kFirstRowsMin = 48, kRowsMin = 16;      // of a search that nobody can guess for
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
      candidate.slot = static_cast<uint32_t>(computed_.size());
      computed_.push_back({.is_in_advance = !is_settled, .drawn = candidate.drawn});
      asked_ = std::max(asked_.value_or(candidate.key), candidate.key);
      in_advance_ += is_settled ? 0 : 1;
      rows.push(candidate, s + 1);
    }
  }
}

void LazySearch::next(uint32_t rows_max, const ThresholdRule* rule, double pass_rows, Rows& rows) {
  rows.clear();
  settle();
  find_floor();
  const std::optional<float> open = best_open();
  if (!open || (!options_.is_eager && *open < least())) return;
  pick(target(*open, rule, pass_rows), rows_max, rows);
  TESSERA_CHECK(rows.size() > 0);
}

void LazySearch::teach(ThresholdRule& rule) const {
  if (!floor_ || options_.is_eager) return;
  for (uint32_t s = 0; s < levels_.size(); ++s) {
    if (levels_[s].features) rule.observe(s, *levels_[s].features, static_cast<double>(*floor_));
  }
}

}  // namespace tessera::beam
