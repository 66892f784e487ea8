#include "catalogue/appraiser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "catalogue/input.h"

namespace tessera::catalogue {
namespace {

/// Slack of a bound that is not made as the sums are: the most that rounding may take from it.
constexpr double kSlack = 1e-6;

std::string names_of(const auto& all) {
  std::string names;
  for (const auto& one : all) names += (names.empty() ? "" : ", ") + one.name;
  return names.empty() ? "none" : names;
}

Status unknown(const std::string& member, const std::string& known, const std::string& got) {
  return {Code::kRequestInvalid,
          "valuation." + member + ": expected one of " + known + ", got " + quote(got)};
}

/// Weight of a term by its name; null: the valuation has no such term.
double* weight_of(Valuation& valuation, const std::string& name) {
  const auto is_it = [&](const auto& term) { return term.name == name; };
  const auto term = std::find_if(valuation.terms.begin(), valuation.terms.end(), is_it);
  if (term != valuation.terms.end()) return &term->weight;
  auto& heads = valuation.head_terms;
  const auto head = std::find_if(heads.begin(), heads.end(), is_it);
  return head == heads.end() ? nullptr : &head->weight;
}

}  // namespace

Result<std::shared_ptr<const Appraiser>> Appraiser::compile(std::shared_ptr<const View> view,
                                                            const ValuationUse& use) {
  if (use.name.empty()) return std::shared_ptr<const Appraiser>();
  const Valuations all = view->values() == nullptr ? Valuations() : view->values()->valuations();
  const auto named = std::find_if(all.begin(), all.end(),
                                  [&](const Valuation& one) { return one.name == use.name; });
  if (named == all.end()) return unknown("name", names_of(all), use.name);
  auto made = std::make_shared<Appraiser>();
  made->valuation_ = *named;
  Valuation& own = made->valuation_;
  for (const TermWeight& weight : use.weights) {
    double* const term = weight_of(own, weight.term);
    if (term == nullptr) return unknown("weights", names_of(own.terms), weight.term);
    *term = weight.weight;
    if (weight.term != own.bid || weight.weight > 0) continue;
    return Status(Code::kRequestInvalid,
                  "valuation.weights." + weight.term + ": expected above 0, as it is the bid");
  }
  if (!std::isnan(use.score_weight)) own.score_weight = use.score_weight;
  if (!std::isnan(use.floor)) own.floor = use.floor;
  made->place_ = static_cast<uint32_t>(named - all.begin());
  made->score_weight_ = static_cast<float>(own.score_weight);
  made->floor_ = static_cast<float>(own.floor);
  made->bid_ =
      static_cast<size_t>(std::find_if(own.terms.begin(), own.terms.end(),
                                       [&](const Term& term) { return term.name == own.bid; }) -
                          own.terms.begin());
  for (const Term& term : own.terms) made->numbers_.emplace_back(*view, term.attribute);
  made->view_ = std::move(view);
  made->bound_own_weights(*named, use);
  return std::shared_ptr<const Appraiser>(std::move(made));
}

void Appraiser::bound_own_weights(const Valuation& named, const ValuationUse& use) {
  if (use.weights.empty()) return;
  const auto& ranges = view_->term_ranges()[place_];
  double scale = kAsNamed;
  bool is_multiple = true;
  double shift = 0;
  double slack = kSlack;
  double ceiling = 0;
  for (size_t t = 0; t < named.terms.size(); ++t) {
    const double before = named.terms[t].weight;
    const double after = valuation_.terms[t].weight;
    if (before != after) has_own_weights_ = true;
    if (before == 0) {
      is_multiple = is_multiple && after == 0;
    } else {
      if (std::isnan(scale)) scale = after / before;
      is_multiple = is_multiple && after / before == scale;
    }
    const auto [least, most] = ranges[t];
    if (least > most) continue;  // no item has the term
    const double change = after - before;
    shift += std::max(change * least, change * most);
    // In the order and the arithmetic of items' sums, so that none is above it.
    ceiling += std::max(after * least, after * most);
    const double largest = std::max(std::abs(least), std::abs(most));
    slack += kSlack * largest * (std::abs(before) + std::abs(after));
  }
  ceiling_ = std::isnan(ceiling) ? kSumMax : sum_of(ceiling);
  // Beyond the range of doubles nothing is told by a sum but that.
  if (!std::isfinite(slack)) return;
  slack_ = slack;
  if (std::isfinite(shift)) shift_ = shift;
  if (is_multiple && scale >= 0 && std::isfinite(scale)) scale_ = scale;
}

float Appraiser::most(NodeIndex node) const {
  const float most = view_->most(place_, node);
  if (!has_own_weights_ || most == kExcluded) return most;
  // Sums that count as kSumMax may be any above it.
  if (most >= kSumMax) return ceiling_;
  double bound = most + shift_;
  if (!std::isnan(scale_)) bound = std::min(bound, scale_ * most);
  return std::min(sum_of(bound + slack_), ceiling_);
}

double Appraiser::pace_of(ItemOrdinal item) const {
  if (valuation_.pace.empty() || !view_->has_paces()) return 1;
  const ItemChange* change = view_->item_change(item);
  if (change != nullptr) {
    const std::string* text = find_text(change->row, valuation_.pace);
    return text == nullptr ? 1 : view_->pace(valuation_.pace, *text);
  }
  const auto text = read_text(view_->attributes(item), valuation_.pace);
  return text ? view_->pace(valuation_.pace, *text) : 1;
}

double Appraiser::term_of(size_t term, ItemOrdinal item, double pace) const {
  const Term& asked = valuation_.terms[term];
  const double number = numbers_[term].of(*view_, item);
  const double value = std::isnan(number) ? asked.by_default : number;
  return asked.weight * asked.of(term == bid_ && pace != 1 ? paced(value, pace) : value);
}

float Appraiser::sum(ItemOrdinal item) const {
  const float named = view_->sum(place_, item);
  if (named == kExcluded) return kExcluded;
  const double pace = pace_of(item);
  if (pace == 1 && !has_own_weights_) return named;
  double terms = 0;
  for (size_t t = 0; t < valuation_.terms.size(); ++t) terms += term_of(t, item, pace);
  const float own = sum_of(terms);
  // A pace lowers, also where the sums of doubles are rounded otherwise.
  return has_own_weights_ ? own : std::min(own, named);
}

Appraisal Appraiser::appraise(ItemOrdinal item) const {
  Appraisal appraisal;
  appraisal.pace = pace_of(item);
  for (size_t t = 0; t < valuation_.terms.size(); ++t) {
    appraisal.terms.push_back(term_of(t, item, appraisal.pace));
  }
  return appraisal;
}

float Appraiser::sum_with_bid(const Appraisal& appraisal, double bid) const {
  const Term& term = valuation_.terms[bid_];
  double terms = 0;
  double unpaced = 0;
  for (size_t t = 0; t < appraisal.terms.size(); ++t) {
    const bool is_bid = t == bid_;
    terms += is_bid ? term.weight * term.of(paced(bid, appraisal.pace)) : appraisal.terms[t];
    unpaced += is_bid ? term.weight * term.of(bid) : appraisal.terms[t];
  }
  return has_own_weights_ ? sum_of(terms) : std::min(sum_of(terms), sum_of(unpaced));
}

float Appraiser::critical_bid(ItemOrdinal item, float score, float wanted, bool is_above) const {
  const Appraisal appraisal = appraise(item);
  const auto suffices = [&](uint32_t bits) {
    const double bid = static_cast<double>(std::bit_cast<float>(bits));
    const float of_bid = value(score, sum_with_bid(appraisal, bid));
    return is_above ? of_bid > wanted : of_bid >= wanted;
  };
  if (suffices(0)) return 0;
  // Values rise with bids, and floats above 0 with their bits.
  uint32_t low = 0;
  uint32_t high = std::bit_cast<uint32_t>(std::numeric_limits<float>::max());
  if (!suffices(high)) return std::numeric_limits<float>::quiet_NaN();
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return std::bit_cast<float>(high);
}

uint64_t count_excluded(const Reach& reach, const Appraiser& appraiser) {
  const View& view = reach.view();
  uint64_t count = 0;
  for (ItemOrdinal item = 0; item < view.item_count(); ++item) {
    if (view.state(item) != ItemState::kLive || !reach.may_get(item)) continue;
    count += appraiser.sum(item) == kExcluded ? 1 : 0;
  }
  return count;
}

uint32_t count_obtainable(const Reach& reach, const Appraiser* appraiser) {
  uint32_t count = 0;
  const uint64_t* const items = reach.eligibility()->items.data();
  for_each_bit(items, 0, reach.view().item_count(), [&](uint64_t item) {
    const auto ordinal = static_cast<ItemOrdinal>(item);
    count += appraiser == nullptr || appraiser->sum(ordinal) != kExcluded ? 1 : 0;
  });
  return count;
}

}  // namespace tessera::catalogue
