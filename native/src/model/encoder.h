// A model that makes rows of numbers from whole texts: an encoder, or a decoder without its head.
// Texts of a pass lie one behind the other, without padding; keys and values live as long as a
// layer, in memory of the pass. Immutable after load; shared by all threads.
//
// A text's rows are the same bits alone and in any company (DESIGN section 6.6).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "device/device.h"
#include "model/compute_type.h"
#include "model/recipe.h"
#include "model/static_scales.h"
#include "model/weights.h"
#include "model/workspace.h"

namespace tessera::model {

struct EncoderText {
  std::span<const int32_t> tokens;  // 1..max_tokens(), each in [0, vocab_size)
  uint32_t second_from = ~0u;       // rows from here on are of the second segment, where one is
};

/// Buffers that a pass writes. One pass at a time.
class EncoderWorkspace {
 public:
  uint32_t max_rows() const { return rows_->max_rows(); }
  uint32_t max_texts() const { return static_cast<uint32_t>(chains_.size()); }
  /// Measures inputs as Workspace::measure.
  void measure(InputRanges* ranges) { rows_->measure(ranges); }

 private:
  friend class Encoder;
  std::unique_ptr<Workspace> rows_;
  device::Buffer kv_;  // blocks of one layer
  std::vector<void*> blocks_;
  std::vector<attention::PromptKv> chains_;  // of each text
  std::vector<attention::RowGroup> groups_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> segments_;
};

/// Checks that a model of this folder may have static scales. Errors: MODEL_INVALID for a decoder,
/// and for rows whose products do not fit 32 bits.
Status check_static(const std::string& folder, const Recipe& recipe);

class Encoder final {
 public:
  /// Errors: those of ProcessorDecoder::load, for models of the families `known`; those of
  /// StaticScales::load for kW8A8Static, and MODEL_INVALID for a decoder in that type.
  static Result<std::shared_ptr<Encoder>> load(const std::string& folder, ComputeType type,
                                               device::Device& device,
                                               std::span<const Family> known = text_families());
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// Folder of its config.json.
  const std::string& folder() const { return folder_; }
  ComputeType compute_type() const { return type_; }
  const ModelConfig& config() const { return recipe_.config(); }
  const Recipe& recipe() const { return recipe_; }
  /// Content digest (32 hex digits) of configuration and weights, and of static scales where there
  /// are any; and what beside them decides bits.
  const std::string& digest() const { return digest_; }
  const std::string& numbers() const { return numbers_; }
  uint64_t weight_bytes() const { return weights_.packed_bytes(); }

  /// For passes of up to max_rows rows of up to max_texts texts; nothing is allocated later.
  /// Errors: ENGINE_OVERLOADED.
  Result<std::unique_ptr<EncoderWorkspace>> make_workspace(uint32_t max_rows,
                                                           uint32_t max_texts) const;

  /// The last layer's rows of all texts, one text behind the other: [rows][hidden_size], in memory
  /// of the workspace until the next pass. REQUIRES: texts are as EncoderText says; no more than
  /// the workspace's rows and texts.
  const float* forward(std::span<const EncoderText> texts, EncoderWorkspace& workspace) const;

 private:
  Encoder(std::string folder, Recipe recipe, ComputeType type, device::Device& device,
          Weights weights, std::optional<StaticScales> static_scales);
  uint64_t place(std::span<const EncoderText> texts, EncoderWorkspace& workspace) const;

  std::string folder_;
  Recipe recipe_;
  ComputeType type_;
  device::Device& device_;
  Weights weights_;
  std::vector<LayerScales> scales_;
  std::optional<StaticScales> static_scales_;
  std::string digest_;
  std::string numbers_;
};

}  // namespace tessera::model
