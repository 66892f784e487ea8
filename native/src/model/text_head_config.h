// How the rows of a text become its vector, read from the folder: modules.json of
// SentenceTransformers with the modules it names, or the classifier of a
// *ForSequenceClassification. Reads data only and runs no code of a checkpoint. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace tessera::model {

inline constexpr uint32_t kMaxHeadStages = 16;

/// How the rows of a text become one.
enum class Pooling : uint8_t {
  kFirst,     // cls
  kLast,      // lasttoken
  kMean,      // mean_tokens
  kMeanSqrt,  // mean_sqrt_len_tokens: the sum over the root of the count
  kMax        // max_tokens
};

/// One stage after the pooling; they run in order.
struct HeadStage {
  enum class Kind : uint8_t { kDense, kLayerNorm, kNormalise };
  enum class Activation : uint8_t { kNone, kTanh, kGelu, kRelu, kSigmoid };

  Kind kind = Kind::kNormalise;
  Activation activation = Activation::kNone;  // of a dense stage
  bool has_bias = false;
  uint32_t inputs = 0, outputs = 0;  // of a dense stage; 0: as its tensor has them
  float epsilon = 0;                 // of a layer norm
  std::string folder = {};           // of the tensors
  std::string tensors = {};          // what their names begin with; `weight` and `bias` follow
};

struct TextHeadConfig {
  std::string encoder_folder;  // of config.json and the weights
  Pooling pooling = Pooling::kMean;
  std::vector<HeadStage> stages;
  bool is_classifier = false;  // the vector is a row of logits, one for each label

  /// Every field that changes a result, as text.
  std::string canonical_text() const;

  /// The folder's modules.json; without it, or where it is one module, the classifier that
  /// `architectures` of its config.json names; without that, the last row of
  /// a decoder that generates, and the mean of the rows of any other. Errors:
  /// MODEL_NOT_FOUND; MODEL_INVALID naming file and field for a module, pooling or activation that
  /// is not computed.
  static Result<TextHeadConfig> load(const std::string& folder);
};

}  // namespace tessera::model
