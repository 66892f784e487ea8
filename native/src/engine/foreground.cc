#include "engine/foreground.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>

#include "base/mutex.h"
#include "engine/request.h"

namespace tessera::engine {
namespace {

struct Shared {
  std::atomic<uint32_t> marked{0};   // drivers that have requests
  std::atomic<uint32_t> waiting{0};  // calls of give_way
  Mutex mutex;
  std::condition_variable idle;
};

Shared& shared() {
  static Shared of_process;
  return of_process;
}

}  // namespace

void Foreground::begin() {
  if (is_marked_) return;
  is_marked_ = true;
  shared().marked.fetch_add(1);
}

void Foreground::end() {
  if (!is_marked_) return;
  is_marked_ = false;
  Shared& s = shared();
  if (s.marked.fetch_sub(1) != 1 || s.waiting.load() == 0) return;
  { const MutexLock lock(s.mutex); }  // no thread is between reading `marked` and waiting
  s.idle.notify_all();
}

void give_way(std::chrono::nanoseconds most) {
  Shared& s = shared();
  if (s.marked.load() == 0) return;
  s.waiting.fetch_add(1);
  {
    MutexLock lock(s.mutex);
    lock.wait_for(s.idle, most, [&] { return s.marked.load() == 0; });
  }
  s.waiting.fetch_sub(1);
}

std::chrono::nanoseconds give_way_for_share() {
  thread_local Clock::time_point began;
  const Clock::time_point now = Clock::now();
  give_way(kGivenShare * std::min<Clock::duration>(now - began, kWorkedMax));
  began = Clock::now();
  return began - now;
}

}  // namespace tessera::engine
