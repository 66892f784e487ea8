#include "kv/io_threads.h"

#include <chrono>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// How often a store that had to rest is looked at again.
constexpr std::chrono::milliseconds kRest{50};

}  // namespace

IoThreads::IoThreads(PoolState& pool, uint32_t read_threads) : pool_(pool) {
  for (uint32_t i = 0; i < read_threads; ++i) threads_.emplace_back([this] { load(); });
  threads_.emplace_back([this] { store(); });
}

IoThreads::~IoThreads() {
  {
    const std::lock_guard lock(pool_.mutex);
    pool_.is_stopping = true;
  }
  pool_.load_ready.notify_all();
  pool_.store_ready.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IoThreads::load() {
  PoolWork work(pool_);
  LoadJob job;
  while (true) {
    {
      std::unique_lock lock(pool_.mutex);
      pool_.load_ready.wait(lock, [&] { return pool_.is_stopping || !pool_.load_queue.empty(); });
      if (pool_.is_stopping) return;
    }
    while (work.begin_load(job)) {
      work.perform(job);
      work.finish(job);
      const std::lock_guard lock(pool_.mutex);
      if (pool_.is_stopping) return;
    }
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
    std::unique_lock lock(pool_.mutex);
    if (pool_.is_stopping) return;
    // Woken by commits, drops and retirements; the clock is only for what had to rest.
    if (!any) pool_.store_ready.wait_for(lock, kRest);
    if (pool_.is_stopping) return;
  }
}

}  // namespace tessera::kv
