// A device that computes passes, as the one loop drives it (loop.h): the loop knows who runs, what
// a pass is predicted to take and when a request has ended; an executor has the memory of requests
// and turns a plan into numbers. One implementation per device: processor_executor.h and
// cuda/engine/card_executor.h.
//
// A call may return before its work is done, as on a card: passes_ahead() bounds the passes that
// may be pending, finish() waits for them.
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
  /// Requests of the loop, oldest first; all made by this executor.
  using Running = std::span<const std::unique_ptr<RunningRequest>>;

  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  virtual const model::ModelConfig& config() const = 0;
  virtual uint64_t block_bytes() const = 0;
  /// Passes that may be under way before the loop waits for them; 1: each is done when it returns.
  virtual uint32_t passes_ahead() const = 0;
  /// True if requests compute the common part of their prompts for each other.
  virtual bool shares_prompts() const = 0;
  /// True if a request that finds no room may wait although no other one runs: eviction makes room.
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
  /// REQUIRES: reserve() for the same request. A failure releases what the request holds.
  virtual Status begin(RunningRequest& state, Request request, Clock::time_point now) = 0;
  /// A request that has begun is about to be released.
  virtual void end(RunningRequest& state) = 0;

  /// Puts the slices into the order in which the device takes them best.
  virtual void order(Running running, std::vector<scheduler::Slice>& plan) = 0;
  /// The rows of a plan. Fills in what it knows of the times.
  virtual Status forward(Running running, std::span<const scheduler::Slice> plan,
                         std::span<const scheduler::Link> links, PassTimes& times) = 0;
  /// Experts that the last forward() used, if the device counts them.
  virtual model::ExpertUse expert_use() const { return {}; }
  /// The coming selection of every request whose logits are due. Gives what it does with the
  /// head, and the times of a request's own part to its pass().
  virtual Result<scheduler::HeadWork> select(Running running) = 0;
  /// Waits for all that is under way.
  virtual Status finish() = 0;
  /// Prompt rows that were taken back since the last call from requests that go on.
  virtual uint64_t take_rolled_back_rows() = 0;

  /// True if the loop needs the request's results now.
  virtual bool is_read_next(const RunningRequest& state) const = 0;
  /// Takes what a request has come to, once it has been waited for. MODEL_NOT_FINITE where a row of
  /// it was not; nothing that is not finite is kept then.
  virtual Status conclude(RunningRequest& state) = 0;

 protected:
  Executor() = default;
};

}  // namespace tessera::engine
