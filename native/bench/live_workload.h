// Predicates and changes of live_bench, over the items of catalogue_workload.h: item i has
// {"decile": mix(i) % 10, "shard": mix(i) % 10000, "bid": mix(i) % 1000, "rank": mix(i) % 10000}.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "catalogue/change.h"
#include "catalogue/eligibility.h"
#include "catalogue/test_clause.h"
#include "catalogue_workload.h"

namespace tessera {

inline constexpr uint32_t kLiveLevelSize = 256;

inline catalogue::EligibilityRequest one_text(const char* attribute, const std::string& value) {
  return {catalogue::text_clause(catalogue::ClauseKind::kIn, attribute, {value}), {}, {}, {}, {}};
}

inline catalogue::EligibilityRequest at_most(const char* attribute, uint32_t most) {
  return {catalogue::range_clause(attribute, 0, most), {}, {}, {}, {}};
}

/// As one batch must, in the order of the items.
inline void name_items_once(std::vector<catalogue::Change>& changes) {
  std::sort(
      changes.begin(), changes.end(),
      [](const catalogue::Change& a, const catalogue::Change& b) { return a.item_id < b.item_id; });
  const auto is_same = [](const catalogue::Change& a, const catalogue::Change& b) {
    return a.item_id == b.item_id;
  };
  changes.erase(std::unique(changes.begin(), changes.end(), is_same), changes.end());
}

/// Pauses, resumes and later items in turn.
inline std::vector<catalogue::Change> make_changes(uint32_t items, uint32_t first, uint32_t count) {
  std::vector<catalogue::Change> changes(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t number = first + i;
    catalogue::Change& change = changes[i];
    if (number % 2 == 0) {
      change.kind = catalogue::ChangeKind::kPause;
      change.item_id = std::to_string(mix(number) % items);
      continue;
    }
    change.item_id = "later-" + std::to_string(number);
    for (uint32_t level = 0; level < kLevels; ++level) {
      change.sid.push_back(mix(0x51ED270Bu + kLevels * number + level) & (kLiveLevelSize - 1));
    }
  }
  name_items_once(changes);
  return changes;
}

struct Named {
  const char* name;
  catalogue::EligibilityRequest (*make)();
};

inline constexpr Named kPredicates[] = {
    {"10 %, text", [] { return one_text("decile", "3"); }},
    {"0.01 %, text", [] { return one_text("shard", "77"); }},
    {"10 %, number", [] { return at_most("bid", 99); }},
    {"0.01 %, number", [] { return at_most("rank", 0); }},
};

}  // namespace tessera
