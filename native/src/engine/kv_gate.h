// Blocks on their way to the device: a prefetch begins when a request arrives, goes on while its
// prompt is made and while it waits for a place, and is cut off when its turn comes, unless what is
// still to come is worth waiting for (kv/load_plan.h), by rates that are measured all the while.
// The owner of the ticket owns its blocks: the front until the request is submitted, then the
// request's entry in the queue. So they are given back when that is erased, on whichever path.
//
// Thread-safety: KvGate from any thread; its lock is held for no longer than the pool's. The pool
// outlives it and all blocks on their way.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "base/mutex.h"
#include "engine/prompt_versions.h"
#include "engine/request.h"
#include "kv/load_plan.h"
#include "kv/pool.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

/// Blocks that were asked for on behalf of one ticket; none where nothing was to be brought.
struct ComingBlocks {
  kv::Prefetch prefetch;
  kv::Prefetch state;        // of the user's state, where the model has one
  bool is_decided = false;   // the request's turn has come
  bool was_looking = false;  // when that was decided: it is decided again once the look has ended
  Clock::time_point wait_from{};
  Clock::time_point wait_until{};
};
// Erasing the entry that has them is the release: no copy can keep them.
static_assert(!std::is_copy_constructible_v<ComingBlocks> &&
              std::is_nothrow_move_constructible_v<ComingBlocks>);

class KvGate {
 public:
  explicit KvGate(kv::Pool& pool) : pool_(pool) {}

  /// Brings up what the pool has of the user.
  ComingBlocks begin(PoolVersions versions, const std::string& user);
  /// True if the request need not wait for its blocks under versions of the pool, or no longer;
  /// its prefetch then ends and the request records how long it waited.
  bool is_ready(Request& request, ComingBlocks& coming, PoolVersions versions,
                Clock::time_point now, const scheduler::PassCost& cost);

  /// Tiers as measured so far, and prefill as it costs now.
  kv::Rates rates(Clock::time_point now, const scheduler::PassCost& cost);

 private:
  bool is_of(const Request& request, kv::Version version) const;
  Clock::time_point decide(const Request& request, PoolVersions versions, Clock::time_point now,
                           const scheduler::PassCost& cost) REQUIRES(mutex_);
  Clock::time_point look_end(const Request& request, kv::Version version, Clock::time_point now,
                             const scheduler::PassCost& cost) REQUIRES(mutex_);
  kv::Rates rates_locked(Clock::time_point now, const scheduler::PassCost& cost) REQUIRES(mutex_);

  kv::Pool& pool_;
  Mutex mutex_;
  kv::Rates tier_rates_ GUARDED_BY(mutex_);          // of the tiers alone
  Clock::time_point measured_ GUARDED_BY(mutex_){};  // when they were
};

}  // namespace tessera::engine
