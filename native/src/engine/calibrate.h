// Measures passes of this model on this machine: a few are run before the first request.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "engine/options.h"
#include "model/decoder.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

/// Fits the cost of a pass to some that it runs on zeros' keys and values: a round of several sizes
/// that ends when it has taken kCalibrationUs (one row and many are run in any case), then the same
/// round again. Of equal passes the shortest counts, so that what disturbs one is not in the fit.
/// All zero when there is no memory to run them in. Errors: what the device says.
Result<scheduler::PassCost> calibrate(const EngineOptions& options, const model::Decoder& decoder,
                                      model::PassMemory& memory);

inline constexpr double kCalibrationUs = 250'000;
/// Rows of the passes of a round, in their order: the first two are always run.
inline constexpr uint32_t kCalibrationRows[] = {1, 64, 16, 4, 256, 1024};
/// Rounds at least, and at most where they take less than kCalibrationUs together.
inline constexpr uint32_t kCalibrationRounds = 2, kCalibrationRoundsMax = 5;
/// Multiplications that take as long as reading a weight from memory, about.
inline constexpr double kReadMultiplications = 16;
/// Positions before the rows of a pass, where the model has them.
inline constexpr uint32_t kCalibrationContext = 256;

/// Multiplications per unit of a pass's work.
scheduler::UnitWeights unit_weights(const model::ModelConfig& config);

}  // namespace tessera::engine
