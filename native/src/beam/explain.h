// Why an item is in a recall or not. The catalogue's verdict needs no search; of an item that may
// be had its search tells, run again on the version and eligibility that it had. Exact, as the
// model gives the same logits again. Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "beam/export.h"
#include "beam/lazy_search.h"
#include "catalogue/eligibility.h"

namespace tessera::beam {

enum class Verdict : uint8_t {
  kReturned = 0,
  kPruned = 1,         // its path fell out of the beam
  kBehindSidCap = 2,   // its path was found, others of its SID took the places
  kBehindResults = 3,  // its path was found and ranks behind the results wanted
  kNotEligible = 4,
  kNotLive = 5,  // paused or removed
  kNotInCatalogue = 6,
  kBehindDiversityCap = 7,  // its path was found, a cap of the item policy was full
  kOpen = 8,                // no search has been run yet
  kNoValue = 9,             // the valuation excludes it
  kBelowFloor = 10,         // its value is below the valuation's floor
};

struct Explanation {
  Verdict verdict = Verdict::kOpen;
  uint32_t rank = 0;      // returned: of the item, from 1; pruned: of its candidate in that step
  uint32_t step = 0;      // pruned: in which selection, from 0
  float score = 0;        // of the path, or of the candidate that was pruned: its key
  float cut_score = 0;    // pruned: of the last candidate that was kept in its stead
  uint64_t sequence = 0;  // not live: of the change since which
  std::string clause;     // not eligible: "predicate...", a list's name or a cap's path
  std::string attribute;  // behind a diversity cap: of the cap; no value: of the term
};

/// The catalogue's own verdict: kNotInCatalogue, kNotLive, kNotEligible, or kOpen.
/// REQUIRES: check_eligibility(view, request) is ok.
Explanation judge(const catalogue::View& view, const catalogue::EligibilityRequest& request,
                  const std::string& item_id);

inline constexpr uint32_t kExplainedMax = 1u << 20;  // candidates of a step

/// The fate of the item that `options` watches in a search that has ended and given its items.
/// REQUIRES: the item is live and eligible in `reach`, that of the search, which was eager and kept
/// kExplainedMax candidates to be shown; of a path behind them rank and score are those of the
/// next.
Explanation explain(const LazySearch& search, const catalogue::Reach& reach,
                    const Exported& exported, const ExportOptions& options);

}  // namespace tessera::beam
