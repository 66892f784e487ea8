// Passes for calibrate.h on the processor.
#pragma once

#include <vector>

#include "attention/kv_view.h"
#include "engine/calibrate.h"
#include "model/decoder.h"
#include "model/workspace.h"

namespace tessera::engine {

class ProcessorProbe final : public PassProbe {
 public:
  /// All outlive the probe.
  ProcessorProbe(const model::Decoder& decoder, device::Device& device, model::Workspace& workspace)
      : decoder_(decoder), device_(device), workspace_(workspace) {}

  const model::ModelConfig& config() const override { return decoder_.config(); }
  uint32_t head_rows_max() const override { return kCalibrationHeadRows; }
  uint32_t head_tokens() const override {
    return decoder_.head_vocabulary().size(decoder_.config().vocab_size);
  }
  Status begin(uint32_t block_count) override;
  Status forward(std::span<const int32_t> tokens, uint32_t position) override;
  uint64_t experts_touched() const override { return workspace_.expert_use().touched; }
  Status head(uint32_t rows) override;

 private:
  const model::Decoder& decoder_;
  device::Device& device_;
  model::Workspace& workspace_;
  device::Buffer memory_;
  std::vector<void*> blocks_;
  device::Buffer state_memory_;
  attention::DeltaState state_;
  attention::PromptKv prompt_;
  std::vector<int32_t> head_tokens_;  // where the head is cut: those that it has
  std::vector<float> logits_;         // of them
};

}  // namespace tessera::engine
