// Fork-join over a fixed number of threads: the caller is one of them. The parts of a fork are
// fixed by their index; any free thread takes the next part, so a descheduled worker delays no
// other, and results must not depend on the thread. A worker that waits for the next fork first
// spins, yielding its CPU to other threads, and then sleeps. Exceptions must not leave `fn`.
//
// Thread-safety: forks may be started from any thread, one caller at a time (others wait); never
// from inside `fn`. Owner: device::Device. The destructor joins the workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/mutex.h"

namespace tessera::platform {

struct ThreadPoolOptions {
  uint32_t thread_count = 1;  // the caller included
  /// For background work: every thread calls this before each part, and may wait in it. Loops are
  /// then cut into kPartsOfBackground parts a thread, so that it is called often.
  std::function<void()> before_part = nullptr;
};

class ThreadPool {
 public:
  /// REQUIRES: 1 <= thread_count <= kMaxThreads. Starts thread_count - 1 workers.
  explicit ThreadPool(const ThreadPoolOptions& options);
  explicit ThreadPool(uint32_t thread_count)
      : ThreadPool(ThreadPoolOptions{.thread_count = thread_count}) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  static constexpr uint32_t kMaxThreads = 256;
  static constexpr uint32_t kPartsOfBackground = 8;

  uint32_t thread_count() const { return thread_count_; }

  /// Calls fn(begin, end) on contiguous ranges that cover [0, count); returns when all are done.
  /// ENSURES: of n ranges, range i begins at count * i / n. Nothing is allocated.
  template <typename Fn>
  void parallel_for(uint64_t count, Fn&& fn) {
    if (ranges_ == 1 || count <= 1) {
      if (count > 0) fn(uint64_t{0}, count);
      return;
    }
    auto range = [&](uint32_t part, uint32_t) {
      const uint64_t begin = count * part / ranges_;
      const uint64_t end = count * (part + 1) / ranges_;
      if (begin < end) fn(begin, end);
    };
    parallel_tasks(ranges_, range);
  }

  /// Calls fn(task, thread) for every task of [0, count), begun in the order of their numbers;
  /// returns when all are done. `thread` < thread_count() is the thread's number, for memory of its
  /// own. Nothing is allocated.
  template <typename Fn>
  void parallel_tasks(uint32_t count, Fn&& fn) {
    if (thread_count_ == 1 || count <= 1) {
      for (uint32_t task = 0; task < count; ++task) {
        if (before_part_) before_part_();
        fn(task, uint32_t{0});
      }
      return;
    }
    fork(count, fn);
  }

 private:
  using Part = void (*)(void* context, uint32_t part, uint32_t thread);

  template <typename Fn>
  void fork(uint32_t parts, Fn& fn) {
    run(
        parts,
        [](void* context, uint32_t part, uint32_t thread) {
          (*static_cast<Fn*>(context))(part, thread);
        },
        const_cast<void*>(static_cast<const void*>(&fn)));
  }

  void run(uint32_t parts, Part part, void* context);
  void take_parts(uint32_t thread);
  void work(uint32_t thread);

  const uint32_t thread_count_;
  const std::function<void()> before_part_;
  const uint32_t ranges_;  // of a loop
  Mutex caller_;           // held by the one caller that is inside a fork

  // The fork. The caller writes it while no part is left to take; a thread that reads it late has
  // its claim on `state_` refused.
  alignas(64) std::atomic<uint32_t> parts_{0};
  std::atomic<Part> part_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<uint32_t> generation_{0};  // forks so far; what idle workers wait on
  std::atomic<bool> stop_{false};
  /// Generation in the upper half, parts not yet taken in the lower.
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // parts of this fork
  std::vector<std::thread> workers_;
};

}  // namespace tessera::platform
