// Passes on the processor: forward -> commit -> head -> select -> fork, each done when it returns.
// Everything mutable of the running requests is here and in their RequestState.
#pragma once

#include <memory>
#include <vector>

#include "engine/epoch.h"
#include "engine/executor.h"
#include "engine/head.h"
#include "engine/pass_batch.h"
#include "engine/request_state.h"
#include "model/decoder.h"
#include "model/workspace.h"

namespace tessera::engine {

class ProcessorExecutor final : public Executor {
 public:
  /// `workspace` holds a pass's rows; the pool outlives the executor. `faults` is a test seam.
  ProcessorExecutor(const model::Decoder& decoder, kv::Pool& pool,
                    std::unique_ptr<model::Workspace> workspace, RowFaults* faults = nullptr);

  const model::ModelConfig& config() const override { return decoder_.config(); }
  uint64_t block_bytes() const override { return decoder_.block_layout().bytes(); }
  uint32_t passes_ahead() const override { return 1; }
  /// A state goes on from where it is alone, not from any position of another request's prompt, and
  /// what an encoder makes of a token depends on all of its own.
  bool shares_prompts() const override {
    return decoder_.state_bytes() == 0 && !config().encodes_prompts();
  }
  /// Transfers that hold blocks end: a request's own need is within the limits.
  bool makes_room_alone() const override { return true; }

  Status check(const Request&) const override { return Status::ok(); }
  std::unique_ptr<RunningRequest> make_request(KvBudget& budget) override;
  Status reserve(RunningRequest& state, const Request& request, const RunningRequest* leader,
                 scheduler::Link& link) override;
  void drop_buffers(RunningRequest& idle) override;
  void forget_reserved() override {}
  Status begin(RunningRequest& state, Request request, Clock::time_point now) override;
  void end(RunningRequest&) override {}

  void order(Running running, std::vector<scheduler::Slice>& plan) override;
  Status forward(Running running, std::span<const scheduler::Slice> plan,
                 std::span<const scheduler::Link> links, PassTimes& times) override;
  model::ExpertUse expert_use() const override { return workspace_->expert_use(); }
  Result<scheduler::HeadWork> select(Running running) override;
  Status finish() override { return Status::ok(); }
  uint64_t take_rolled_back_rows() override;

  bool is_read_next(const RunningRequest& state) const override;
  Status conclude(RunningRequest& state) override;

 private:
  std::span<RequestState* const> states_of(Running running);

  const model::Decoder& decoder_;
  std::unique_ptr<model::Workspace> workspace_;
  kv::Pool& pool_;
  Epoch epoch_;
  Head head_;
  uint64_t rolled_back_seen_ = 0;

  // Scratch of one pass.
  PassBatch batch_;
  std::vector<RequestState*> states_;
  std::vector<uint32_t> slice_order_;
  std::vector<scheduler::Slice> grouped_;
};

}  // namespace tessera::engine
