// What passes of this model cost on this machine: a few are run before the first request.
#pragma once

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "engine/elapsed.h"
#include "engine/options.h"
#include "model/decoder.h"
#include "model/workspace.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

/// Fits the cost of a pass to some that it runs on zeros' keys and values: a round of several sizes
/// that ends when it has taken kCalibrationUs (one row and many are run in any case), then the same
/// round again. Of equal passes the shortest counts, so that what disturbs one is not in the fit.
/// All zero when there is no memory to run them in.
scheduler::PassCost calibrate(const EngineOptions& options, const model::Decoder& decoder,
                              device::Device& device, model::Workspace& workspace);

inline constexpr double kCalibrationUs = 250'000;
/// Rows of the passes of a round, in their order: the first two are always run.
inline constexpr uint32_t kCalibrationRows[] = {1, 64, 16, 4, 256, 1024};
/// Rounds at least, and at most where they take less than kCalibrationUs together.
inline constexpr uint32_t kCalibrationRounds = 2, kCalibrationRoundsMax = 5;
inline constexpr uint32_t kCalibrationHeadRows = 4;
/// Positions before the rows of a pass, where the model has them.
inline constexpr uint32_t kCalibrationContext = 256;

/// Runs rounds of `run(rows, samples)`, which appends the samples of one size, always as many, and
/// returns a status; the shortest of each. Stops at the first status that is not ok.
template <typename Run>
Status calibration_rounds(const Run& run, std::vector<scheduler::PassSample>& shortest) {
  const Clock::time_point start = Clock::now();
  size_t sizes = 0;
  for (const uint32_t rows : kCalibrationRows) {
    if (sizes >= 2 && microseconds_since(start) > kCalibrationUs) break;
    TESSERA_RETURN_IF_ERROR(run(rows, shortest));
    ++sizes;
  }
  for (uint32_t round = 1; round < kCalibrationRoundsMax; ++round) {
    if (round >= kCalibrationRounds && microseconds_since(start) > kCalibrationUs) break;
    std::vector<scheduler::PassSample> again;
    for (size_t i = 0; i < sizes; ++i) TESSERA_RETURN_IF_ERROR(run(kCalibrationRows[i], again));
    for (size_t i = 0; i < shortest.size(); ++i)
      shortest[i].us = std::min(shortest[i].us, again[i].us);
  }
  return Status::ok();
}

/// Multiplications per unit of a pass's work.
scheduler::UnitWeights unit_weights(const model::ModelConfig& config);

}  // namespace tessera::engine
