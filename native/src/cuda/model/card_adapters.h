// Adapters' numbers on a card, BF16 and row-major as its kernels read them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cuda/device/queue.h"
#include "cuda/kernels/multiply_kernels.h"
#include "model/adapter.h"
#include "model/decoder.h"

namespace tessera::model::cuda {

/// The factors of one matrix.
struct CardFactors {
  uint32_t rank = 0;  // rounded up to 8, with zeros; 0: the product is the model's
  uint16_t* a = nullptr;
  uint16_t* b = nullptr;
  float* scales = nullptr;
};

struct CardAdapter {
  std::vector<std::vector<CardFactors>> layers;  // as Adapter::layers
  std::vector<int32_t> ids;                      // of replaced rows of the embedding, ascending
  uint16_t* rows = nullptr;                      // [ids][hidden]
  uint32_t* places = nullptr;                    // ops::cuda::Overlay of the head
  uint16_t* own = nullptr;
  device::cuda::Memory memory;

  ops::cuda::Overlay overlay() const { return {places, own}; }
};

/// All adapters that are held. Thread-safety: any thread; copies go through a queue of its own,
/// beside that of passes.
class CardAdapters : public std::enable_shared_from_this<CardAdapters> {
 public:
  CardAdapters(const ModelConfig& config, std::unique_ptr<device::cuda::Queue> copies)
      : hidden_(config.hidden_size), vocab_(config.vocab_size), copies_(std::move(copies)) {}

  /// Errors: ENGINE_OVERLOADED, and what the queue says.
  Result<std::unique_ptr<HeldAdapter>> hold(const Adapter& adapter);
  /// REQUIRES: it is held, and stays so while the result is read.
  const CardAdapter& find(const Adapter* adapter) const;

 private:
  class Held;
  uint64_t lay_out(const Adapter& adapter, char* base, CardAdapter& card) const;
  Status upload(const Adapter& adapter, CardAdapter& card) REQUIRES(transfer_);
  Status upload_rows(const ops::PackedMatrix& from, uint64_t stride, uint16_t* to)
      REQUIRES(transfer_);
  Status upload_embedding(const ops::ReplacedRows& replaced, uint16_t* to) REQUIRES(transfer_);
  Status upload_overlay(const ops::PanelOverlay& head, const CardAdapter& card) REQUIRES(transfer_);
  void drop(const Adapter* adapter);
  void free_dropped() REQUIRES(transfer_);

  const uint64_t hidden_;
  const uint32_t vocab_;
  Mutex transfer_;  // one at a time of the queue; before mutex_
  const std::unique_ptr<device::cuda::Queue> copies_;
  mutable Mutex mutex_;
  std::unordered_map<const Adapter*, std::unique_ptr<CardAdapter>> held_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<CardAdapter>> dropped_ GUARDED_BY(mutex_);
};

}  // namespace tessera::model::cuda
