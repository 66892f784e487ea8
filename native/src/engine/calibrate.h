// Measures passes of this model on this machine: a few are run before the first request.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "engine/options.h"
#include "model/model_config.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

/// Passes over one made-up prompt on a device, each done when its call returns. Errors of all
/// calls: what the device says.
class PassProbe {
 public:
  virtual ~PassProbe() = default;

  virtual const model::ModelConfig& config() const = 0;
  /// Rows that head() takes at most.
  virtual uint32_t head_rows_max() const = 0;
  /// Tokens that head() computes.
  virtual uint32_t head_tokens() const { return config().vocab_size; }
  /// Blocks of zeros for the prompt. Errors: ENGINE_OVERLOADED.
  virtual Status begin(uint32_t block_count) = 0;
  /// Rows of the prompt from a position on. REQUIRES: begin() with blocks for them.
  virtual Status forward(std::span<const int32_t> tokens, uint32_t position) = 0;
  /// Experts that the last forward() touched in all layers; 0 where the device does not count them.
  virtual uint64_t experts_touched() const { return 0; }
  /// All logits that the head has for the first rows of the last pass, or their log-sum-exp.
  virtual Status head(uint32_t rows) = 0;
};

/// Fits the cost of a pass to some that it runs on zeros' keys and values: a round of several sizes
/// that ends when it has taken kCalibrationUs (one row and many are run in any case), then the same
/// round again. Of equal passes the shortest counts, so that what disturbs one is not in the fit.
/// All zero when there is no memory to run them in. Errors: those of the probe.
Result<scheduler::PassCost> calibrate(const EngineOptions& options, PassProbe&& probe);

inline constexpr double kCalibrationUs = 250'000;
/// Rows of the passes of a round, in their order: the first two are always run.
inline constexpr uint32_t kCalibrationRows[] = {1, 64, 16, 4, 256, 1024};
/// Rounds at least, and at most where they take less than kCalibrationUs together.
inline constexpr uint32_t kCalibrationRounds = 2, kCalibrationRoundsMax = 5;
inline constexpr uint32_t kCalibrationHeadRows = 16;
/// Multiplications that take as long as reading a weight from memory, about.
inline constexpr double kReadMultiplications = 16;
/// Positions before the rows of a pass, where the model has them.
inline constexpr uint32_t kCalibrationContext = 256;

/// Multiplications per unit of a pass's work.
scheduler::UnitWeights unit_weights(const model::ModelConfig& config);

}  // namespace tessera::engine
