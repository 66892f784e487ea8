#include "bridge/lane.h"

#include <string>
#include <utility>

#include "bridge/errors.h"

namespace tessera::bridge {

/// Lanes of one environment; its instance data.
struct Lanes {
  LaneOptions options;
  /// An integrity check reads all of the disk: one at a time is enough.
  LaneLimits check_limits{.threads = 1, .waiting_max = 1};
  std::array<std::unique_ptr<Lane>, kLaneNames.size()> lanes;

  const LaneLimits& limits_of(LaneKind kind) const {
    switch (kind) {
      case LaneKind::kRead:
      case LaneKind::kEmbed:
      case LaneKind::kWrite: return options.serving;
      case LaneKind::kCheck: return check_limits;
      default: return options.rare;
    }
  }

  static Lanes& of(Napi::Env env) {
    auto* found = env.GetInstanceData<Lanes>();
    if (found == nullptr) {
      found = new Lanes;
      env.SetInstanceData<Lanes>(found);
      // All at once, before any engine: its own hook runs before theirs and ends what drains wait
      // for.
      for (size_t i = 0; i < kLaneNames.size(); ++i) {
        const LaneLimits& limits = found->limits_of(static_cast<LaneKind>(i));
        found->lanes[i].reset(new Lane(env, kLaneNames[i], limits));
      }
    }
    return *found;
  }
};

Lane& Lane::of(Napi::Env env, LaneKind kind) {
  return *Lanes::of(env).lanes[static_cast<size_t>(kind)];
}

void Lane::configure(Napi::Env env, const LaneOptions& options) {
  Lanes::of(env).options = options;
}

Lane::Lane(Napi::Env env, std::string_view name, const LaneLimits& limits)
    : name_(name), limits_(limits) {
  doorbell_ = Doorbell::New(env, "tessera lane", 0, 1, this);
  doorbell_.Unref(env);
  // Hooks run in the reverse order of their making: this one before the doorbell's own, so that the
  // threads are gone while it is still there.
  env.AddCleanupHook([](Lane* lane) { lane->close(); }, this);
}

Lane::~Lane() { close(); }

Napi::Promise Lane::start(Napi::Env env, Work work, Settle settle) {
  auto job = std::make_unique<Job>(
      Job{std::move(work), std::move(settle), Napi::Promise::Deferred::New(env), Status::ok()});
  const Napi::Promise promise = job->deferred.Promise();
  bool needs_thread = false;
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= limits_.waiting_max) {
      throw make_error(env, Code::kEngineOverloaded,
                       "tasks: expected at most " + std::to_string(limits_.waiting_max) +
                           " to wait in the lane '" + std::string(name_) + "', got another");
    }
    waiting_.push_back(std::move(job));
    needs_thread = waiting_.size() > idle_ && threads_.size() < limits_.threads;
  }
  if (needs_thread) threads_.emplace_back([this] { run(); });
  if (unsettled_++ == 0) doorbell_.Ref(env);
  ready_.notify_one();
  return promise;
}

LaneDepth Lane::depth() const {
  const MutexLock lock(mutex_);
  return {static_cast<uint32_t>(waiting_.size()), running_};
}

void Lane::run() {
  MutexLock lock(mutex_);
  for (;;) {
    ++idle_;
    lock.wait(ready_, [this]() REQUIRES(mutex_) { return stop_.load() || !waiting_.empty(); });
    --idle_;
    if (stop_.load()) return;
    std::unique_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    job->status = job->work(stop_);
    lock.lock();
    --running_;
    done_.push_back(std::move(job));
    doorbell_.NonBlockingCall();
  }
}

void Lane::call_js(Napi::Env env, Napi::Function, Lane* lane, void*) {
  // At teardown Node drains the queue after the environment is gone.
  if (env != nullptr) lane->settle_done(env);
}

void Lane::settle_done(Napi::Env env) {
  Jobs done;
  {
    const MutexLock lock(mutex_);
    done.swap(done_);
  }
  for (const std::unique_ptr<Job>& job : done) {
    try {
      const Napi::Value value = job->settle(env, job->status);
      if (job->status.is_ok()) {
        job->deferred.Resolve(value);
      } else {
        job->deferred.Reject(make_error(env, job->status).Value());
      }
    } catch (const Napi::Error& thrown) {
      job->deferred.Reject(thrown.Value());
    }
    if (--unsettled_ == 0) doorbell_.Unref(env);
  }
}

void Lane::close() {
  if (stop_.exchange(true)) return;
  {
    // A thread that has just looked at stop_ waits for this before it sleeps.
    const MutexLock lock(mutex_);
    waiting_.clear();
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  {
    const MutexLock lock(mutex_);
    done_.clear();
  }
  doorbell_.Release();
}

Napi::Promise run_in_lane(Napi::Env env, LaneKind kind, std::function<Status()> work,
                          Lane::Settle settle) {
  auto run = [work = std::move(work)](const Lane::Stop&) { return work(); };
  return Lane::of(env, kind).start(env, std::move(run), std::move(settle));
}

}  // namespace tessera::bridge
