// What background work gives way to: requests that an engine of this process computes. An engine
// says when it has some; background passes (texts that become vectors) wait between their layers.
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

/// Returns once no driver has requests, or after `most`: background work gets a share of a machine
/// that is never idle.
void give_way(std::chrono::microseconds most);

}  // namespace tessera::engine
