// Fork-join over a fixed number of threads: the caller is one of them. Ranges are static, so who
// computes what never depends on timing. Workers spin for a moment after their work and then sleep.
// Exceptions must not leave `fn`.
//
// Thread-safety: parallel_for may be called from any thread, one caller at a time (others wait);
// never from inside `fn`. Owner: device::Device. The destructor joins the workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace tessera::platform {

class ThreadPool {
 public:
  /// REQUIRES: 1 <= thread_count <= kMaxThreads. Starts thread_count - 1 workers.
  explicit ThreadPool(uint32_t thread_count);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  static constexpr uint32_t kMaxThreads = 256;

  uint32_t thread_count() const { return thread_count_; }

  /// Calls fn(begin, end) on contiguous ranges that cover [0, count), at most one per thread;
  /// returns when all are done. ENSURES: range i of thread i begins at count * i / thread_count.
  /// Nothing is allocated.
  template <typename Fn>
  void parallel_for(uint64_t count, Fn&& fn) {
    using Callable = std::remove_reference_t<Fn>;
    run(
        count,
        [](void* context, uint64_t begin, uint64_t end) {
          (*static_cast<Callable*>(context))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&fn)));
  }

 private:
  using Range = void (*)(void* context, uint64_t begin, uint64_t end);

  void run(uint64_t count, Range range, void* context);
  void run_range(uint32_t thread) const;
  void work(uint32_t thread);

  const uint32_t thread_count_;
  std::mutex caller_;  // held by the one caller that is inside parallel_for
  // Written by the caller before generation_ is advanced, read by workers after they see it.
  uint64_t count_ = 0;
  Range range_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> pending_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace tessera::platform
