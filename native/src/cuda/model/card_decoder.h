// The decoder on a card: passes in BF16 or W8A8 as kernels on a queue. A pass is one copy of its
// plan and a chain of launches; the host waits where it reads a result.
//
// Results are bit-identical alone and in any batch. They are not those of the processor, whose
// products round at other places: keys and values of one are never read by the other.
//
// Thread-safety: that of the queue, one thread at a time for passes and memory(); hold() and the
// end of what it gives any thread. Memories of passes and held adapters may outlive it, buffers
// not.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/mutex.h"
#include "cuda/device/queue.h"
#include "cuda/model/card_adapters.h"
#include "cuda/model/card_pass.h"
#include "cuda/model/card_space.h"
#include "cuda/model/card_weights.h"
#include "model/decoder.h"

namespace tessera::model::cuda {

class CardDecoder final : public Decoder {
 public:
  /// Loads a Hugging Face folder as ProcessorDecoder does, of the whole head whatever
  /// `head_tokens`. Weights are looked through on `processor`, which outlives the decoder; `passes`
  /// has the kernels, `copies` is for adapters, beside passes, and needs none. Errors: those of
  /// ProcessorDecoder::load; MODEL_INVALID naming the field of a model that has no kernels;
  /// REQUEST_INVALID for another type than kBf16 and kW8A8; what the queue says.
  static Result<std::shared_ptr<CardDecoder>> load(const std::string& folder, ComputeType type,
                                                   std::span<const int32_t> head_tokens,
                                                   device::Device& processor,
                                                   std::unique_ptr<device::cuda::Queue> passes,
                                                   std::unique_ptr<device::cuda::Queue> copies,
                                                   std::string device_name);
  ~CardDecoder() override;

  const Recipe& recipe() const override { return recipe_; }
  ComputeType compute_type() const override { return type_; }
  const HeadVocabulary& head_vocabulary() const override { return vocabulary_; }
  std::string device_name() const override { return device_name_; }
  std::string digest() const override;
  const std::string& numbers() const override { return numbers_; }
  uint64_t weight_bytes() const override { return weights_.bytes(); }

  device::MemorySpace& memory() const override { return space_; }
  attention::BlockLayout block_layout() const override;
  Status clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const override;

  Result<std::unique_ptr<PassMemory>> make_memory(uint32_t max_rows, uint32_t max_context,
                                                  uint32_t max_adapters) const override;

  void embedding_row(uint32_t token, float* row) const override;
  void head_row(uint32_t token, float* row) const override;
  void visit_in_file(uint32_t layer, const WeightSlot& slot,
                     const std::function<void(const tensor::TensorView&)>& use) const override;
  Result<std::unique_ptr<HeldAdapter>> hold(const Adapter& adapter) const override;

  Result<WeightsUpdate> prepare_update(const std::string& folder) const override;
  Status update(WeightsUpdate update) override;
  bool is_intact() const override { return is_intact_; }

  Status forward(const ForwardBatch& batch, PassMemory& memory) const override;
  Result<bool> is_finite(PassMemory& memory, uint32_t first, uint32_t count) const override;
  Result<std::span<const float>> hidden(PassMemory& memory, uint32_t first,
                                        uint32_t count) const override;
  Status head(std::span<const HeadRequest> requests, PassMemory& memory) const override;

 private:
  CardDecoder(Recipe recipe, ComputeType type, HeadVocabulary vocabulary, device::Device& processor,
              std::unique_ptr<device::cuda::Queue> passes,
              std::unique_ptr<device::cuda::Queue> copies, std::string device_name);
  Status fill(const std::string& folder);
  void table_row(bool is_head, uint32_t token, float* row) const;

  const Recipe recipe_;
  const ComputeType type_;
  const HeadVocabulary vocabulary_;
  device::Device& processor_;
  const std::shared_ptr<device::cuda::Queue> queue_;
  const std::shared_ptr<CardAdapters> adapters_;
  const std::string device_name_;
  const std::string numbers_;
  mutable CardSpace space_;
  CardWeights weights_;
  WeightsUpdate files_;  // that the weights are of
  bool is_intact_ = true;
  mutable Mutex digest_mutex_;
  std::string digest_ GUARDED_BY(digest_mutex_);
};

}  // namespace tessera::model::cuda
