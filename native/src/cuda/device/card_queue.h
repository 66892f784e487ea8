// A queue of a card: one stream, and the kernels of fat binaries by name.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/device/card_library.h"
#include "cuda/device/queue.h"

namespace tessera::device::cuda {

class CardQueue final : public Queue {
 public:
  /// Errors: ENGINE_UNAVAILABLE, ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardQueue>> open(std::unique_ptr<Card> card,
                                                 std::shared_ptr<const CardLibrary> library);
  /// Copies alone, without kernels.
  static Result<std::unique_ptr<CardQueue>> open_copies(std::unique_ptr<Card> card);
  ~CardQueue() override;

  Card& card() { return *card_; }
  std::string numbers() const override;
  Stream stream() const { return stream_; }

  Result<void*> allocate(uint64_t bytes) override;
  void release(void* memory) override;
  Result<uint64_t> bytes_left() const override;
  Status copy_in(void* to, const void* from, uint64_t bytes) override;
  Status copy_out(void* to, const void* from, uint64_t bytes) override;
  Status copy_to_pinned(void* to, const void* from, uint64_t bytes) override;
  Status copy_within(void* to, const void* from, uint64_t bytes) override;
  Status zero(void* at, uint64_t bytes) override;
  Status finish() override;
  Result<void*> allocate_pinned(uint64_t bytes) override;
  void release_pinned(void* memory) override;
  Status launch(const char* kernel, const LaunchShape& shape,
                std::span<void* const> arguments) override;
  Status multiply(const TesseraCardProduct& product) override;
  Status attend(const TesseraCardAttention& attention) override;
  Status begin_recording() override;
  Result<std::unique_ptr<Recording>> end_recording() override;
  Status replay(const Recording& recording) override;

 private:
  class Chain;
  explicit CardQueue(std::unique_ptr<Card> card) : card_(std::move(card)) {}
  Result<Function> find(const char* kernel);
  /// For this thread; refused where a chain is recorded.
  Status enter(const char* call);

  std::unique_ptr<Card> card_;
  std::shared_ptr<const CardLibrary> library_;  // null: copies alone
  Stream stream_ = nullptr;
  std::vector<Module> modules_;
  std::unordered_map<std::string, Function> functions_;  // found so far
  bool is_recording_ = false;
  Status refusal_;  // the first while recording
};

}  // namespace tessera::device::cuda
