// What the engine's thread drives: the running requests and the passes over them. What a pass is,
// and where its memory lies, is each device's own (step_loop.h, cuda/card_loop.h); who runs in it,
// what it is predicted to take and what an answer tells are the same for all, and here.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "device/device.h"
#include "engine/kv_budget.h"
#include "engine/options.h"
#include "engine/request.h"
#include "engine/running_request.h"
#include "scheduler/admission.h"
#include "scheduler/cost_model.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

/// Counters of a loop; read by any thread.
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

class Loop {
 public:
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  virtual uint32_t running() const = 0;
  bool has_room() const { return running() < options_.batch_requests_max; }
  /// REQUEST_INVALID where the device has not what the request asks for. Any thread.
  virtual Status check(const Request& request) const;
  /// REQUIRES: has_room() and a request whose limits have been checked. Takes the request when it
  /// is admitted: all memory that it needs until its end is its own from then on.
  virtual Admission admit(Request& request, Clock::time_point now, Status& status) = 0;
  /// One forward pass and what follows from it. Requests that ended are appended to `completed`.
  virtual void run_pass(std::vector<Completion>& completed) = 0;
  /// ENGINE_UNAVAILABLE, for good, once the device has failed: nothing runs on it any more.
  virtual Status health() const { return Status::ok(); }
  /// Ends every running request that `ended` gives a Status which is not ok.
  template <typename Ended>
  void sweep(const Ended& ended, std::vector<Completion>& completed) {
    for (uint32_t i = running(); i-- > 0;) {
      Status status = ended(at(i).request());
      if (!status.is_ok()) completed.push_back(retire(i, std::move(status)));
    }
  }
  const KvBudget& budget() const { return budget_; }
  /// The corrected cost of passes.
  scheduler::PassCost cost() const { return cost_model_.cost(); }
  /// Predicted time that the running requests still take, each alone, and how much of such times
  /// requests take beside each other.
  double left_us();
  double sharing_rate() const { return sharing_.rate(); }

 protected:
  /// `processor` makes answers of what a search has found.
  Loop(const EngineOptions& options, const model::ModelConfig& config, device::Device& processor,
       uint64_t block_bytes, const scheduler::PassCost& cost, LoopCounters& counters);

  /// Oldest first.
  virtual RunningRequest& at(size_t index) = 0;
  virtual Completion retire(size_t index, Status status) = 0;

  /// Fills plan_ and work_ for all that run.
  void plan();
  /// Requests that may be answered in part take no more beams than they have time for.
  void narrow_late();
  /// What a pass has taken corrects what the next ones are predicted to take.
  void observe(float actual_us);
  /// What is told of a request that ends, but for its timings' total.
  Completion completion_of(const RunningRequest& state, Status status);
  /// What its task makes of a request that has come to its end; nothing of one that failed.
  void answer(RunningRequest& state, Completion& completion);
  double alone_us(const scheduler::RequestWork& work) const {
    return scheduler::alone_us(cost(), work, options_.prefill_chunk_tokens);
  }

  const EngineOptions options_;
  const model::ModelConfig& config_;
  device::Device& processor_;
  LoopCounters& counters_;
  KvBudget budget_;
  scheduler::CostModel cost_model_;
  scheduler::SharingRate sharing_;
  std::vector<scheduler::Link> links_;  // [running]

  // Scratch of one pass.
  scheduler::PassWork work_;
  scheduler::PlanScratch plan_scratch_;
  std::vector<scheduler::Runnable> runnable_;
  std::vector<scheduler::Share> plan_;
};

}  // namespace tessera::engine
