// Fixed scales of the activations of a W8A8 decoder: measured in a calibration run, kept in a file,
// given at load. docs/quantisation.md has the file's format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/recipe.h"

namespace tessera::model {

inline constexpr uint64_t kMaxScalesBytes = 1u << 22;  // of the file

/// In the order of Layer::inputs(); 0 stands for a scale of each row's own.
using LayerScales = std::vector<float>;
/// No fixed scales.
std::vector<LayerScales> own_scales(const Recipe& recipe);

struct ActivationScales {
  std::string model_digest;
  double percentile = 100;  // of the rows' largest magnitudes, in (0, 100]
  uint64_t rows = 0;        // that were measured
  std::vector<LayerScales> layers;

  /// Errors: MODEL_NOT_FOUND; MODEL_INVALID naming the field for what is malformed, for scales that
  /// are missing or not positive, and for a file of another model.
  static Result<ActivationScales> load(const std::string& path, const std::string& model_digest,
                                       const Recipe& recipe);
  /// The file's content.
  std::string text(const Recipe& recipe) const;
};

/// The largest magnitude of every row that enters a linear layer, transformed as it is when it is
/// quantised (ops/quantise.h). One pass at a time.
class ActivationRanges {
 public:
  explicit ActivationRanges(const Recipe& recipe);

  /// `input`: among Layer::inputs().
  void add(uint32_t layer, uint32_t input, const float* x, uint64_t rows, uint64_t n);
  uint64_t rows() const;
  /// The scale that takes the given percentile of the rows' magnitudes to 127.
  /// REQUIRES: rows() > 0; percentile in (0, 100].
  std::vector<LayerScales> scales(double percentile) const;

 private:
  std::vector<std::vector<std::vector<float>>> layers_;  // [layer][input][row]
};

}  // namespace tessera::model
