// A card that stands in for one: the processor's kernels behind the face of a device whose memory
// the engine must not touch, whose passes are under way when their calls return, and which can run
// out of memory and fail. Test only.
//
// Memory of keys and values is mapped without access but while the stand-in itself works on it: a
// stray read of the engine's ends the program. An adapter is served only while it is held.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/parts.h"
#include "kv/memory.h"
#include "model/processor_decoder.h"

namespace tessera::engine {

/// Memory that only its device touches. Thread-safety: any thread.
class ClosedMemory final : public device::MemorySpace {
 public:
  /// Memory is accessible while one of these lives.
  class Opened {
   public:
    explicit Opened(ClosedMemory& memory) : memory_(memory) { memory_.open(); }
    ~Opened() { memory_.close(); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    ClosedMemory& memory_;
  };

  uint64_t available_bytes() const override { return left_; }
  Result<device::Buffer> allocate(uint64_t bytes) override;
  Status zero(device::Buffer& buffer) override;
  /// Memory that can still be allocated.
  void leave(uint64_t bytes) { left_ = bytes; }
  /// Is called before each allocation, which fails with what it returns.
  std::function<Status()> before_allocation;

 private:
  struct Region {
    void* data = nullptr;
    uint64_t size = 0;  // whole pages
  };
  void open();
  void close();
  void release(void* data, uint64_t bytes) override;

  Mutex mutex_;
  std::vector<Region> regions_ GUARDED_BY(mutex_);
  uint32_t opened_ GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> left_{uint64_t{8} << 30};
};

class StandInCard final : public model::Decoder {
 public:
  static Result<std::shared_ptr<StandInCard>> load(const EngineOptions& options);
  ~StandInCard() override;

  const model::Recipe& recipe() const override { return inner_->recipe(); }
  model::ComputeType compute_type() const override { return inner_->compute_type(); }
  const model::HeadVocabulary& head_vocabulary() const override {
    return inner_->head_vocabulary();
  }
  std::string device_name() const override { return "stand-in"; }
  std::string digest() const override { return inner_->digest(); }
  const std::string& numbers() const override { return numbers_; }
  uint64_t weight_bytes() const override { return inner_->weight_bytes(); }
  ClosedMemory& memory() const override { return memory_; }
  attention::BlockLayout block_layout() const override { return inner_->block_layout(); }
  Status clear(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const override;
  Result<std::unique_ptr<model::PassMemory>> make_memory(uint32_t max_rows, uint32_t max_context,
                                                         uint32_t max_adapters) const override;
  void embedding_row(uint32_t token, float* row) const override {
    inner_->embedding_row(token, row);
  }
  void head_row(uint32_t token, float* row) const override { inner_->head_row(token, row); }
  void visit_in_file(uint32_t layer, const model::WeightSlot& slot,
                     const std::function<void(const tensor::TensorView&)>& use) const override {
    inner_->visit_in_file(layer, slot, use);
  }
  Result<std::unique_ptr<model::HeldAdapter>> hold(const model::Adapter& adapter) const override;
  Result<model::WeightsUpdate> prepare_update(const std::string& folder) const override {
    return inner_->prepare_update(folder);
  }
  Status update(model::WeightsUpdate update) override { return inner_->update(std::move(update)); }
  bool is_intact() const override { return inner_->is_intact(); }
  Status forward(const model::ForwardBatch& batch, model::PassMemory& memory) const override;
  Result<bool> is_finite(model::PassMemory& memory, uint32_t first, uint32_t count) const override;
  Result<std::span<const float>> hidden(model::PassMemory& memory, uint32_t first,
                                        uint32_t count) const override;
  Status head(std::span<const model::HeadRequest> requests,
              model::PassMemory& memory) const override;

  /// Passes that still run before the card fails, for good.
  void fail_after(uint32_t passes) { passes_left_ = passes; }
  /// The next pass finds no memory.
  void lack_memory_once() { lacks_memory_ = true; }

 private:
  class Memory;
  struct Job;
  class Held;
  StandInCard(std::unique_ptr<device::Device> device,
              std::shared_ptr<model::ProcessorDecoder> inner);
  /// Passes, on the card's own thread.
  void run();
  /// Waits for the pass under way. Errors: ENGINE_UNAVAILABLE once the card has failed.
  Status finish() const;

  mutable ClosedMemory memory_;
  const std::unique_ptr<device::Device> device_;
  const std::shared_ptr<model::ProcessorDecoder> inner_;
  const std::string numbers_;
  mutable std::atomic<uint32_t> passes_left_{UINT32_MAX};
  mutable std::atomic<bool> lacks_memory_{false};

  mutable Mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::unique_ptr<Job> job_ GUARDED_BY(mutex_);
  mutable std::set<const model::Adapter*> held_ GUARDED_BY(mutex_);
  bool is_ending_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// The pool's device tier in a stand-in's memory.
Result<std::unique_ptr<kv::BlockMemory>> stand_in_blocks(ClosedMemory& memory, uint32_t slot_count,
                                                         uint64_t block_bytes);

/// An engine's parts on a stand-in, which `opened` (null: nobody) is told of.
Result<EngineParts> open_on_stand_in(EngineOptions& options, StandInCard** opened = nullptr);

}  // namespace tessera::engine
