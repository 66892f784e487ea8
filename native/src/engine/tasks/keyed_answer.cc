#include "engine/tasks/keyed_answer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/request_limits.h"

namespace tessera::engine {
namespace {

constexpr float kNoItem = -std::numeric_limits<float>::infinity();

bool has_caps(const beam::ExportOptions& options) {
  return options.items_per_sid > 0 || options.is_diverse();
}

void add_values(std::span<const beam::FoundItem> items, const catalogue::Appraiser& appraiser,
                beam::Exported& answer) {
  for (const beam::FoundItem& item : items) {
    const catalogue::Appraisal appraisal = appraiser.appraise(item.item);
    answer.values.push_back(appraiser.value(item.score, appraiser.sum(item.item)));
    answer.paces.push_back(static_cast<float>(appraisal.pace));
    for (const double term : appraisal.terms) {
      answer.item_terms.push_back(static_cast<float>(term));
    }
  }
}

/// True if an item of the answer would be left out with the value of the best one that is.
bool loses_tie(beam::FoundItem item, const beam::FoundItem& loser, const beam::LazySearch& search,
               const catalogue::View& view) {
  item.key = loser.key;
  // A policy may order the items of a SID by the bid itself.
  const catalogue::ItemPolicy* policy = search.options().answer.policy;
  const bool has_order = policy != nullptr && policy->has_order();
  return (has_order && item.node == loser.node) || !comes_before(view, item, loser);
}

}  // namespace

void answer_by_value(const beam::LazySearch& search, const catalogue::Reach& reach, uint32_t wanted,
                     beam::Exported& answer) {
  std::vector<beam::FoundItem> items = search.items(&answer);
  const std::optional<float> missed = search.missed();
  const float next = items.size() > wanted ? items[wanted].key : kNoItem;
  const std::vector<beam::FoundItem> behind(
      items.begin() + static_cast<ptrdiff_t>(std::min<size_t>(items.size(), wanted)), items.end());
  items.resize(std::min<size_t>(items.size(), wanted));
  beam::add_items(items, reach, answer);
  const catalogue::Appraiser& appraiser = *search.options().keys.appraiser;
  add_values(items, appraiser, answer);
  // An item below the floor, or of minus infinity, is none to be had.
  const float least = std::max(next, appraiser.floor());
  const bool is_stopped = missed && *missed > kNoItem && *missed >= least;
  if (!is_stopped) answer.best_left_out = next;
  using beam::Prices;
  answer.prices = !search.certificate().is_certified  ? Prices::kUncertified
                  : is_stopped                        ? Prices::kStopped
                  : has_caps(search.options().answer) ? Prices::kCapped
                  : !(least > kNoItem)                ? Prices::kNoneLeftOut
                                                      : Prices::kKnown;
  if (answer.prices != Prices::kKnown || !appraiser.has_bid()) return;
  for (const beam::FoundItem& item : items) {
    const bool is_above = next == least && loses_tie(item, behind.front(), search, reach.view());
    answer.critical_bids.push_back(appraiser.critical_bid(item.item, item.score, least, is_above));
  }
  if (behind.empty() || items.empty()) return;
  const beam::FoundItem& loser = behind.front();
  answer.best_left_out_item = loser.item;
  answer.best_left_out_bid =
      appraiser.critical_bid(loser.item, loser.score, items.back().key, false);
}

Status add_drawn(const beam::LazySearch& drawing, const catalogue::Reach& reach, uint32_t slots,
                 bool is_beam, beam::Exported& answer) {
  for (uint32_t step = 0; step < drawing.steps_taken(); ++step) {
    for (const beam::Candidate& candidate : drawing.candidates(step)) {
      if (!candidate.ends || !candidate.goes_on) continue;
      return invalid_request(
          "explore: expected semantic IDs none of which begins another, or terminal tokens");
    }
  }
  beam::Exported told;
  std::vector<beam::FoundItem> items = drawing.items(&told);
  if (drawing.options().answer.watched_item != catalogue::kNoItem) {
    answer.watched = told.watched;
    answer.watched_cap = told.watched_cap;
  }
  const double left_out = static_cast<double>(items.size() > slots ? items[slots].key : kNoItem);
  items.resize(std::min<size_t>(items.size(), slots));
  answer.drawn_from = static_cast<uint32_t>(answer.item_ordinals.size());
  beam::add_items(items, reach, answer);
  if (const catalogue::Appraiser* appraiser = drawing.options().keys.appraiser.get()) {
    add_values(items, *appraiser, answer);
  }
  using beam::Propensities;
  answer.propensities = is_beam                               ? Propensities::kBeam
                        : has_caps(drawing.options().answer)  ? Propensities::kCapped
                        : !drawing.certificate().is_certified ? Propensities::kStopped
                                                              : Propensities::kKnown;
  if (answer.propensities != Propensities::kKnown) return Status::ok();
  for (const beam::FoundItem& item : items) {
    answer.inclusions.push_back(
        static_cast<float>(beam::inclusion_probability(item.log_p, left_out)));
  }
  return Status::ok();
}

}  // namespace tessera::engine
