// Plans become numbers: rows -> forward -> commit -> head -> select -> fork, whichever device the
// decoder computes on. Everything mutable of the running requests is here and in RunningRequest.
//
// Runs on the engine's thread only. Errors of all calls: ENGINE_UNAVAILABLE once the device has
// failed, for good; others are named.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/epoch.h"
#include "engine/head.h"
#include "engine/pass_batch.h"
#include "engine/running_request.h"
#include "model/decoder.h"
#include "scheduler/plan_step.h"
#include "scheduler/prefix.h"

namespace tessera::engine {

class Passes {
 public:
  /// Requests of the loop, oldest first.
  using Running = std::span<const std::unique_ptr<RunningRequest>>;

  /// The decoder outlives the passes and has made `memory`. `faults` is a test seam.
  Passes(const model::Decoder& decoder, std::unique_ptr<model::PassMemory> memory,
         RowFaults* faults = nullptr);

  uint32_t rows_max() const { return memory_->max_rows(); }
  /// Puts rows of one adapter together, so that its matrices are read once for all of them. Those
  /// that stand on each other have the same one, and keep their order.
  void order(Running running, std::vector<scheduler::Slice>& plan);
  /// The rows of a plan, committed or taken back. Fills in the times.
  Status forward(Running running, std::span<const scheduler::Slice> plan,
                 std::span<const scheduler::Link> links, PassTimes& times);
  /// Experts that the last forward() used, if the device counts them.
  const model::ExpertUse& expert_use() const { return memory_->expert_use(); }
  /// The coming selection of every request whose logits are due. Gives what it does with the
  /// head, and the times of a request's own part to its pass().
  Result<scheduler::HeadWork> select(Running running);
  /// Prompt rows that were taken back since the last call from requests that go on.
  uint64_t take_rolled_back_rows();

 private:
  std::span<RunningRequest* const> states_of(Running running);

  const model::Decoder& decoder_;
  const std::unique_ptr<model::PassMemory> memory_;
  Epoch epoch_;
  Head head_;
  uint64_t rolled_back_seen_ = 0;

  // Scratch of one pass.
  PassBatch batch_;
  std::vector<RunningRequest*> states_;
  std::vector<uint32_t> slice_order_;
  std::vector<scheduler::Slice> grouped_;
};

}  // namespace tessera::engine
