// The part of the engine that its callers touch: the inbox of calls that the driver has not taken
// yet, the tickets in flight, and the driver's measured pace. One lock guards it. Under that lock a
// thread only looks, counts and moves pointers: it copies, zeroes, computes and waits for nothing
// and touches no device memory, so Node's thread never waits for an admission
// (docs/internals/engine.md). The pool's lock, which is taken inside it, is as short
// (kv/pool_state.h).
//
// Thread-safety: any thread, unless a function says that it is the driver's.
#pragma once

#include <condition_variable>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "engine/admission_control.h"
#include "engine/kv_gate.h"
#include "engine/loop.h"
#include "engine/options.h"
#include "engine/prompt_versions.h"
#include "engine/request.h"
#include "engine/request_queue.h"
#include "engine/served_model.h"
#include "engine/stats.h"
#include "model/decoder.h"
#include "scheduler/row_forecast.h"

namespace tessera::engine {

/// New weights whose caller waits in Front::update().
struct PendingUpdate {
  model::WeightsUpdate update;
  Clock::time_point asked, give_up;
  Status status{};
  UpdateReport report{};
};

class Front {
 public:
  /// `loop` is asked for nothing but check(). `work` is where the driver waits.
  Front(const EngineOptions& options, const Loop& loop, std::shared_ptr<kv::Pool> pool,
        ServedModel model, const scheduler::PassCost& cost,
        std::shared_ptr<std::condition_variable> work);

  // As Engine's of the same names.
  /// Completions of requests that are not to be served are appended to `refused`.
  SubmitOutcome submit(std::vector<Request> requests, std::vector<Completion>& refused);
  void cancel(std::span<const uint32_t> tickets);
  void prefetch(uint32_t ticket, kv::Version version, const std::string& user);
  Result<kv::Version> add_version(const PromptDigests& digests);
  void succeed(const std::string& adapter_digest, const std::string& predecessor_digest);
  void drop_version(kv::Version version);
  kv::Rates kv_rates();
  ServedModel model() const;
  UpdateReport weights() const;
  std::shared_ptr<kv::Pool> pool() const;
  void refuse_new();
  /// Counts of requests; those of passes are LoopCounters'.
  Stats stats() const;
  Forecast forecast() const;
  /// Hands the update to the driver and waits until it has ended.
  Result<UpdateReport> update(PendingUpdate& pending);
  /// Refuses new requests and waits until none is in flight; cancels them after `budget`.
  void drain(std::chrono::microseconds budget);
  /// Makes the driver's wait() false and ends all other waits.
  void stop();
  /// After the driver has ended: the pool, which the front lets go.
  std::shared_ptr<kv::Pool> release_pool();

  // The driver's.

  /// Calls that arrived since the last time.
  struct Taken {
    std::vector<RequestQueue::Waiting> arrived;
    std::vector<uint32_t> cancelled;
    PendingUpdate* update = nullptr;  // left until end_update() or end_swap()
    Status broken;
  };
  /// Waits until there is something to do, unless `is_busy`, and takes what has come. False once
  /// the engine stops; then nothing is taken.
  bool wait(bool is_busy, Taken& taken);
  /// Waits for blocks on their way to the device: until something has come, at most so long.
  void wait_for_blocks(std::chrono::microseconds most);
  /// Everything that has come, without waiting: the engine stops.
  void take(Taken& taken);

  /// A request has left the queue.
  void left_queue(uint8_t priority, double alone_us);
  /// Read by the driver before it begins a request: the request's version as the pool has it now,
  /// and whether its answer would be late.
  struct Turn {
    PoolVersions of_pool;
    bool is_too_late = false;
  };
  Turn turn_of(const RequestQueue::Waiting& waiting, Clock::time_point now) const;
  /// True if the request need not wait for its blocks, or no longer.
  bool is_ready(RequestQueue::Waiting& waiting, Clock::time_point now);
  void note_running(size_t running, size_t loading);
  void note_progress(const scheduler::PassCost& cost, double left_us, double sharing_rate,
                     const Status& health);
  /// Before completions go to the sink: their tickets are the callers' again.
  void begin_delivery(std::span<Completion> completed, size_t running);
  void end_delivery(size_t count);
  void end_update(Status status);
  /// REQUIRES: no request runs. Prefetches of the front are of the old weights: they end, and none
  /// is begun.
  void begin_swap();
  /// `status`: of the decoder's update. Gives the reason for which nothing can be computed any
  /// more, or ok.
  Status end_swap(const model::Decoder& decoder, Status status, Clock::time_point begun);

 private:
  struct InFlight {
    AdmissionControl::Admitted admitted;
    uint64_t row_kind = 0;  // Task::row_kind()
  };

  AdmissionControl::Judged accept(Request& request, uint64_t row_kind, Clock::time_point now,
                                  double& own_us) REQUIRES(mutex_);
  Status check(const Request& request, Clock::time_point now) const REQUIRES(mutex_);
  uint32_t kept_tokens(const Request& request) const REQUIRES(mutex_);
  RequestQueue::Waiting entry_of(Request request) REQUIRES(mutex_);
  bool has_news() const REQUIRES(mutex_);
  void take_locked(Taken& taken) REQUIRES(mutex_);
  void end_update_locked(Status status) REQUIRES(mutex_);

  const EngineOptions& options_;
  const Loop& loop_;
  const std::shared_ptr<std::condition_variable> work_;

  mutable Mutex mutex_;
  std::condition_variable idle_;  // drain() and update() wait here
  std::shared_ptr<kv::Pool> pool_ GUARDED_BY(mutex_);
  KvGate gate_;  // has a lock of its own
  /// Blocks of tickets whose requests are still being made; at most as many as the queue's places.
  std::unordered_map<uint32_t, ComingBlocks> reserved_ GUARDED_BY(mutex_);
  std::vector<RequestQueue::Waiting> arrived_ GUARDED_BY(mutex_);
  QueueTally tally_ GUARDED_BY(mutex_);  // of arrived_ and the driver's queue
  size_t loading_ GUARDED_BY(mutex_) = 0;
  AdmissionControl admission_ GUARDED_BY(mutex_);
  scheduler::RowForecast forecast_ GUARDED_BY(mutex_);
  std::unordered_map<uint32_t, InFlight> in_flight_ GUARDED_BY(mutex_);
  std::unordered_set<uint32_t> cancelled_ GUARDED_BY(mutex_);  // of in_flight_, not taken yet
  size_t delivering_ GUARDED_BY(mutex_) = 0;  // completions on their way to the sink
  Stats counters_ GUARDED_BY(mutex_);
  PromptVersions versions_ GUARDED_BY(mutex_);
  ServedModel model_ GUARDED_BY(mutex_);
  uint64_t weights_generation_ GUARDED_BY(mutex_) = 0;
  PendingUpdate* pending_update_ GUARDED_BY(mutex_) = nullptr;
  bool is_swapping_ GUARDED_BY(mutex_) = false;  // weights are being written
  Status broken_ GUARDED_BY(mutex_);  // not ok: nothing can be computed any more, and why
  bool is_draining_ GUARDED_BY(mutex_) = false;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tessera::engine
