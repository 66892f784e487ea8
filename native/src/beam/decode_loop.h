// Test only: the loop of an engine without an engine: asks a model for logits, selects, repeats
// until no beam runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "beam/brute_force_oracle.h"
#include "beam/follow.h"
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

}  // namespace tessera::beam
