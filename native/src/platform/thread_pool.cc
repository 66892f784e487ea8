#include "platform/thread_pool.h"

#include <sched.h>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::platform {
namespace {

// A few microseconds of pure spinning, for the gap between two products of one layer; then some
// tens of microseconds in which every look at the value first lets others run; then sleep.
constexpr int kSpins = 100;
constexpr int kYields = 60;
constexpr int kPausesPerYield = 8;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `value` differs from `old`.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  for (int i = 0; i < kYields; ++i) {
    ::sched_yield();
    for (int j = 0; j < kPausesPerYield; ++j) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause();
    }
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : thread_count_(options.thread_count),
      before_part_(options.before_part),
      ranges_(thread_count_ * (before_part_ ? kPartsOfBackground : 1)) {
  TESSERA_CHECK(thread_count_ >= 1 && thread_count_ <= kMaxThreads);
  workers_.reserve(thread_count_ - 1);
  for (uint32_t i = 1; i < thread_count_; ++i) {
    workers_.emplace_back([this, i] { work(i); });
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(uint32_t parts, Part part, void* context) {
  const MutexLock only_caller(caller_);
  parts_.store(parts, std::memory_order_relaxed);
  part_.store(part, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  unfinished_.store(parts, std::memory_order_relaxed);
  const uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  state_.store(uint64_t{generation} << 32 | parts, std::memory_order_release);
  generation_.store(generation, std::memory_order_release);
  generation_.notify_all();
  take_parts(0);
  for (uint32_t left = unfinished_.load(std::memory_order_acquire); left != 0;
       left = unfinished_.load(std::memory_order_acquire)) {
    wait_for_change(unfinished_, left);
  }
}

void ThreadPool::take_parts(uint32_t thread) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(state) != 0) {
    const uint32_t index = parts_.load(std::memory_order_relaxed) - static_cast<uint32_t>(state);
    const Part part = part_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    // Succeeds only if the generation is still the one whose parts_, part_ and context_ were read:
    // they change only when its parts are all taken.
    if (!state_.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      continue;
    }
    if (before_part_) before_part_();
    part(context, index, thread);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    state = state_.load(std::memory_order_acquire);
  }
}

void ThreadPool::work(uint32_t thread) {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(generation_, seen);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return;
    take_parts(thread);
  }
}

}  // namespace tessera::platform
