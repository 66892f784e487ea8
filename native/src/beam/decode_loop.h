// Test only: the loops of an engine without an engine: ask a model for logits, select, repeat until
// nothing runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "beam/brute_force_oracle.h"
#include "beam/follow.h"
#include "beam/lazy_search.h"
#include "beam/select.h"
#include "catalogue/reach.h"

namespace tessera::beam {

struct DecodeOptions {
  std::vector<uint32_t> widths;  // per step; the last one serves all later steps
  uint32_t terminal_count = 0;
  ScoreNorm norm = ScoreNorm::kFull;
  const Route* route = nullptr;  // followed in place of the best candidates
  /// Told of each selection.
  std::function<void(const Beams&, const StepLogits&, const SelectOptions&, const Step&)> observe =
      nullptr;
};

/// All finished paths in the order in which they finished.
std::vector<Finished> decode_loop(const catalogue::Reach& reach, const OracleModel& model,
                                  const DecodeOptions& options, Scratch& scratch);

/// A LazySearch that has ended, with `rows_max` rows a pass. `rule` may be null.
LazySearch lazy_loop(const catalogue::Reach& reach, const OracleModel& model,
                     const LazyOptions& options, uint32_t rows_max, const ThresholdRule* rule,
                     Scratch& scratch);

}  // namespace tessera::beam
