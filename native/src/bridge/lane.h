// Threads for calls that take time, apart from libuv's few, on which Node reads files and looks up
// names. A lane has threads of its own and a bounded queue, so that a call waits only for
// calls of its own kind: calls that requests wait for never queue behind rare and long ones.
//
// Lifetime: made with the environment's first call, closed by a cleanup hook: queued calls are
// dropped, the running ones are asked to end and waited for.
#pragma once

#include <napi.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace tessera::bridge {

/// Kind by what a call waits for; requests wait for read, write and embed, the rest is rare and
/// long.
enum class LaneKind : uint8_t {
  kRead,    // records that are not in memory, eligibility: the disk, a pass over the catalogue
  kWrite,   // behaviours and records: the disk
  kEmbed,   // texts that become vectors: passes, one per model
  kBuild,   // open, load, compact, look weights through: files and computing
  kChange,  // changes of a catalogue: its one writer
  kErase,   // users that are erased: the disk
  kCheck,   // integrity: everything on disk, as slowly as it takes
  kEnd,     // drain, close: requests that run
};
inline constexpr std::array<std::string_view, 8> kLaneNames = {"read",   "write", "embed", "build",
                                                               "change", "erase", "check", "end"};

struct LaneLimits {
  uint32_t threads = 0;
  uint32_t waiting_max = 0;
};

struct LaneOptions {
  LaneLimits serving{.threads = 4, .waiting_max = 16384};  // of read, write and embed, each
  LaneLimits rare{.threads = 2, .waiting_max = 256};       // of the others, each
};

struct LaneDepth {
  uint32_t waiting = 0, running = 0;
};

class Lane {
 public:
  /// Set when the environment is being torn down: a long call looks at it now and then.
  using Stop = std::atomic<bool>;
  using Work = std::function<Status(const Stop&)>;
  using Settle = std::function<Napi::Value(Napi::Env, const Status&)>;

  /// The lane of this environment. JavaScript thread.
  static Lane& of(Napi::Env env, LaneKind kind);
  /// For threads that are not started yet and calls that are not queued yet. JavaScript thread.
  static void configure(Napi::Env env, const LaneOptions& options);

  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// `work` runs on a thread of the lane; `settle` runs on the JavaScript thread afterwards, also
  /// when the work failed (its value is then ignored and the promise rejects with the Status).
  /// Throws ENGINE_OVERLOADED where too many wait. JavaScript thread.
  Napi::Promise start(Napi::Env env, Work work, Settle settle);
  LaneDepth depth() const;

 private:
  struct Job {
    Work work;
    Settle settle;
    Napi::Promise::Deferred deferred;
    Status status;
  };
  using Jobs = std::deque<std::unique_ptr<Job>>;
  static void call_js(Napi::Env env, Napi::Function callback, Lane* lane, void* data);
  using Doorbell = Napi::TypedThreadSafeFunction<Lane, void, &Lane::call_js>;
  friend struct Lanes;

  Lane(Napi::Env env, std::string_view name, const LaneLimits& limits);
  void run();
  void settle_done(Napi::Env env);
  void close();

  const std::string_view name_;
  const LaneLimits& limits_;
  Doorbell doorbell_;
  uint32_t unsettled_ = 0;  // JavaScript thread; keeps the event loop alive while above 0
  Stop stop_{false};
  mutable Mutex mutex_;
  std::condition_variable ready_;
  Jobs waiting_ GUARDED_BY(mutex_);
  Jobs done_ GUARDED_BY(mutex_);
  uint32_t running_ GUARDED_BY(mutex_) = 0, idle_ GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;  // JavaScript thread
};

/// Lane::start() in the lane of a kind, for work that looks at no stop.
Napi::Promise run_in_lane(Napi::Env env, LaneKind kind, std::function<Status()> work,
                          Lane::Settle settle);

}  // namespace tessera::bridge
