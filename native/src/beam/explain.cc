#include "beam/explain.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

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

Watch::Watch(catalogue::Reach reach, catalogue::ItemOrdinal item)
    : reach_(std::move(reach)), item_(item), node_(reach_.view().node_of(item)) {}

Watch::Candidate Watch::place(uint32_t steps) const {
  const uint32_t depth = reach_.view().depth_of(node_);
  Candidate place{0, node_, steps > depth ? steps - depth : 0};
  for (uint32_t d = depth; d > steps; --d) place.node = reach_.view().parent(place.node);
  return place;
}

bool Watch::is_kept(const Step& kept) const {
  const Candidate wanted = place(steps_);
  for (size_t b = 0; b < kept.next.nodes.size(); ++b) {
    if (wanted == Candidate{0, kept.next.nodes[b], kept.next.ended[b]}) return true;
  }
  return false;
}

void Watch::observe(const Beams& beams, const StepLogits& logits, const SelectOptions& options,
                    const Step& kept) {
  ++steps_;
  for (const Finished& path : kept.finished) {
    if (path.node != node_) continue;
    is_found_ = true;
    explanation_.score = path.score;
  }
  if (is_found_ || explanation_.verdict == Verdict::kPruned || is_kept(kept)) return;
  std::vector<Candidate> candidates = all_candidates(beams, logits, options);
  const auto found = std::find(candidates.begin(), candidates.end(), place(steps_));
  TESSERA_CHECK(found != candidates.end());
  const Candidate wanted = *found;
  const auto before = [&view = reach_.view()](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : view.sid_before(a.node, b.node);
  };
  const auto better = std::count_if(candidates.begin(), candidates.end(),
                                    [&](const auto& other) { return before(other, wanted); });
  explanation_.verdict = Verdict::kPruned;
  explanation_.step = steps_ - 1;
  explanation_.rank = static_cast<uint32_t>(better) + 1;
  explanation_.score = wanted.score;
  // Beside terminal tokens, paths that go on have `width` places of their own (select.h).
  if (options.terminal_count > 0 && wanted.ended < options.terminal_count) {
    explanation_.cut_score = kept.next.scores.back();
  } else {
    const auto last = candidates.begin() + (options.width - 1);
    std::nth_element(candidates.begin(), last, candidates.end(), before);
    explanation_.cut_score = last->score;
  }
}

/// The step again with room for every candidate.
std::vector<Watch::Candidate> Watch::all_candidates(const Beams& beams, const StepLogits& logits,
                                                    const SelectOptions& options) const {
  SelectOptions unbounded = options;
  unbounded.width = static_cast<uint32_t>(beams.nodes.size() * (logits.level_size + 1));
  const auto scratch = make_scratch();
  Step all;
  select(beams, logits, reach_, unbounded, *scratch, all);
  std::vector<Candidate> candidates;
  for (size_t b = 0; b < all.next.nodes.size(); ++b) {
    candidates.push_back({all.next.scores[b], all.next.nodes[b], all.next.ended[b]});
  }
  for (const Finished& path : all.finished) {
    // Without terminal tokens a path that ends and goes on is one candidate.
    const bool goes_on = options.terminal_count == 0 && reach_.has_children(path.node);
    if (!goes_on) candidates.push_back({path.score, path.node, options.terminal_count});
  }
  return candidates;
}

Explanation Watch::conclude(const Exported& exported, const ExportOptions& options) const {
  Explanation explanation = explanation_;
  if (explanation.verdict == Verdict::kPruned) return explanation;
  switch (exported.watched) {
    case ItemFate::kTaken: {
      const auto& items = exported.item_ordinals;
      const auto found = std::find(items.begin(), items.end(), item_);
      explanation.rank = static_cast<uint32_t>(found - items.begin()) + 1;
      explanation.verdict = Verdict::kReturned;
      break;
    }
    case ItemFate::kBehindSidCap: explanation.verdict = Verdict::kBehindSidCap; break;
    case ItemFate::kBehindDiversityCap:
      explanation.verdict = Verdict::kBehindDiversityCap;
      explanation.attribute = options.policy->request().diversity[exported.watched_cap].attribute;
      break;
    case ItemFate::kNotMet: explanation.verdict = Verdict::kBehindResults; break;
  }
  return explanation;
}

}  // namespace tessera::beam
