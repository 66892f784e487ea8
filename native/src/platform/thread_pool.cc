#include "platform/thread_pool.h"

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::platform {
namespace {

// About 20 microseconds: longer than the gap between two products of one layer, shorter than a
// scheduler tick.
constexpr int kSpins = 1000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `value` differs from `old`: spinning first, then asleep.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(uint32_t thread_count) : thread_count_(thread_count) {
  TESSERA_CHECK(thread_count >= 1 && thread_count <= kMaxThreads);
  workers_.reserve(thread_count - 1);
  for (uint32_t i = 1; i < thread_count; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(uint64_t count, Range range, void* context) {
  if (count == 0) return;
  if (thread_count_ == 1 || count == 1) {
    range(context, 0, count);
    return;
  }
  const std::lock_guard<std::mutex> only_caller(caller_);
  count_ = count;
  range_ = range;
  context_ = context;
  pending_.store(thread_count_ - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  run_range(0);
  for (uint32_t left = pending_.load(std::memory_order_acquire); left != 0;
       left = pending_.load(std::memory_order_acquire)) {
    wait_for_change(pending_, left);
  }
}

void ThreadPool::run_range(uint32_t thread) const {
  const uint64_t begin = count_ * thread / thread_count_;
  const uint64_t end = count_ * (thread + 1) / thread_count_;
  if (begin < end) range_(context_, begin, end);
}

void ThreadPool::work(uint32_t thread) {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(generation_, seen);
    // One step at a time: the caller advances only after every worker has finished the previous
    // generation.
    seen += 1;
    if (stop_.load(std::memory_order_relaxed)) return;
    run_range(thread);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace tessera::platform
