// Classes of requests share the engine by weight: start-time fair queueing (Goyal, Vin, Cheng 1996)
// over predicted work, so that no class starves and a share that one class does not use goes to the
// others. Pure; times in microseconds of predicted work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::scheduler {

/// Parts of the engine that the classes of priority get while all of them wait: high, normal, low.
inline constexpr std::array<uint32_t, 3> kClassWeights{4, 2, 1};
inline constexpr size_t kClasses = kClassWeights.size();

/// The class whose turn it is among those that wait.
class FairShare {
 public:
  /// Before a class that was empty gets its first request: it has no claim to time gone by.
  void began_waiting(size_t cls);
  /// REQUIRES: at least one class waits. The class with the least service for its weight; the more
  /// urgent one of two that are equal.
  size_t next(const std::array<bool, kClasses>& is_waiting) const;
  /// A request of the class, of so much predicted work, was taken.
  void served(size_t cls, double work_us);

 private:
  std::array<double, kClasses> start_{};  // virtual time at which the class's first request starts
  double now_ = 0;                        // virtual time: start of the request taken last
};

/// Work that is done before a new request of the class is: what waits in its own class, and of the
/// others what waits there, but no more than their shares of that time.
double work_before_us(const std::array<double, kClasses>& waiting_us, size_t cls, double own_us);

/// One place in so many is kept for each class that has not filled it.
inline constexpr size_t kKeptPlaces = 16;

/// Whether a queue of `capacity` has a place for a request of the class, when so many of each wait.
bool has_place(const std::array<size_t, kClasses>& waiting, size_t cls, size_t capacity);

}  // namespace tessera::scheduler
