// Order and places of the queue, of the admission controller (admission_controller.h). Classes
// share the engine by weight: start-time fair queueing (Goyal, Vin, Cheng 1996) over predicted
// work, so no class starves and the others use what one class leaves. Times are microseconds of
// predicted work.
#pragma once

#include <array>
#include <cstddef>

#include "scheduler/admission_constants.h"

namespace tessera::scheduler {

/// Chooses the class whose oldest request leaves the queue next.
class FairShare {
 public:
  /// A class that was empty is about to get a request: it has no claim to the time before.
  void began_waiting(size_t cls);
  /// The class with the least service for its weight; of two that are equal, the more urgent one.
  /// REQUIRES: at least one class waits.
  size_t next(const std::array<bool, kClasses>& is_waiting) const;
  /// A request of the class, of so much predicted work, was taken.
  void served(size_t cls, double work_us);

 private:
  std::array<double, kClasses> start_{};  // virtual time at which the class's first request starts
  double now_ = 0;                        // virtual time: start of the request taken last
};

/// Work that the engine does before a new request of the class ends: its own class's queue, and of
/// each other class what waits there, at most that class's share of the time.
double work_before_us(const std::array<double, kClasses>& waiting_us, size_t cls, double own_us);

/// True if a queue of `capacity` has a place for a request of the class. `waiting`: requests of
/// each class in the queue.
bool has_place(const std::array<size_t, kClasses>& waiting, size_t cls, size_t capacity);

}  // namespace tessera::scheduler
