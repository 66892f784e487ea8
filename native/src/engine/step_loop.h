// The plot of the engine on the processor, one pass at a time: plan -> forward -> commit -> head ->
// select -> fork -> complete. Runs on the engine's thread only; everything mutable of the running
// requests is here.
#pragma once

#include <memory>
#include <vector>

#include "engine/epoch.h"
#include "engine/head.h"
#include "engine/loop.h"
#include "engine/pass_batch.h"
#include "engine/request_state.h"
#include "model/decoder.h"
#include "model/workspace.h"

namespace tessera::engine {

class StepLoop final : public Loop {
 public:
  /// `workspace` holds options.batch_rows_max rows; the pool outlives the loop. `faults` is a test
  /// seam.
  StepLoop(const EngineOptions& options, const model::Decoder& decoder, device::Device& device,
           kv::Pool& pool, std::unique_ptr<model::Workspace> workspace,
           const scheduler::PassCost& cost, LoopCounters& counters, RowFaults* faults = nullptr);

  uint32_t running() const override { return static_cast<uint32_t>(running_.size()); }
  Admission admit(Request& request, Clock::time_point now, Status& status) override;
  void run_pass(std::vector<Completion>& completed) override;

 private:
  RunningRequest& at(size_t index) override { return *running_[index]; }
  Completion retire(size_t index, Status status) override;
  void note_prompt_rows();
  void forward(PassTimes& times);
  void end_failed(std::vector<Completion>& completed);
  Status reserve(const Request& request, scheduler::Link& link);
  scheduler::Link find_leader(const Request& request);
  void group_by_adapter();

  const model::Decoder& decoder_;
  std::unique_ptr<model::Workspace> workspace_;
  kv::Pool& pool_;
  Epoch epoch_;
  Head head_;

  std::vector<std::unique_ptr<RequestState>> running_;  // oldest first
  std::vector<std::unique_ptr<RequestState>> idle_;     // buffers of past requests, reused
  bool is_full_ = false;  // nobody has left since a request found no room

  // Scratch of one pass.
  PassBatch batch_;
  std::vector<uint32_t> share_order_;
  std::vector<scheduler::Share> grouped_;
  std::vector<std::span<const int32_t>> prompts_;
};

}  // namespace tessera::engine
