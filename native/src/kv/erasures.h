// Which users have been dropped since when, so that what began before keeps nothing behind it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace tessera::kv {

/// Numbers erasures and remembers the newest by a hash of the user. There is no clock in it: what
/// began before the oldest that is remembered counts as erased, as does a user whose hash is that
/// of another one; either costs what the request would have kept.
///
/// Thread-safety: last() from any thread; the others under the pool's lock.
class Erasures {
 public:
  static constexpr uint64_t kRemembered = 4096;

  /// Number of the newest; 0: there was none.
  uint64_t last() const { return last_.load(std::memory_order_acquire); }

  void note(std::string_view user) {
    const uint64_t number = last() + 1;
    hashes_[number % kRemembered] = std::hash<std::string_view>()(user);
    last_.store(number, std::memory_order_release);
  }

  /// True if the user was erased after erasure number `seen`.
  bool is_erased_since(std::string_view user, uint64_t seen) const {
    const uint64_t newest = last();
    if (seen >= newest) return false;
    if (newest - seen > kRemembered) return true;
    const size_t hash = std::hash<std::string_view>()(user);
    for (uint64_t number = newest; number > seen; --number) {
      if (hashes_[number % kRemembered] == hash) return true;
    }
    return false;
  }

 private:
  std::atomic<uint64_t> last_{0};
  std::array<size_t, kRemembered> hashes_{};
};

}  // namespace tessera::kv
