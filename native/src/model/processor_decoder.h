// The decoder on the processor: weights packed into panels once, passes over a device's threads,
// each done when its call returns. Memory of keys and values is the process's own.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "attention/block.h"
#include "model/decoder.h"
#include "model/workspace.h"

namespace tessera::model {

class ProcessorDecoder final : public Decoder {
 public:
  /// Loads a Hugging Face folder (config.json, model.safetensors or sharded with its index).
  /// Weights are looked through for NaN and infinity and packed once. The device must outlive the
  /// decoder.
  /// Errors: MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT naming file and tensor;
  /// ENGINE_OVERLOADED when memory for the weights does not suffice.
  /// `scales_path` names a file of fixed activation scales for kW8A8, or is empty. Errors:
  /// REQUEST_INVALID for one with another type, and those of ActivationScales::load.
  /// The model is of one of the families `known`, which outlive the decoder.
  /// The head computes the tokens `head_tokens` and their neighbours alone (HeadVocabulary); none:
  /// the whole vocabulary. Errors: REQUEST_INVALID for one that is not in the vocabulary.
  static Result<std::shared_ptr<ProcessorDecoder>> load(const std::string& folder, ComputeType type,
                                                        device::Device& device,
                                                        const std::string& scales_path = {},
                                                        std::span<const Family> known = families(),
                                                        std::span<const int32_t> head_tokens = {});
  ~ProcessorDecoder() override;

  const Recipe& recipe() const override;
  ComputeType compute_type() const override;
  const HeadVocabulary& head_vocabulary() const override;
  std::string device_name() const override;
  std::string digest() const override;
  const std::string& numbers() const override;
  uint64_t weight_bytes() const override;

  device::MemorySpace& memory() const override;
  attention::BlockLayout block_layout() const override;
  Status clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const override;

  Result<std::unique_ptr<PassMemory>> make_memory(uint32_t max_rows, uint32_t max_context,
                                                  uint32_t max_adapters) const override;
  /// The memory of passes as its own class, which make_memory() hides; null when memory does not
  /// suffice.
  std::unique_ptr<Workspace> make_workspace(uint32_t max_rows, uint32_t max_context,
                                            uint32_t max_adapters = 0) const;

  void embedding_row(uint32_t token, float* row) const override;
  void head_row(uint32_t token, float* row) const override;
  void visit_in_file(uint32_t layer, const WeightSlot& slot,
                     const std::function<void(const tensor::TensorView&)>& use) const override;
  Result<std::unique_ptr<HeldAdapter>> hold(const Adapter&) const override {
    return std::unique_ptr<HeldAdapter>();
  }

  Result<WeightsUpdate> prepare_update(const std::string& folder) const override;
  Status update(WeightsUpdate update) override;
  bool is_intact() const override;

  Status forward(const ForwardBatch& batch, PassMemory& memory) const override;
  Result<bool> is_finite(PassMemory& memory, uint32_t first, uint32_t count) const override;
  Result<std::span<const float>> hidden(PassMemory& memory, uint32_t first,
                                        uint32_t count) const override;
  Status head(std::span<const HeadRequest> requests, PassMemory& memory) const override;

 private:
  struct Impl;
  /// Pass of a model with an encoder and a decoder (model/stacks.h).
  void forward_stacks(const ForwardBatch& batch, Workspace& workspace) const;
  explicit ProcessorDecoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::model
