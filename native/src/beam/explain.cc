#include "beam/explain.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tessera::beam {
namespace {

using catalogue::NodeIndex;
using catalogue::View;

bool has(const std::vector<std::string>& list, const std::string& item_id) {
  return std::find(list.begin(), list.end(), item_id) != list.end();
}

/// The clause that keeps a live item out; empty when none does.
std::string refusing_clause(const View& view, const catalogue::EligibilityRequest& request,
                            catalogue::ItemOrdinal item, const std::string& item_id) {
  if (request.allowed && !has(*request.allowed, item_id)) return "allowed";
  if (has(request.denied, item_id)) return "denied";
  if (has(request.seen, item_id)) return "seen";
  const catalogue::AttributeRow row = catalogue::read_attributes(view.attributes(item));
  const auto& flight = request.flight;
  const bool is_away = flight && !flight_seconds(flight->attributes, row).has(flight->second);
  if (is_away) return "flight";
  const std::string clause =
      request.predicate ? failing_clause(*request.predicate, row) : std::string();
  return clause.empty() ? refusing_cap(view, request.caps, item) : clause;
}

}  // namespace

Explanation judge(const View& view, const catalogue::EligibilityRequest& request,
                  const std::string& item_id) {
  Explanation explanation;
  const catalogue::ItemOrdinal item = view.find_item(item_id);
  if (item == catalogue::kNoItem) {
    explanation.verdict = Verdict::kNotInCatalogue;
  } else if (view.state(item) != catalogue::ItemState::kLive) {
    explanation.verdict = Verdict::kNotLive;
    explanation.sequence = view.item_change(item)->sequence;
  } else {
    explanation.clause = refusing_clause(view, request, item, item_id);
    if (!explanation.clause.empty()) explanation.verdict = Verdict::kNotEligible;
  }
  return explanation;
}

namespace {

/// Place of a path after `steps` selections.
struct Place {
  NodeIndex node = catalogue::kNoNode;
  uint32_t ended = 0;  // terminal tokens
};

Place place_of(const View& view, NodeIndex node, uint32_t steps) {
  const uint32_t depth = view.depth_of(node);
  for (uint32_t d = depth; d > steps; --d) node = view.parent(node);
  return {node, steps > depth ? steps - depth : 0};
}

/// The last that was kept in the stead of a path that was not.
float cut_score(const LazySearch& search, uint32_t step, const Candidate& pruned) {
  const std::span<const Candidate> candidates = search.candidates(step);
  // Beside terminal tokens, paths that go on have `width` places of their own (select.h).
  const bool is_apart = search.options().terminal_count > 0 && pruned.goes_on;
  const size_t width = is_apart ? candidates.size() : search.options().widths[step];
  float last = pruned.key;
  for (const Candidate& candidate : candidates.first(std::min(width, candidates.size()))) {
    if (candidate.is_kept && (!is_apart || candidate.goes_on)) last = candidate.key;
  }
  return last;
}

/// Fate of a path: where it was pruned, or the score it was found with; open otherwise.
Explanation follow_path(const LazySearch& search, const View& view, NodeIndex node) {
  Explanation explanation;
  for (uint32_t step = 0; step < search.steps_taken(); ++step) {
    const std::span<const Candidate> candidates = search.candidates(step);
    const Place place = place_of(view, node, step + 1);
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return c.node == place.node && c.ended == place.ended;
    });
    // A path behind all that could be kept to be shown is no better than the last of them.
    const Candidate& shown = found == candidates.end() ? candidates.back() : *found;
    explanation.score = shown.key;
    if (found == candidates.end() || !found->is_kept) {
      explanation.verdict = Verdict::kPruned;
      explanation.step = step;
      explanation.rank = static_cast<uint32_t>(found - candidates.begin()) + 1;
      explanation.cut_score = cut_score(search, step, shown);
      return explanation;
    }
    if (found->ends && found->node == node) return explanation;
  }
  return explanation;
}

}  // namespace

Explanation explain(const LazySearch& search, const catalogue::Reach& reach,
                    const Exported& exported, const ExportOptions& options) {
  const NodeIndex node = reach.view().node_of(options.watched_item);
  const catalogue::Appraiser* appraiser = search.options().keys.appraiser.get();
  if (appraiser != nullptr && appraiser->sum(options.watched_item) == catalogue::kExcluded) {
    Explanation excluded;
    excluded.verdict = Verdict::kNoValue;
    const auto& terms = appraiser->valuation().terms;
    const catalogue::Appraisal appraisal = appraiser->appraise(options.watched_item);
    for (size_t t = terms.size(); t-- > 0;) {
      if (std::isnan(appraisal.terms[t])) excluded.attribute = terms[t].attribute;
    }
    return excluded;
  }
  Explanation explanation = follow_path(search, reach.view(), node);
  if (explanation.verdict == Verdict::kPruned) return explanation;
  switch (exported.watched) {
    case ItemFate::kTaken: {
      const auto& items = exported.item_ordinals;
      const auto found = std::find(items.begin(), items.end(), options.watched_item);
      explanation.rank = static_cast<uint32_t>(found - items.begin()) + 1;
      explanation.verdict = Verdict::kReturned;
      // A search by value, and a draw, take one item more than the answer has.
      if (found == items.end()) explanation.verdict = Verdict::kBehindResults;
      break;
    }
    case ItemFate::kBehindSidCap: explanation.verdict = Verdict::kBehindSidCap; break;
    case ItemFate::kBehindDiversityCap:
      explanation.verdict = Verdict::kBehindDiversityCap;
      explanation.attribute = options.policy->request().diversity[exported.watched_cap].attribute;
      break;
    case ItemFate::kNotMet:
      explanation.verdict = Verdict::kBehindResults;
      // Keys of a draw are no values.
      if (appraiser != nullptr && !search.options().keys.draw &&
          explanation.score < appraiser->floor()) {
        explanation.verdict = Verdict::kBelowFloor;
        explanation.cut_score = appraiser->floor();
      }
      break;
  }
  return explanation;
}

}  // namespace tessera::beam
