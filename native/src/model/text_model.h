// From token ids of texts to their vectors: an encoder and the head that its folder says. Immutable
// after load; shared by all threads, each with a workspace of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/encoder.h"
#include "model/text_head.h"

namespace tessera::model {

class TextWorkspace {
 public:
  /// Measures inputs as Workspace::measure.
  void measure(InputRanges* ranges) { encoder_->measure(ranges); }

 private:
  friend class TextModel;
  std::unique_ptr<EncoderWorkspace> encoder_;
  TextHead::Scratch head_;
  std::vector<uint32_t> counts_;
};

class TextModel {
 public:
  /// A Hugging Face or SentenceTransformers folder. Errors: those of Encoder::load,
  /// TextHeadConfig::load and TextHead::load.
  static Result<TextModel> load(const std::string& folder, ComputeType type,
                                device::Device& device);

  const Encoder& encoder() const { return *encoder_; }
  const TextHead& head() const { return head_; }
  /// Numbers of a text's vector.
  uint32_t dimension() const { return head_.dimension(); }
  /// Digest of encoder and head, 64 hex digits, and of what beside them decides bits.
  std::string digest() const { return encoder_->digest() + head_.digest(); }

  /// Errors: ENGINE_OVERLOADED.
  Result<std::unique_ptr<TextWorkspace>> make_workspace(uint32_t max_rows,
                                                        uint32_t max_texts) const;

  /// vectors is [texts][dimension()]. REQUIRES: as Encoder::forward.
  /// Errors: MODEL_NOT_FINITE where a vector has numbers that are not finite.
  Status embed(std::span<const EncoderText> texts, TextWorkspace& workspace, float* vectors) const;

 private:
  TextModel(std::shared_ptr<const Encoder> encoder, TextHead head, device::Device& device)
      : encoder_(std::move(encoder)), head_(std::move(head)), device_(&device) {}

  std::shared_ptr<const Encoder> encoder_;
  TextHead head_;
  device::Device* device_;
};

}  // namespace tessera::model
