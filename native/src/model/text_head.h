// From the rows of a text to its vector: pooling, dense stages, norms, in F32 throughout. Immutable
// after load; shared by all threads. A text's vector is the same bits alone and in any company.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "model/text_head_config.h"
#include "ops/packed_matrix.h"

namespace tessera::model {

class TextHead {
 public:
  /// Tensors of the stages, which are F32, BF16 or F16. Errors: MODEL_NOT_FOUND, MODEL_CORRUPT,
  /// MODEL_INVALID naming the tensor; ENGINE_OVERLOADED.
  static Result<TextHead> load(TextHeadConfig config, uint32_t hidden_size, device::Device& device);

  const TextHeadConfig& config() const { return config_; }
  /// Numbers of a text's vector.
  uint32_t dimension() const { return dimension_; }
  /// Vectors have length 1.
  bool is_normalised() const {
    return !config_.stages.empty() && config_.stages.back().kind == HeadStage::Kind::kNormalise;
  }
  /// XXH3-128 of the configuration and the tensors, as 32 hex digits.
  const std::string& digest() const { return digest_; }

  /// Buffers that apply() writes. One call at a time.
  struct Scratch {
    device::Buffer operand;
    std::vector<float> from, to;
  };
  /// Errors: ENGINE_OVERLOADED.
  Result<Scratch> make_scratch(uint32_t max_texts, device::Device& device) const;

  /// vectors is [counts.size()][dimension()]; rows holds counts[i] > 0 rows of each text, one text
  /// behind the other. REQUIRES: no more texts than the scratch is for.
  void apply(device::Device& device, const float* rows, std::span<const uint32_t> counts,
             Scratch& scratch, float* vectors) const;

 private:
  struct Stage {
    HeadStage config;
    ops::PackedMatrix matrix;         // of a dense stage
    std::vector<float> weight, bias;  // of a layer norm; bias of both
    device::Buffer memory;            // of the matrix
  };
  static Status load_stage(const HeadStage& config, uint32_t inputs, device::Device& device,
                           std::string& content, Stage& stage);
  void pool(device::Device& device, const float* rows, std::span<const uint32_t> counts,
            float* pooled) const;
  void multiply(device::Device& device, const Stage& stage, uint64_t texts, Scratch& scratch) const;

  TextHeadConfig config_;
  uint32_t hidden_size_ = 0, dimension_ = 0, widest_ = 0;
  std::string digest_;
  std::vector<Stage> stages_;
};

}  // namespace tessera::model
