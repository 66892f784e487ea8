// Passes on a card: fork -> forward -> check -> head -> select, all asked for without waiting. The
// host plans with as many beams as there can be; the loop waits where a request ends, and after
// kPassesAhead passes, so that deadlines, cancellations and new requests are not kept waiting
// behind passes that were asked for long ago.
//
// The executor waits for the card before it gives a block back to the pool or keeps it there, so no
// pending launch reads or writes it. Requests do not compute for each other on a card: a request
// that shares a prompt with a running one reads what that one has kept in the pool, and computes
// the rest.
#pragma once

#include <memory>
#include <vector>

#include "cuda/engine/card_request.h"
#include "engine/executor.h"
#include "engine/options.h"

namespace tessera::engine::cuda {

/// Passes that the card may have before the host waits for them.
inline constexpr uint32_t kPassesAhead = 4;

class CardExecutor final : public Executor {
 public:
  /// The decoder takes options.batch_rows_max rows, and options.width_max of them in its head. The
  /// queue outlives the decoder, the pool the executor. Errors: ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardExecutor>> make(
      const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
      std::unique_ptr<model::cuda::CardDecoder> decoder, kv::Pool& pool);
  ~CardExecutor() override;

  const model::ModelConfig& config() const override { return decoder_->config(); }
  uint64_t block_bytes() const override { return decoder_->block_bytes(); }
  uint32_t passes_ahead() const override { return kPassesAhead; }
  bool shares_prompts() const override { return false; }
  /// Memory that the card lacks while nothing runs it will lack later.
  bool makes_room_alone() const override { return false; }

  Status check(const Request& request) const override;
  std::unique_ptr<RunningRequest> make_request(KvBudget& budget) override;
  Status reserve(RunningRequest& state, const Request& request, const RunningRequest* leader,
                 scheduler::Link& link) override;
  void drop_buffers(RunningRequest& idle) override;
  void forget_reserved() override;
  Status begin(RunningRequest& state, Request request, Clock::time_point now) override;
  void end(RunningRequest& state) override;

  void order(Running, std::vector<scheduler::Slice>&) override {}
  Status forward(Running running, std::span<const scheduler::Slice> plan,
                 std::span<const scheduler::Link> links, PassTimes& times) override;
  Result<scheduler::HeadWork> select(Running running) override;
  Status finish() override { return queue_->finish(); }
  uint64_t take_rolled_back_rows() override { return 0; }

  bool is_read_next(const RunningRequest& state) const override;
  Status conclude(RunningRequest& state) override;

 private:
  CardExecutor(const EngineOptions& options, std::unique_ptr<device::cuda::Queue> queue,
               std::unique_ptr<model::cuda::CardDecoder> decoder, kv::Pool& pool);

  Status allocate(const EngineOptions& options);
  Result<CardTarget> target_of(const Request& request, const catalogue::Reach& reach);
  Result<std::shared_ptr<CardCatalogue>> catalogue_of(
      const std::shared_ptr<const Binding>& binding);

  kv::Pool& pool_;
  const std::unique_ptr<device::cuda::Queue> queue_;
  const std::unique_ptr<model::cuda::CardDecoder> decoder_;

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
  std::vector<uint32_t> free_slots_;
  // Of the request that is being let in, from reserve() to begin().
  catalogue::Reach reserved_reach_;
  CardTarget reserved_target_;

  // Scratch of one pass.
  std::vector<int32_t> pass_tokens_;
  std::vector<uint32_t> pass_owners_;
  std::vector<model::cuda::CardRows> groups_;
  std::vector<beam::cuda::Search> steps_;
  std::vector<CardRequest*> due_;
};

}  // namespace tessera::engine::cuda
