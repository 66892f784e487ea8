#include "engine/tasks/search_parts.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tessera::engine {
namespace {

/// Paths of the last selection, which no rows follow, where caps may keep out many.
constexpr uint32_t kPathsOfCaps = 65'536;
/// Rows of a beam that may be computed in vain, for fewer passes: one for so many of its widths.
constexpr uint32_t kSpareShare = 8;

/// Items that a part looks for: by value, and of a draw, with the best one that is left out.
uint32_t items_of(const Request& request, Part part) {
  if (part == kDrawnItems) return request.explore.slots + 1;
  const uint32_t fixed = draws_of_part(request) ? request.result_count : fixed_places(request);
  return fixed + (request.appraiser == nullptr ? 0 : 1);
}

/// Rows of a part: a draw has its part of the items, and a quarter where they are few; among a part
/// of the items half at most, since the best ones may have to fill all places.
uint32_t budget_of(const Request& request, Part part) {
  const uint32_t all = request.row_budget;
  if (!has_part(request, kDrawnItems)) return all;
  if (!has_part(request, kBestItems)) return all;
  const auto of_items =
      static_cast<uint32_t>(uint64_t{all} * request.explore.slots / request.result_count);
  uint32_t drawn = std::max(of_items, (all + 3) / 4);
  if (draws_of_part(request)) drawn = std::min(drawn, (all + 1) / 2);
  return part == kDrawnItems ? drawn : std::max(1u, all - std::min(all, drawn));
}

}  // namespace

bool draws(const Request& request) {
  const Request::Explore& explore = request.explore;
  return explore.slots > 0 && (!explore.reach.is_set() || explore.items > 0);
}

bool draws_of_part(const Request& request) {
  return draws(request) && request.explore.reach.is_set();
}

uint32_t fixed_places(const Request& request) {
  return draws(request) ? request.result_count - request.explore.slots : request.result_count;
}

bool has_part(const Request& request, Part part) {
  if (part == kDrawnItems) return draws(request);
  return draws_of_part(request) || fixed_places(request) > 0;
}

beam::RowShares shares_of(const Request& request, Part part) {
  const uint32_t selections = request.binding->step_count();
  if (request.row_budget > 0) {
    const auto first = static_cast<uint32_t>(request.binding->level_tokens(0).size());
    return beam::shares_of_budget(budget_of(request, part), selections, first,
                                  items_of(request, part));
  }
  beam::RowShares shares{request.widths};
  shares.widths.resize(selections, request.widths.back());
  shares.spare_rows =
      std::accumulate(shares.widths.begin(), shares.widths.end() - 1, uint32_t{0}) / kSpareShare;
  return shares;
}

std::vector<uint32_t> all_widths(const Request& request) {
  std::vector<uint32_t> all(request.binding->step_count(), 0);
  for (const Part part : {kBestItems, kDrawnItems}) {
    if (!has_part(request, part)) continue;
    const std::vector<uint32_t> widths = shares_of(request, part).widths;
    std::transform(all.begin(), all.end(), widths.begin(), all.begin(), std::plus<>());
  }
  return all;
}

std::string rule_key(const Request& request, Part part) {
  std::string key = request.adapter == nullptr ? std::string() : request.adapter->summary().digest;
  const auto add = [&key](uint32_t value) { key += ' ' + std::to_string(value); };
  add(items_of(request, part));
  if (part == kDrawnItems) key += " drawn " + std::to_string(request.explore.temperature);
  if (part == kDrawnItems && draws_of_part(request)) key += " among some";
  if (request.appraiser != nullptr && part == kBestItems) {
    const catalogue::Valuation& valuation = request.appraiser->valuation();
    key += " by " + valuation.name + ' ' + std::to_string(valuation.score_weight);
    for (const catalogue::Term& term : valuation.terms) key += ' ' + std::to_string(term.weight);
  }
  add(static_cast<uint32_t>(request.norm));
  add(request.items_per_sid);
  add(request.row_budget);
  if (request.row_budget == 0) std::for_each(request.widths.begin(), request.widths.end(), add);
  return key;
}

beam::LazyOptions options_of(const Request& request, Part part) {
  beam::LazyOptions options;
  beam::RowShares shares = shares_of(request, part);
  options.widths = std::move(shares.widths);
  options.spare_rows = shares.spare_rows;
  options.terminal_count = static_cast<uint32_t>(request.binding->terminal_tokens().size());
  options.norm = request.norm;
  // The fate of an item is that in the search for the best ones, where there is one.
  const bool is_watching = request.watched_item != catalogue::kNoItem &&
                           (part == kBestItems || !has_part(request, kBestItems));
  options.answer = {items_of(request, part), request.items_per_sid, request.item_policy.get(),
                    is_watching ? request.watched_item : catalogue::kNoItem};
  options.keys.appraiser = request.appraiser;
  if (part == kDrawnItems) {
    const Request::Explore& explore = request.explore;
    const uint64_t seed = uint64_t{explore.seed_high} << 32 | explore.seed_low;
    options.keys.draw = beam::DrawOptions{seed, explore.temperature};
  } else if (request.appraiser != nullptr) {
    options.certified_items = draws_of_part(request) ? request.result_count : fixed_places(request);
  }
  // The rule for proofs that are out of reach knows scores alone.
  if (request.row_budget > 0 && !request.widths.empty() && options.keys.are_scores()) {
    options.beam_width = std::max(request.widths.back(), options.answer.result_count);
  }
  // Where not every path gives an item of the answer.
  const bool is_loose = options.answer.is_diverse() || !options.keys.are_scores();
  if (request.row_budget > 0 && is_loose) {
    options.widths.back() = std::max(options.widths.back(), kPathsOfCaps);
  }
  if (request.wants_tree) options.shown = beam::kRejectedMax;
  if (is_watching) {
    options.shown = beam::kExplainedMax;
    options.is_eager = true;
  }
  return options;
}

}  // namespace tessera::engine
