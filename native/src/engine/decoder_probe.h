// Passes for calibrate.h over one made-up prompt, whose blocks are zeros to begin with. Each is
// done when its call returns. Errors of all calls: what the device says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "model/decoder.h"

namespace tessera::engine {

class DecoderProbe {
 public:
  /// Rows that head() takes at most.
  static constexpr uint32_t kHeadRowsMax = 16;

  /// Both outlive the probe.
  DecoderProbe(const model::Decoder& decoder, model::PassMemory& memory)
      : decoder_(decoder), memory_(memory) {}

  /// Tokens that head() computes.
  uint32_t head_tokens() const {
    return decoder_.head_vocabulary().size(decoder_.config().vocab_size);
  }
  /// Blocks of zeros for the prompt. Errors: ENGINE_OVERLOADED.
  Status begin(uint32_t block_count);
  /// Rows of the prompt from a position on. REQUIRES: begin() with blocks for them.
  Status forward(std::span<const int32_t> tokens, uint32_t position);
  /// Experts that the last forward() touched in all layers; 0 where the device does not count them.
  uint64_t experts_touched() const { return memory_.expert_use().touched; }
  /// All logits that the head has for the first rows of the last pass, or their log-sum-exp.
  Status head(uint32_t rows);

 private:
  const model::Decoder& decoder_;
  model::PassMemory& memory_;
  device::Buffer block_memory_;
  std::vector<void*> blocks_;
  device::Buffer state_memory_;
  attention::DeltaState state_;
  attention::PromptKv prompt_;
  std::vector<int32_t> head_tokens_;  // where the head is cut: those that it has
  std::vector<float> logits_;         // of them
};

}  // namespace tessera::engine
