// Lets requests go before background work. An engine of this process marks the time in which it has
// requests; threads of background passes (embedding) wait for its end between the parts of their
// loops.
//
// Thread-safety: any thread. A mark belongs to one driver.
#pragma once

#include <chrono>

namespace tessera::engine {

/// One driver's mark that it has requests. Ends with the object.
class Foreground {
 public:
  Foreground() = default;
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;
  ~Foreground() { end(); }

  /// Repeated calls change nothing.
  void begin();
  void end();

 private:
  bool is_marked_ = false;
};

/// Returns once no driver has requests, or after `most`.
void give_way(std::chrono::nanoseconds most);

/// For a thread of background work, before each piece of it: gives way for at most kGivenShare
/// times as long as the thread has worked since its last call, so that background work gets one
/// part in kGivenShare + 1 of a machine that is never idle. Returns how long that was.
std::chrono::nanoseconds give_way_for_share();

inline constexpr int kGivenShare = 15;
/// Work that counts at most: a thread may have slept since its last call.
inline constexpr std::chrono::milliseconds kWorkedMax{2};

}  // namespace tessera::engine
