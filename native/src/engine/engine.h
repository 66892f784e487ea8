// The engine: owns the model, one thread that runs the step loop, and a bounded queue before it.
// The only folder that knows every other one; no JavaScript here.
//
// Threads: open, submit, cancel, stats from any thread; drain and close from any thread but the
// engine's own. close() is idempotent: stop -> join -> discard. Completions are delivered through
// the sink until close() returns, never after.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/admission_control.h"
#include "engine/kv_gate.h"
#include "engine/loop.h"
#include "engine/options.h"
#include "engine/prompt_versions.h"
#include "engine/request.h"
#include "engine/request_queue.h"
#include "engine/served_model.h"
#include "lora/arena.h"

namespace tessera::engine {

enum class Refusal : uint8_t { kNone, kQueueFull, kDraining };

struct SubmitOutcome {
  uint32_t accepted = 0;  // requests taken from the front
  Refusal refusal = Refusal::kNone;
  uint32_t retry_after_us = 0;  // kQueueFull: when a place may be free; 0 else
};

struct Stats {
  uint64_t queued = 0, running = 0, submitted = 0, completed = 0, failed = 0, cancelled = 0,
           expired = 0;
  uint64_t prefill_tokens = 0, decode_tokens = 0, forward_passes = 0;
  uint64_t prefix_reused_tokens = 0, rolled_back_tokens = 0;
  uint64_t predicted_us = 0, actual_us = 0;  // of all passes
};

/// What an update of the weights did.
struct UpdateReport {
  std::string digest;       // of the weights that serve from then on
  uint64_t generation = 0;  // updates since the engine opened
  uint64_t drained_us = 0;  // for the requests that ran; nobody was let in meanwhile
  uint64_t swapped_us = 0;  // nobody ran meanwhile
};

struct EngineParts;

class Engine {
 public:
  /// Loads the model and starts the engine's thread. `sink` must outlive the engine.
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options, CompletionSink& sink);
  /// Of parts that were opened with the same options: a test's own.
  static std::unique_ptr<Engine> open(const EngineOptions& options, EngineParts parts,
                                      CompletionSink& sink);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ServedModel model() const;
  const EngineOptions& options() const { return options_; }
  /// That makes answers, and computes where no other device does.
  const device::Device& processor() const { return *processor_; }

  /// Takes requests from the front until the queue is full, of which each class of priority is sure
  /// of a part. A request that cannot be served is
  /// taken and completed at once: with REQUEST_INVALID naming the field that breaks a limit, with
  /// DEADLINE_EXCEEDED when its time is over or would not do even if nobody else were there, with
  /// ENGINE_OVERLOADED and a hint when those ahead of it make its deadline unreachable.
  SubmitOutcome submit(std::vector<Request> requests);
  /// Unknown tickets are ignored: they may just have finished.
  void cancel(std::span<const uint32_t> tickets);
  /// The number of prompts that a template and a codebook wrote and an adapter reads, known by the
  /// digests of their content; the last is empty for the base model. It outlives updates of the
  /// weights. Errors: ENGINE_CLOSED.
  Result<kv::Version> add_version(const std::string& template_digest,
                                  const std::string& codebook_digest,
                                  const std::string& adapter_digest = {});
  /// Requests with the adapter may go on with what the one that it follows has of their users, as
  /// far back as KvOptions::versions_back_max (kv::Pool::succeed). Both are known by the digests of
  /// their content. Lasts until the weights change.
  void succeed(const std::string& adapter_digest, const std::string& predecessor_digest);
  /// Nothing is found under the number any more; requests that have it go on. Unknown ones are
  /// ignored. What was kept under it is left to versions that follow it and are known by now.
  void drop_version(kv::Version version);
  /// See lora::Arena::load(). On the calling thread; requests go on meanwhile.
  Result<std::shared_ptr<const lora::Adapter>> load_adapter(const std::string& folder,
                                                            const lora::Limits& limits);
  lora::ArenaUse adapter_arena() const;
  /// Brings the user's keys and values to the device for the request that will be submitted under
  /// the ticket: at its arrival, while its prompt is made. Ended by cancel() where none comes.
  void prefetch(uint32_t ticket, kv::Version version, const std::string& user);
  /// Puts the weights of a folder in the place of those that serve: looks them through beside the
  /// requests, lets nobody in until those that run have ended, at most `wait_max` long, and then
  /// streams them into the same memory (Decoder::update). What the pool kept under the old ones is
  /// not found any more. Every answer is of one generation, and says of which. An error leaves the
  /// old weights. Errors: those of Decoder::prepare_update and update; MODEL_INVALID while there
  /// are adapters, which are of the old weights; DEADLINE_EXCEEDED when the requests that run did
  /// not end; ENGINE_OVERLOADED while another update is under way; ENGINE_CLOSED;
  /// ENGINE_UNAVAILABLE where the old weights did not come back either: every request is refused
  /// from then on.
  Result<UpdateReport> update_weights(const std::string& folder,
                                      std::chrono::microseconds wait_max);
  /// The weights that serve; the times are 0.
  UpdateReport weights() const;
  /// Null once the engine is closed.
  std::shared_ptr<kv::Pool> pool() const;
  /// As the decision between loading and computing sees them.
  kv::Rates kv_rates();

