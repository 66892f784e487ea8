// Searches by other keys than scores: their candidates, the items that make their answers full, and
// their certificate.
#include <algorithm>

#include "beam/lazy_search.h"

namespace tessera::beam {

void LazySearch::choose_keyed(uint32_t step, uint32_t first_slot, const Beams& beams,
                              const StepLogits& logits, const SelectOptions& options,
                              Scratch& scratch) {
  SelectOptions of_keys = options;
  // Beside terminal tokens, paths that go on have places of their own.
  if (options_.terminal_count > 0) of_keys.width *= 2;
  row_states_.clear();
  const bool is_prompt = computed_.empty();
  for (size_t row = 0; options_.keys.draw && row < beams.nodes.size(); ++row) {
    row_states_.push_back(drawn_[is_prompt ? 0 : computed_[first_slot + row].drawn]);
  }
  const bool shows_all = options_.shown > 0 || options_.is_eager;
  const float dropped =
      choose_by_keys(options_.keys, beams, logits, reach_, of_keys, shows_all ? kNothing : least(),
                     row_states_, scratch, incoming_, drawn_);
  // A path with a higher bound may put out one with better items: then the floor falls.
  std::optional<float>& cut = levels_[step].cut;
  if (dropped > kNothing) cut = std::max(cut.value_or(kNothing), dropped);
  for (Candidate& candidate : incoming_) candidate.parent += first_slot;
}

float LazySearch::reserve_price() const {
  const bool is_by_value = options_.keys.appraiser != nullptr && !options_.keys.draw;
  return is_by_value ? options_.keys.appraiser->floor() : kNothing;
}

float LazySearch::least() const { return std::max(floor_.value_or(kNothing), reserve_price()); }

std::vector<FoundPath> LazySearch::found_paths() const {
  std::vector<FoundPath> paths;
  for (const Level& level : levels_) {
    for (const Candidate& candidate : level.candidates) {
      if (!candidate.is_kept || !candidate.ends) continue;
      const Drawn drawn = candidate.drawn == kNoSlot ? Drawn{} : drawn_[candidate.drawn];
      paths.push_back({candidate.key, candidate.score, candidate.node, drawn});
    }
  }
  return paths;
}

std::vector<FoundItem> LazySearch::items(Exported* counts) const {
  return find_items(found_paths(), options_.keys, reach_, {options_.answer, left_out_}, counts);
}

void LazySearch::find_keyed_floor() {
  const std::vector<FoundItem> found = items(nullptr);
  const uint32_t wanted = options_.answer.result_count;
  const uint32_t certified = options_.certified_items == 0 ? wanted : options_.certified_items;
  finished_.clear();
  for (const FoundItem& item : found) finished_.push_back({item.score, item.node});
  floor_.reset();
  certified_floor_.reset();
  if (found.size() >= wanted) floor_ = found[wanted - 1].key;
  if (found.size() >= certified) certified_floor_ = found[certified - 1].key;
}

std::optional<float> LazySearch::missed() const {
  std::optional<float> most;
  const auto miss = [&](const std::optional<float>& key) {
    if (key && (!most || *key > *most)) most = key;
  };
  for (const Level& level : levels_) miss(level.cut);
  for (const std::optional<float>& open : {lost_, asked_, best_open()}) miss(open);
  return most;
}

Certificate LazySearch::keyed_certificate() const {
  const std::optional<float> most = missed();
  const float reserve = reserve_price();
  const bool is_certified =
      !most || *most < reserve || (certified_floor_ && *most < *certified_floor_);
  return {is_certified, is_certified ? kNothing : *most};
}

}  // namespace tessera::beam
