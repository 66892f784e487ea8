// Blocks on their way to the device: a prefetch begins when a request arrives, goes on while its
// prompt is made and while it waits for a place, and is cut off when its turn comes, unless what is
// still to come is worth waiting for (kv/load_plan.h), by rates that are measured all the while.
//
// Thread-safety: any thread; its lock is held for no longer than the pool's. The pool outlives it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/mutex.h"
#include "engine/request.h"
#include "kv/load_plan.h"
#include "kv/pool.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

class KvGate {
 public:
  /// At most `prefetches_max` at a time; a further one is not begun.
  KvGate(kv::Pool& pool, uint32_t prefetches_max) : pool_(pool), prefetches_max_(prefetches_max) {}

  /// Brings up what the pool has of the user, for the request that will come under the ticket.
  void prefetch(uint32_t ticket, kv::Version version, const std::string& user);
  /// Whether the request need not wait for its blocks under a version of the pool, or not any
  /// longer; then its prefetch is over and the request says how long it waited.
  bool is_ready(Request& request, kv::Version version, Clock::time_point now,
                const scheduler::PassCost& cost);
  /// Cuts a prefetch off whose request does not come, or has ended.
  void drop(uint32_t ticket);
  void clear();

  /// Tiers as measured so far, and prefill as it costs now.
  kv::Rates rates(Clock::time_point now, const scheduler::PassCost& cost);

 private:
  struct Coming {
    kv::Prefetch prefetch;
    bool is_decided = false;  // the request's turn has come
    Clock::time_point wait_from{};
    Clock::time_point wait_until{};
  };

  Clock::time_point decide(const Request& request, kv::Version version, Clock::time_point now,
                           const scheduler::PassCost& cost) REQUIRES(mutex_);
  kv::Rates rates_locked(Clock::time_point now, const scheduler::PassCost& cost) REQUIRES(mutex_);

  kv::Pool& pool_;
  const uint32_t prefetches_max_;
  Mutex mutex_;
  std::unordered_map<uint32_t, Coming> prefetches_ GUARDED_BY(mutex_);  // by ticket
  kv::Rates tier_rates_ GUARDED_BY(mutex_);                             // of the tiers alone
  Clock::time_point measured_ GUARDED_BY(mutex_){};                     // when they were
};

}  // namespace tessera::engine
