// Static scales of what enters the products of an encoder's layers: of each input, one scale and
// one offset for each value of a row after the Hadamard transform (ops/quantise.h). Measured over
// texts, kept in a file beside the checkpoint, read at load (docs/operate/quantisation.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/recipe.h"
#include "ops/quantise.h"

namespace tessera::model {

/// In the folder of the encoder's config.json.
inline constexpr std::string_view kStaticScalesFile = "activation_scales.safetensors";
inline constexpr uint64_t kMaxStaticScalesBytes = 256u << 20;  // of the file

/// Scales of one input: a number of each value, those that pad its last tile included.
struct StaticInput {
  std::vector<float> scales;  // a value is scale * its INT8 value + offset
  std::vector<float> offsets;
  std::vector<float> factors;  // 1 / scale, as rows are quantised
  std::vector<float> shifts;   // -offset / scale, likewise

  ops::InputScales input_scales() const { return {scales, offsets}; }
};

/// XXH3-128 as 32 hex digits.
std::string content_digest(std::string_view content);

class StaticScales {
 public:
  /// Of the encoder's folder. Errors: MODEL_INVALID that names the command where there is no file,
  /// and the tensor that is missing, unknown, misshapen, or has a number that is no scale;
  /// MODEL_CORRUPT for a broken file.
  static Result<StaticScales> load(const std::string& folder, const Recipe& recipe);
  /// Errors: MODEL_INVALID where the scales are of other weights.
  Status check_model(const std::string& model_digest) const;

  const StaticInput& input(uint32_t layer, uint32_t number) const { return layers_[layer][number]; }
  /// Digest of the scales, 32 hex digits.
  const std::string& digest() const { return digest_; }

 private:
  std::string path_;
  std::string model_digest_;
  std::string digest_;
  std::vector<std::vector<StaticInput>> layers_;  // in the order of Layer::inputs()
};

/// The least and the largest of every transformed value of the rows that enter linear layers. One
/// pass at a time.
class InputRanges {
 public:
  explicit InputRanges(const Recipe& recipe) : layers_(recipe.layers().size()) {}

  void add(uint32_t layer, uint32_t input, const float* x, uint64_t rows, uint64_t n);
  uint64_t rows() const { return rows_; }
  /// The content of the file. A value's offset is the middle of its range; its scale is
  /// sqrt(r * R) / 127, with r half of its range and R the largest of those of its input, so that
  /// inputs and weights share what eight bits cost. REQUIRES: rows() > 0.
  std::string file(const Recipe& recipe, const std::string& model_digest) const;

 private:
  struct Range {
    std::vector<float> least, largest;
  };
  std::vector<std::vector<Range>> layers_;
  uint64_t rows_ = 0;  // of the first input
};

}  // namespace tessera::model
