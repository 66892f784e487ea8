// A mutex that clang's -Wthread-safety knows: what GUARDED_BY names it is only touched, and what
// REQUIRES names it only called, where a MutexLock holds it. The analysis runs in `npm run check`;
// other compilers see a std::mutex and empty macros.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define TESSERA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TESSERA_THREAD_ATTRIBUTE(x)
#endif
#define GUARDED_BY(mutex) TESSERA_THREAD_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES(...) TESSERA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define LOCK_RETURNED(mutex) TESSERA_THREAD_ATTRIBUTE(lock_returned(mutex))
/// For a function that is right for a reason that the analysis cannot see; a comment says which.
#define NO_THREAD_SAFETY_ANALYSIS TESSERA_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace tessera {

class TESSERA_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() TESSERA_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() TESSERA_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() TESSERA_THREAD_ATTRIBUTE(try_acquire_capability(true)) {
    return mutex_.try_lock();
  }
  /// Says to the analysis that the caller holds it, where it cannot follow how.
  void assert_held() const TESSERA_THREAD_ATTRIBUTE(assert_capability(this)) {}
  /// Gives the mutex back until `changed` is notified, or for no reason; held again on return.
  void wait(std::condition_variable& changed) TESSERA_THREAD_ATTRIBUTE(requires_capability(this)) {
    std::unique_lock<std::mutex> held(mutex_, std::adopt_lock);
    changed.wait(held);
    held.release();
  }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a mutex until it is destroyed, but for the time between unlock() and lock().
class TESSERA_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TESSERA_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~MutexLock() TESSERA_THREAD_ATTRIBUTE(release_capability()) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() TESSERA_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }
  void unlock() TESSERA_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
  /// The mutex is held again when they return. `holds` is called with it: [&]() REQUIRES(mutex).
  template <typename Holds>
  void wait(std::condition_variable& changed, const Holds& holds) {
    changed.wait(lock_, holds);
  }
  template <typename Holds>
  bool wait_for(std::condition_variable& changed, std::chrono::nanoseconds time,
                const Holds& holds) {
    return changed.wait_for(lock_, time, holds);
  }
  void wait_for(std::condition_variable& changed, std::chrono::nanoseconds time) {
    changed.wait_for(lock_, time);
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// A mutex that any number may share, or one holds alone.
class TESSERA_THREAD_ATTRIBUTE(capability("mutex")) SharedMutex {
 public:
  void lock() TESSERA_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() TESSERA_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  void lock_shared() TESSERA_THREAD_ATTRIBUTE(acquire_shared_capability()) { mutex_.lock_shared(); }
  bool try_lock_shared() TESSERA_THREAD_ATTRIBUTE(try_acquire_shared_capability(true)) {
    return mutex_.try_lock_shared();
  }
  void unlock_shared() TESSERA_THREAD_ATTRIBUTE(release_shared_capability()) {
    mutex_.unlock_shared();
  }

 private:
  std::shared_mutex mutex_;
};

/// Holds a shared mutex alone.
class TESSERA_THREAD_ATTRIBUTE(scoped_lockable) AloneLock {
 public:
  explicit AloneLock(SharedMutex& mutex) TESSERA_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex.lock();
  }
  ~AloneLock() TESSERA_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  AloneLock(const AloneLock&) = delete;
  AloneLock& operator=(const AloneLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// Shares a shared mutex.
class TESSERA_THREAD_ATTRIBUTE(scoped_lockable) SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) TESSERA_THREAD_ATTRIBUTE(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex.lock_shared();
  }
  ~SharedLock() TESSERA_THREAD_ATTRIBUTE(release_generic_capability()) { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace tessera
