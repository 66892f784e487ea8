// The plot of the engine, one pass at a time: plan -> forward -> commit -> head -> select -> fork
// -> complete. Runs on the engine's thread only; everything mutable of the running requests is
// here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/epoch.h"
#include "engine/head.h"
#include "engine/kv_budget.h"
#include "engine/options.h"
#include "engine/pass_batch.h"
#include "engine/request.h"
#include "engine/request_state.h"
#include "model/decoder.h"
#include "model/workspace.h"
#include "scheduler/admission.h"
#include "scheduler/cost_model.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

/// Counters of a step loop; read by any thread.
struct LoopCounters {
  std::atomic<uint64_t> prefill_tokens{0};
  std::atomic<uint64_t> decode_tokens{0};
  std::atomic<uint64_t> forward_passes{0};
  std::atomic<uint64_t> prefix_reused_tokens{0};
  std::atomic<uint64_t> rolled_back_tokens{0};
  std::atomic<uint64_t> predicted_us{0};  // of all passes
  std::atomic<uint64_t> actual_us{0};
};

enum class Admission : uint8_t {
  kAdmitted,
  kWaits,    // no KV memory now; the request was left as it is
  kRefused,  // the status says why
};

class StepLoop {
 public:
  /// `workspace` holds options.batch_rows_max rows; the pool outlives the loop. `faults` is a test
  /// seam.
  StepLoop(const EngineOptions& options, const model::Decoder& decoder, device::Device& device,
           kv::Pool& pool, std::unique_ptr<model::Workspace> workspace,
           const scheduler::PassCost& cost, LoopCounters& counters, RowFaults* faults = nullptr);

  uint32_t running() const { return static_cast<uint32_t>(running_.size()); }
  bool has_room() const { return running() < options_.batch_requests_max; }
  /// REQUIRES: has_room() and a request whose limits have been checked. Takes the request when it
  /// is admitted: all memory that it needs until its end is its own from then on.
  Admission admit(Request& request, Clock::time_point now, Status& status);
  /// One forward pass and what follows from it. Requests that ended are appended to `completed`.
  void run_pass(std::vector<Completion>& completed);
  /// Ends every running request that `ended` gives a Status which is not ok.
  template <typename Ended>
  void sweep(const Ended& ended, std::vector<Completion>& completed) {
    for (size_t i = running_.size(); i-- > 0;) {
      Status status = ended(running_[i]->request());
      if (!status.is_ok()) completed.push_back(retire(i, std::move(status)));
    }
  }
  const KvBudget& budget() const { return budget_; }
  /// The corrected cost of passes.
  scheduler::PassCost cost() const { return cost_model_.cost(); }
  /// Predicted time that the running requests still take, each alone, and how much of such times
  /// requests take beside each other.
  double left_us() const;
  double sharing_rate() const { return sharing_.rate(); }

 private:
  void plan();
  void note_prompt_rows();
  void forward(PassTimes& times);
  void narrow_late();
  void end_failed(std::vector<Completion>& completed);
  Status reserve(const Request& request, scheduler::Link& link);
  scheduler::Link find_leader(const Request& request);
  void group_by_adapter();
  Completion retire(size_t index, Status status);
  void answer(RequestState& state, Completion& completion);
  double alone_us(const scheduler::RequestWork& work) const {
    return scheduler::alone_us(cost(), work, options_.prefill_chunk_tokens);
  }

  const EngineOptions options_;
  const model::Decoder& decoder_;
  device::Device& device_;
  LoopCounters& counters_;
  std::unique_ptr<model::Workspace> workspace_;
  kv::Pool& pool_;
  KvBudget budget_;
  Epoch epoch_;
  Head head_;
  scheduler::CostModel cost_model_;
  scheduler::SharingRate sharing_;

  std::vector<std::unique_ptr<RequestState>> running_;  // oldest first
  std::vector<scheduler::Link> links_;                  // [running_]
  std::vector<std::unique_ptr<RequestState>> idle_;     // buffers of past requests, reused
  bool is_full_ = false;  // nobody has left since a request found no room

  // Scratch of one pass.
  PassBatch batch_;
  scheduler::PassWork work_;
  scheduler::PlanScratch plan_scratch_;
  std::vector<scheduler::Runnable> runnable_;
  std::vector<scheduler::Share> plan_;
  std::vector<uint32_t> share_order_;
  std::vector<scheduler::Share> grouped_;
  std::vector<std::span<const int32_t>> prompts_;
};

}  // namespace tessera::engine