  /// Refuses new requests from now on; the others go on.
  void refuse_new();
  /// As refuse_new(), lets those accepted finish within `budget`, cancels the rest; returns when
  /// none is left and what they left behind is on disk, as far as the budget goes.
  void drain(std::chrono::microseconds budget);
  void close();
  Stats stats() const;

 private:
  Engine(const EngineOptions& options, EngineParts parts, CompletionSink& sink);

  struct PendingUpdate {
    model::WeightsUpdate update;
    Clock::time_point asked, give_up;
    Status status{};
    UpdateReport report{};
  };

  /// An accepted request that has not ended.
  void run();
  void end_update(Status status);
  bool attend_to_update(std::unique_lock<std::mutex>& lock);
  Status check(const Request& request, Clock::time_point now) const;
  AdmissionControl::Judged accept(const Request& request, Clock::time_point now, double& own_us);
  uint32_t kept_tokens(const Request& request) const;
  uint32_t place_free_in_us() const;
  void close_pool();
  void note_progress();
  bool is_ready(Request& request, Clock::time_point now);
  void admit_waiting(std::vector<Completion>& completed);
  void admit_loaded(Clock::time_point now, std::vector<Completion>& completed);
  bool admit(RequestQueue::Waiting& waiting, Clock::time_point now,
             std::vector<Completion>& completed);
  void sweep_ended(std::vector<Completion>& completed);
  void deliver(std::vector<Completion>& completed);

  const EngineOptions options_;
  const std::unique_ptr<device::Device> processor_;
  const std::shared_ptr<model::Decoder> decoder_;  // changed by the engine's thread alone
  const std::unique_ptr<lora::Arena> arena_;
  CompletionSink& sink_;
  const std::unique_ptr<LoopCounters> loop_counters_;
  // The engine's thread waits here: work arrived, blocks came, or stop. The pool's threads ring it.
  const std::shared_ptr<std::condition_variable> work_;
  std::shared_ptr<kv::Pool> pool_;    // set under mutex_
  const std::unique_ptr<Loop> loop_;  // engine thread only, but for check()

  mutable std::mutex mutex_;
  std::condition_variable idle_;                // drain and update_weights wait here
  RequestQueue queue_;                          // guarded by mutex_
  KvGate gate_;                                 // guarded by mutex_
  std::vector<RequestQueue::Waiting> loading_;  // out of the queue, waiting for blocks; guarded
  AdmissionControl admission_;                  // guarded by mutex_
  std::unordered_map<uint32_t, AdmissionControl::Admitted>
      in_flight_;  // by ticket; guarded by mutex_
  std::unordered_set<uint32_t>
      cancelled_;            // subset of in_flight_ that shall end; guarded by mutex_
  size_t delivering_ = 0;    // completions on their way to the sink; guarded by mutex_
  Stats counters_;           // guarded by mutex_
  PromptVersions versions_;  // guarded by mutex_
  PendingUpdate* pending_update_ = nullptr;  // of who waits in update_weights(); guarded by mutex_
  ServedModel model_;                        // guarded by mutex_
  uint64_t weights_generation_ = 0;          // guarded by mutex_
  bool is_swapping_ = false;                 // weights are being written; guarded by mutex_
  Status broken_;            // not ok: nothing can be computed any more, and why; guarded by mutex_
  std::mutex update_mutex_;  // serialises update_weights()
  bool draining_ = false;    // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
  std::mutex close_mutex_;   // serialises close()
  std::thread thread_;
};

}  // namespace tessera::engine
