// The plot of the engine on a card, one pass at a time: plan -> fork -> forward -> check -> head ->
// select, all asked for without waiting. The host plans with as many beams as there can be and
// waits where a request ends, and after kPassesAhead passes, so that deadlines, cancellations and
// new requests are not kept waiting behind passes that were asked for long ago.
//
// What goes back to the pool, or is kept in it, has been waited for: nothing that was asked for
// reads or writes it any more. Requests do not compute for each other on a card: who shares a
// prompt with one that runs finds in the pool what that one has kept, and computes the rest.
//
// Runs on the engine's thread only, but for check().
#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/card_request.h"
#include "engine/loop.h"

namespace tessera::engine::cuda {

/// Passes that the card may have before the host waits for them.
inline constexpr uint32_t kPassesAhead = 4;

class CardLoop final : public Loop {
 public:
  /// The decoder takes options.batch_rows_max rows, and options.width_max of them in its head. The
  /// queue outlives the decoder, the pool the loop. Errors: ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardLoop>> make(const EngineOptions& options,
                                                std::unique_ptr<device::cuda::Queue> queue,
                                                std::unique_ptr<model::cuda::CardDecoder> decoder,
                                                device::Device& processor, kv::Pool& pool,
                                                const scheduler::PassCost& cost,
                                                LoopCounters& counters);
  ~CardLoop() override;

  uint32_t running() const override { return static_cast<uint32_t>(running_.size()); }
  Status check(const Request& request) const override;
  Admission admit(Request& request, Clock::time_point now, Status& status) override;
  void run_pass(std::vector<Completion>& completed) override;
  Status health() const override { return health_; }

 private:
  CardLoop(const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
           std::unique_ptr<model::cuda::CardDecoder> decoder, device::Device& processor,
           kv::Pool& pool, const scheduler::PassCost& cost, LoopCounters& counters);

  RunningRequest& at(size_t index) override { return *running_[index]; }
  Completion retire(size_t index, Status status) override;

  Status allocate();
  Result<CardTarget> target_of(const Request& request, const catalogue::Reach& reach);
  Result<std::shared_ptr<CardCatalogue>> catalogue_of(
      const std::shared_ptr<const Binding>& binding);
  Status reserve(const Request& request, const CardTarget& target);
  Status ask();
  Status forward();
  Status choose();
  /// Waits for all passes that were asked for, and learns what they took.
  Status wait();
  /// Takes what a request has come to, once it has been waited for; MODEL_NOT_FINITE where a row of
  /// it was not.
  Status conclude(CardRequest& state);
  /// The card has failed: all that runs ends with its word.
  void fail(Status status, std::vector<Completion>& completed);
  bool is_read_next(const CardRequest& state) const;

  kv::Pool& pool_;
  const std::unique_ptr<device::cuda::Queue> queue_;
  const std::unique_ptr<model::cuda::CardDecoder> decoder_;
  Status health_;

  device::cuda::Memory memory_;
  int32_t* tokens_ = nullptr;               // [rows] of a pass
  uint32_t* owners_ = nullptr;              // [rows]: slots
  uint32_t* row_numbers_ = nullptr;         // [rows]: 0, 1, 2, ...
  uint32_t* struck_ = nullptr;              // [slots]: 1 where a row was not finite
  beam::cuda::Search* searches_ = nullptr;  // [slots]

  struct Known {
    std::shared_ptr<const Binding> binding;
    std::shared_ptr<CardCatalogue> catalogue;
  };
  std::vector<Known> catalogues_;
  std::vector<std::unique_ptr<CardRequest>> running_;  // oldest first
  std::vector<std::unique_ptr<CardRequest>> idle_;     // memory of past requests, reused
  std::vector<uint32_t> free_slots_;
  bool is_full_ = false;  // nobody has left since a request found no room

  // Passes that have not been waited for.
  std::vector<scheduler::PassWork> asked_;
  Clock::time_point asked_since_;

  // Scratch of one pass.
  std::vector<int32_t> pass_tokens_;
  std::vector<uint32_t> pass_owners_;
  std::vector<model::cuda::CardRows> groups_;
  std::vector<beam::cuda::Search> steps_;
  std::vector<CardRequest*> due_;
};

}  // namespace tessera::engine::cuda
