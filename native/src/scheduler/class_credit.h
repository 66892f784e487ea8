// Turns of the admission controller (admission_controller.h): while demand exceeds capacity,
// credits decide which class may begin a request. The queue keeps the shares among waiting requests
// (fair_share.h); deadlines keep that queue short, so the shares are kept here as well.
#pragma once

#include <array>
#include <cstddef>

#include "scheduler/fair_share.h"

namespace tessera::scheduler {

/// Divides the engine's time among the classes by what each asks for: weighted max-min fairness
/// (Bertsekas and Gallager, Data Networks, 6.5.2). The other classes get what one class leaves; a
/// class that asks for more always gets its weight's part.
std::array<double, kClasses> class_shares(const std::array<double, kClasses>& asked);

class ClassCredits {
 public:
  /// A request of the class arrives; the verdict does not matter. `work_us`: the engine's time that
  /// it takes beside the others.
  void note_asked(size_t cls, double work_us, double now_us);
  /// True while demand exceeds capacity.
  bool is_short() const { return is_short_; }
  /// Time until the class has its turn; 0: now, demand fits the capacity, or no other class asks.
  double until_turn_us(size_t cls, double now_us) const;
  /// Charges the class for a request that it begins.
  void take(size_t cls, double work_us);
  /// The engine had nothing to do until now.
  void note_idle(double now_us) { done_until_us_ = now_us; }
  /// A request that was charged `work_us` was answered in time.
  void note_done(double work_us, double now_us);

 private:
  std::array<double, kClasses> asked_{};  // demand: engine's time per time, smoothed
  std::array<double, kClasses> shares_{};
  std::array<double, kClasses> credits_us_{};
  double noted_us_ = 0;
  // Capacity: the share of busy time that becomes answers. Late requests and the gaps between
  // passes take the rest.
  double done_ = 1;
  double done_until_us_ = 0;
  bool is_short_ = false;

  bool others_ask(size_t cls) const;
};

}  // namespace tessera::scheduler
