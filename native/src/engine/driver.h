// The engine's thread: takes arrived calls from the front, admits requests, runs passes and
// delivers completions. Its state is its own, so it holds no lock while it admits, copies blocks or
// computes.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "engine/foreground.h"
#include "engine/front.h"
#include "engine/loop.h"
#include "engine/request_queue.h"

namespace tessera::engine {

class Driver {
 public:
  /// All outlive the driver, and `loop` its run.
  Driver(const EngineOptions& options, Front& front, Loop& loop, model::Decoder& decoder,
         CompletionSink& sink)
      : options_(options), front_(front), loop_(loop), decoder_(decoder), sink_(sink) {}

  /// Until the front stops. On the engine's thread.
  void run();
  /// After run(): completes all that is left with this status.
  void discard(const Status& status);

 private:
  bool has_work() const { return !queue_.empty() || !loading_.empty() || loop_.running() > 0; }
  void take();
  bool attend_to_update();
  Status ended_status(const Request& request, Clock::time_point now) const;
  void sweep_ended(std::vector<Completion>& completed);
  bool admit(RequestQueue::Waiting& waiting, Clock::time_point now,
             std::vector<Completion>& completed);
  void admit_loaded(Clock::time_point now, std::vector<Completion>& completed);
  void admit_waiting(std::vector<Completion>& completed);
  void deliver(std::vector<Completion>& completed);

  const EngineOptions& options_;
  Front& front_;
  Loop& loop_;
  model::Decoder& decoder_;
  CompletionSink& sink_;
  Foreground foreground_;
  Front::Taken taken_;
  RequestQueue queue_;
  std::vector<RequestQueue::Waiting> loading_;  // out of the queue, waiting for blocks
  std::unordered_set<uint32_t> cancelled_;      // tickets in flight that shall end
};

}  // namespace tessera::engine
