// Fixed scales of the activations of a W8A8 decoder: measured in a calibration run, kept in a file,
// given at load. docs/operate/quantisation.md has the file's format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/recipe.h"

namespace tessera::model {

inline constexpr uint64_t kMaxScalesBytes = 1u << 22;  // of the file

/// In the order of Layer::inputs(), of each InputSlot::scales; 0 stands for a scale of each row's
/// own.
using LayerScales = std::vector<std::vector<float>>;
/// No fixed scales.
std::vector<LayerScales> own_scales(const Recipe& recipe);

/// An expert that no row of a calibration chose.
struct UnseenExpert {
  uint32_t layer = 0;
  uint32_t expert = 0;
  bool operator==(const UnseenExpert&) const = default;
};

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

  struct Place {
    uint32_t layer = 0;
    uint32_t input = 0;   // among Layer::inputs()
    uint32_t expert = 0;  // of an input with scales of its own for each
  };
  void add(const Place& place, const float* x, uint64_t rows, uint64_t n);
  uint64_t rows() const;
  /// The scale that takes the given percentile of the rows' magnitudes to 127; an expert's are
  /// those of its own rows. One that no row has chosen gets the largest scale of its layer's
  /// others: nothing of it is cut off that they would have kept. REQUIRES: rows() > 0; percentile
  /// in (0, 100].
  std::vector<LayerScales> scales(double percentile) const;
  std::vector<UnseenExpert> unseen() const;

 private:
  using Magnitudes = std::vector<float>;                      // of rows
  std::vector<std::vector<std::vector<Magnitudes>>> layers_;  // [layer][input][scale]
};

}  // namespace tessera::model
