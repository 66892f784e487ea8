// What passes of this model cost on this machine: a few are run before the first request.
#pragma once

#include "engine/options.h"
#include "model/decoder.h"
#include "model/workspace.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

/// Fits the cost of a pass to some that it runs on zeros' keys and values, small ones first, and
/// stops when they have taken kCalibrationUs (the first two are run in any case). All zero when
/// there is no memory to run them in.
scheduler::PassCost calibrate(const EngineOptions& options, const model::Decoder& decoder,
                              device::Device& device, model::Workspace& workspace);

inline constexpr double kCalibrationUs = 250'000;
inline constexpr uint32_t kCalibrationHeadRows = 4;
/// Positions before the rows of a pass, where the model has them.
inline constexpr uint32_t kCalibrationContext = 256;

/// Multiplications per unit of a pass's work.
scheduler::UnitWeights unit_weights(const model::ModelConfig& config);

}  // namespace tessera::engine
