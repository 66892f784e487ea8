// A calibration run: prompts through the decoder once, the largest magnitudes of what enters its
// linear layers measured, fixed activation scales written for the compute type w8a8
// (docs/operate/quantisation.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/activation_scales.h"

namespace tessera::engine {

struct ScaleMeasurement {
  std::string model_path;
  std::string output_path;         // of the file of scales
  uint32_t thread_count = 1;       // 1..kThreadCountMax
  uint32_t kept_per_mille = 1000;  // of the rows are represented whole, 1..1000
  std::vector<std::vector<int32_t>> prompts;
};

struct MeasuredScales {
  uint64_t rows = 0;
  std::vector<model::UnseenExpert> unseen;  // layer by layer
};

/// Blocks until the file is written. Errors: REQUEST_INVALID naming the
/// field; those of ProcessorDecoder::load; ENGINE_OVERLOADED when memory does not suffice;
/// IO_FAILED.
Result<MeasuredScales> measure_scales(const ScaleMeasurement& options);

}  // namespace tessera::engine
