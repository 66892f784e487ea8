// The one state machine of running requests: who is let in, who runs in the next pass, what a pass
// is predicted to take and took, when a request has ended and what its completion says.
//
//   order -> forward -> narrow -> select -> conclude -> complete
//
// Runs on the engine's thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "engine/kv_budget.h"
#include "engine/options.h"
#include "engine/passes.h"
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
  std::atomic<uint64_t> expert_rows{0};
  std::atomic<uint64_t> expert_places{0};
  std::atomic<uint64_t> experts_touched{0};
};

enum class Admission : uint8_t {
  kAdmitted,
  kWaits,    // no KV memory now; the request was left as it is
  kRefused,  // the status says why
};

class Loop {
 public:
  /// `processor` makes answers of what a search has found. The decoder, the pool and the counters
  /// outlive the loop.
  Loop(const EngineOptions& options, device::Device& processor, const model::Decoder& decoder,
       kv::Pool& pool, std::unique_ptr<Passes> passes, const scheduler::PassCost& cost,
       LoopCounters& counters);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  uint32_t running() const { return static_cast<uint32_t>(running_.size()); }
  bool has_room() const { return running() < options_.batch_requests_max; }
  /// REQUIRES: has_room() and a request whose limits have been checked. Takes the request when it
  /// is admitted: all memory that it needs until its end is its own from then on.
  Admission admit(Request& request, Clock::time_point now, Status& status);
  /// One forward pass and what follows from it. Requests that ended are appended to `completed`.
  void run_pass(std::vector<Completion>& completed);
  /// ENGINE_UNAVAILABLE, for good, once the device has failed: nothing runs on it any more.
  const Status& health() const { return health_; }
  /// Ends every running request that `ended` gives a Status which is not ok.
  template <typename Ended>
  void sweep(const Ended& ended, std::vector<Completion>& completed) {
    for (uint32_t i = running(); i-- > 0;) {
      Status status = ended(running_[i]->request());
      if (!status.is_ok()) completed.push_back(retire(i, std::move(status)));
    }
  }
  /// Gives back what requests that have ended lend to those that are let in before the next pass.
  void drop_lenders();
  const KvBudget& budget() const { return budget_; }
  /// The corrected cost of passes.
  scheduler::PassCost cost() const { return cost_model_.cost(); }
  /// Predicted time that the running requests still take, each alone, and how much of such times
  /// requests take beside each other.
  double left_us() const;
  double sharing_rate() const { return sharing_.rate(); }

 private:
  /// An ended request and the number of first tokens that a prompt shares with it.
  struct Lender {
    const RunningRequest* state = nullptr;
    uint32_t shared = 0;
  };
  /// True if requests compute the common part of their prompts for each other. A state goes on from
  /// where it is alone, not from any position of another request's prompt, and what an encoder
  /// makes of a token depends on all of its own.
  bool shares_prompts() const {
    return decoder_.state_bytes() == 0 && !decoder_.config().encodes_prompts();
  }
  /// An idle RunningRequest; used by the next request that is let in.
  RunningRequest& idle();
  Status reserve(const Request& request, scheduler::Link& link);
  Status reserve_beside(const Request& request, scheduler::Link& link);
  scheduler::Link find_leader(const Request& request);
  Lender find_lender(const Request& request);
  /// Fills plan_ and work_ for all that run.
  void plan();
  Status compute(PassTimes& times);
  void count_experts();
  /// Requests that may be answered in part take no more beams than they have time for.
  uint32_t rows_in_time(double row_us, double fixed_us) const;
  void narrow_late();
  /// Learns what a pass took.
  void observe(double actual_us);
  /// Ends those that are done, and those of which a row was not finite.
  void conclude(std::vector<Completion>& completed);
  /// A pass has failed: all that runs ends with the word of the device, which is of no use any more
  /// unless it only lacked memory.
  void fail(const Status& status, std::vector<Completion>& completed);
  Completion retire(size_t index, Status status);
  /// Ends a request: it lends its blocks, or is empty from now on.
  void part_with(std::unique_ptr<RunningRequest> state, bool is_answered);
  /// The completion of a request that ends, without its answer and its timings.
  Completion completion_of(const RunningRequest& state, Status status);
  /// The answer that its task makes of a finished request; nothing of one that failed.
  void answer(RunningRequest& state, Completion& completion);
  double alone_us(const scheduler::RequestWork& work) const {
    return scheduler::alone_us(cost(), work, options_.prefill_chunk_tokens);
  }

  const EngineOptions options_;
  device::Device& processor_;
  LoopCounters& counters_;
  const model::Decoder& decoder_;
  kv::Pool& pool_;
  const std::unique_ptr<Passes> passes_;
  KvBudget budget_;
  scheduler::CostModel cost_model_;
  scheduler::SharingRate sharing_;
  Status health_;
  std::vector<std::unique_ptr<RunningRequest>> running_;  // oldest first
  std::vector<std::unique_ptr<RunningRequest>> idle_;     // buffers of past requests, reused
  std::vector<scheduler::Link> links_;                    // [running]
  /// Have ended with the last pass, their prompts computed whole: what those that are let in before
  /// the next pass have in common with them is taken from here. They give way where room is short.
  std::vector<std::unique_ptr<RunningRequest>> lenders_;
  bool is_full_ = false;  // no request has left since one found no room

  // Scratch of one pass.
  scheduler::PassWork work_;
  scheduler::PlanScratch plan_scratch_;
  std::vector<scheduler::Runnable> runnable_;
  std::vector<scheduler::Slice> plan_;
  std::vector<std::span<const int32_t>> prompts_;
};

}  // namespace tessera::engine
