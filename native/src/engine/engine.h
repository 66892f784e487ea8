// The engine: owns the model, the front that its callers touch (front.h) and the thread that runs
// passes (driver.h). The only folder that knows every other one; no JavaScript here.
//
// Threads: open, submit, cancel, stats from any thread; drain and close from any thread but the
// engine's own. close() is idempotent: stop -> join -> discard. Completions are delivered through
// the sink until close() returns, never after.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/driver.h"
#include "engine/front.h"
#include "engine/loop.h"
#include "engine/options.h"
#include "engine/request.h"
#include "engine/served_model.h"
#include "engine/stats.h"
#include "lora/arena.h"

namespace tessera::engine {

struct EngineParts;
/// Opens an engine's parts on a card, by its number (cuda/engine/open_on_card.h).
using OpenOnCard = Result<EngineParts> (*)(EngineOptions& options, uint32_t card);

class Engine {
 public:
  /// Loads the model and starts the engine's thread. `sink` must outlive the engine.
  /// `open_on_card` opens the parts where options.device names a card; with null, the call then
  /// fails with ENGINE_UNAVAILABLE.
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options, CompletionSink& sink,
                                              OpenOnCard open_on_card = nullptr);
  /// Opens an engine over parts opened with the same options: for tests.
  static std::unique_ptr<Engine> open(const EngineOptions& options, EngineParts parts,
                                      CompletionSink& sink);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ServedModel model() const { return front_.model(); }
  const EngineOptions& options() const { return options_; }
  /// That makes answers, and computes where no other device does.
  const device::Device& processor() const { return *processor_; }

  /// Accepts requests in their order until the queue is full; each priority class has places of its
  /// own. A request that cannot be served is accepted and completed at once: with REQUEST_INVALID
  /// and the field that breaks a limit; with DEADLINE_EXCEEDED if its deadline has passed, or is
  /// too near even for an empty engine; with ENGINE_OVERLOADED and a hint if the requests ahead of
  /// it make its deadline unreachable.
  SubmitOutcome submit(std::vector<Request> requests);
  /// Unknown tickets are ignored: they may just have finished.
  void cancel(std::span<const uint32_t> tickets);
  /// The number of prompts that a template and a codebook wrote and an adapter reads, known by the
  /// digests of their content; the last is empty for the base model. It outlives updates of the
  /// weights. Errors: ENGINE_CLOSED.
  Result<kv::Version> add_version(const std::string& template_digest,
                                  const std::string& codebook_digest,
                                  const std::string& adapter_digest = {}) {
    return front_.add_version({template_digest, codebook_digest, adapter_digest});
  }
  /// Requests with the adapter may go on with what the one that it follows has of their users, as
  /// far back as KvOptions::versions_back_max (kv::Pool::succeed). Both are known by the digests of
  /// their content. Lasts until the weights change.
  void succeed(const std::string& adapter_digest, const std::string& predecessor_digest) {
    front_.succeed(adapter_digest, predecessor_digest);
  }
  /// The pool no longer finds blocks under the number; requests that have it go on. Versions that
  /// follow it and are known by now inherit its blocks. An unknown number is ignored.
  void drop_version(kv::Version version) { front_.drop_version(version); }
  /// See lora::Arena::load(). On the calling thread; requests go on meanwhile.
  Result<std::shared_ptr<const lora::Adapter>> load_adapter(const std::string& folder,
                                                            const lora::Limits& limits);
  lora::ArenaUse adapter_arena() const;
  /// Brings the user's keys and values to the device for the request that will be submitted under
  /// the ticket: at its arrival, while its prompt is made. Ended by cancel() where none comes.
  void prefetch(uint32_t ticket, kv::Version version, const std::string& user) {
    front_.prefetch(ticket, version, user);
  }
  /// Replaces the serving weights by a folder's: checks them while requests run, stops admission
  /// until the running requests have ended, at most `wait_max`, and then streams them into the same
  /// memory (Decoder::update). The pool no longer finds blocks of the old weights. Every answer
  /// names the one generation that computed it. An error leaves the old weights. Errors: those of
  /// Decoder::prepare_update and update; MODEL_INVALID while adapters are loaded, since they belong
  /// to the old weights; DEADLINE_EXCEEDED if running requests did not end; ENGINE_OVERLOADED while
  /// another update is under way; ENGINE_CLOSED; ENGINE_UNAVAILABLE if restoring the old weights
  /// failed too: every later request is refused.
  Result<UpdateReport> update_weights(const std::string& folder,
                                      std::chrono::microseconds wait_max);
  /// The weights that serve; the times are 0.
  UpdateReport weights() const { return front_.weights(); }
  /// Null once the engine is closed.
  std::shared_ptr<kv::Pool> pool() const { return front_.pool(); }
  /// Rates as the decision between loading and computing sees them.
  kv::Rates kv_rates() { return front_.kv_rates(); }

  /// Refuses new requests from now on; the others go on.
  void refuse_new() { front_.refuse_new(); }
  /// As refuse_new(), lets those accepted finish within `budget`, cancels the rest; returns when
  /// none is left and what they left behind is on disk, as far as the budget goes.
  void drain(std::chrono::microseconds budget);
  void close();
  Stats stats() const;
  Forecast forecast() const { return front_.forecast(); }

 private:
  Engine(const EngineOptions& options, EngineParts parts, CompletionSink& sink);

  const EngineOptions options_;
  const std::unique_ptr<device::Device> processor_;
  const std::shared_ptr<model::Decoder> decoder_;  // changed by the engine's thread alone
  const std::unique_ptr<lora::Arena> arena_;
  CompletionSink& sink_;
  const std::unique_ptr<LoopCounters> loop_counters_;
  // The engine's thread waits here: work arrived, blocks arrived, or stop. The pool's threads ring
  // it.
  const std::shared_ptr<std::condition_variable> work_;
  const std::unique_ptr<Loop> loop_;  // engine thread only
  Front front_;
  Driver driver_;
  std::atomic<bool> is_updating_{false};  // one update_weights() at a time
  Mutex close_mutex_;
  std::thread thread_;  // joined under close_mutex_
};

}  // namespace tessera::engine
