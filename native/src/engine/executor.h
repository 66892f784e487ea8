// A device that computes passes, as the one loop drives it (loop.h): the loop knows who runs, what
// a pass is predicted to take and when a request has ended; an executor has the memory of requests
// and turns a plan into numbers. One implementation per device: processor_executor.h and
// cuda/engine/card_executor.h.
//
// What an executor is asked for may be done when the call returns, or only be under way, as on a
// card: passes_ahead() says how many passes may be so, finish() waits for them.
//
// Runs on the engine's thread only, but for check(). Errors of all calls: ENGINE_UNAVAILABLE once
// the device has failed, for good; others are named.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "engine/kv_budget.h"
#include "engine/request.h"
#include "engine/running_request.h"
#include "model/expert_use.h"
#include "model/model_config.h"
#include "scheduler/plan_step.h"
#include "scheduler/prefix.h"

namespace tessera::engine {

class Executor {
 public:
  /// Of the loop, oldest first; all made by this executor.
  using Running = std::span<const std::unique_ptr<RunningRequest>>;

  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  virtual const model::ModelConfig& config() const = 0;
  virtual uint64_t block_bytes() const = 0;
  /// Passes that may be under way before the loop waits for them; 1: each is done when it returns.
  virtual uint32_t passes_ahead() const = 0;
  /// Whether requests compute for each other what their prompts have in common.
  virtual bool shares_prompts() const = 0;
  /// Whether room may be made for a request though nobody runs.
  virtual bool makes_room_alone() const = 0;

  /// REQUEST_INVALID where the device has not what the request asks for. Any thread.
  virtual Status check(const Request& request) const = 0;
  /// An empty one; the loop keeps it for many requests, one after the other.
  virtual std::unique_ptr<RunningRequest> make_request(KvBudget& budget) = 0;
  /// Memory and blocks for a request whose limits have been checked. `leader` (null: none) is the
  /// running request of the link, which is undone where it is of no use. Errors: ENGINE_OVERLOADED
  /// when there is no room now; no blocks are held then.
  virtual Status reserve(RunningRequest& state, const Request& request,
                         const RunningRequest* leader, scheduler::Link& link) = 0;
  /// Gives back the buffers of a request that idles.
  virtual void drop_buffers(RunningRequest& idle) = 0;
  /// Gives back what reserve() found for a request that is not let in.
  virtual void forget_reserved() = 0;
  /// REQUIRES: reserve() for the same request. What it holds is released where that fails.
  virtual Status begin(RunningRequest& state, Request request, Clock::time_point now) = 0;
  /// A request that has begun is about to be released.
  virtual void end(RunningRequest& state) = 0;

  /// The same slices in the order in which the device takes them best.
  virtual void order(Running running, std::vector<scheduler::Slice>& plan) = 0;
  /// The rows of a plan. Fills in what it knows of the times.
  virtual Status forward(Running running, std::span<const scheduler::Slice> plan,
                         std::span<const scheduler::Link> links, PassTimes& times) = 0;
  /// What the last forward() did with experts, where the device counts it.
  virtual model::ExpertUse expert_use() const { return {}; }
  /// The coming selection of every request whose logits are due. Gives what it does with the
  /// head, and the times of a request's own part to its pass().
  virtual Result<scheduler::HeadWork> select(Running running) = 0;
  /// Waits for all that is under way.
  virtual Status finish() = 0;
  /// Prompt rows that were taken back since the last call from requests that go on.
  virtual uint64_t take_rolled_back_rows() = 0;

  /// Whether the loop must know now what the request has come to.
  virtual bool is_read_next(const RunningRequest& state) const = 0;
  /// Takes what a request has come to, once it has been waited for. MODEL_NOT_FINITE where a row of
  /// it was not; nothing that is not finite is kept then.
  virtual Status conclude(RunningRequest& state) = 0;

 protected:
  Executor() = default;
};

}  // namespace tessera::engine
