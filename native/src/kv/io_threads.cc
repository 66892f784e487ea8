#include "kv/io_threads.h"

#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// How often a store that had to rest is looked at again.
constexpr std::chrono::milliseconds kRest{50};
/// Loads of one thread that stores have under way.
constexpr size_t kLoadsPendingMax = 16;

}  // namespace

IoThreads::IoThreads(PoolState& pool, uint32_t read_threads) : pool_(pool) {
  for (uint32_t i = 0; i < read_threads; ++i) threads_.emplace_back([this] { load(); });
  threads_.emplace_back([this] { store(); });
  for (const TierIndex which : pool.tiers.shared()) {
    threads_.emplace_back([this, which] { share(which); });
  }
}

IoThreads::~IoThreads() {
  {
    const MutexLock lock(pool_.mutex);
    pool_.is_stopping = true;
    pool_.loader.ready.notify_all();
    pool_.writer.ready.notify_all();
    pool_.sharing.ready.notify_all();
  }
  // A call that a store has under way must not hold its thread.
  for (const TierIndex which : pool_.tiers.shared()) pool_.tiers[which].shared->close();
  for (std::thread& thread : threads_) thread.join();
}

bool IoThreads::wait_for_loads() {
  MutexLock lock(pool_.mutex);
  lock.wait(pool_.loader.ready,
            [&]() REQUIRES(pool_.mutex) { return pool_.is_stopping || !pool_.loader.is_empty(); });
  return !pool_.is_stopping;
}

bool IoThreads::is_stopping() {
  const MutexLock lock(pool_.mutex);
  return pool_.is_stopping;
}

void IoThreads::load() {
  PoolWork work(pool_);
  std::deque<std::unique_ptr<LoadJob>> pending;  // begun, oldest first; their stores are at work
  auto job = std::make_unique<LoadJob>();
  while (!pending.empty() || wait_for_loads()) {
    while (pending.size() < kLoadsPendingMax && !is_stopping() && work.begin_load(*job)) {
      work.start(*job);
      if (work.has_ended(*job, 0)) {
        work.finish(*job);
      } else {
        pending.push_back(std::exchange(job, std::make_unique<LoadJob>()));
      }
    }
    const auto finish_ended = [&](const std::unique_ptr<LoadJob>& begun) {
      if (!work.has_ended(*begun, 0)) return false;
      work.finish(*begun);
      return true;
    };
    if (std::erase_if(pending, finish_ended) > 0 || pending.empty()) continue;
    (void)work.has_ended(*pending.front(), kTransferLookUs);
  }
}

void IoThreads::share(TierIndex which) {
  PoolWork work(pool_);
  ShareJob job;
  while (true) {
    pool_.tiers[which].shared->end_late();
    const bool any = work.begin_share(which, job);
    if (any) {
      work.perform(job);
      work.finish(job);
    }
    MutexLock lock(pool_.mutex);
    if (pool_.is_stopping) return;
    const bool has_failed = any && !job.status.is_ok();
    if (!any || has_failed) lock.wait_for(pool_.sharing.ready, kRest);
    if (pool_.is_stopping) return;
  }
}

void IoThreads::store() {
  PoolWork work(pool_);
  StoreJob job;
  while (true) {
    const bool any = work.begin_store(job);
    if (any) {
      work.perform(job);
      work.finish(job);
    }
    MutexLock lock(pool_.mutex);
    if (pool_.is_stopping) return;
    // Woken by commits, drops and retirements; the clock is only for what had to rest.
    if (!any) lock.wait_for(pool_.writer.ready, kRest);
    if (pool_.is_stopping) return;
  }
}

}  // namespace tessera::kv
