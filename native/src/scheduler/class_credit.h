// Which class may begin while more is asked for than can be done: credits of time by weighted
// max-min shares of what the classes ask for. The queue keeps the shares among those that wait
// (fair_share.h); where deadlines keep it short, it is here that they are kept. Pure; times in
// microseconds. The edge does the same before a call is parsed
// (libs/edge/admission/src/class-shares.ts).
#pragma once

#include <array>
#include <cstddef>

#include "scheduler/fair_share.h"

namespace tessera::scheduler {

/// The part of the engine's time that each class may take, when each asks for so much of it:
/// weighted max-min fairness (Bertsekas and Gallager, Data Networks, 6.5.2). What one class leaves
/// goes to the others; a class that asks for more is always sure of its weight's part.
std::array<double, kClasses> class_shares(const std::array<double, kClasses>& asked);

class ClassCredits {
 public:
  /// A request of the class arrives, whatever becomes of it. `work_us`: engine's time that it takes
  /// beside the others.
  void note_asked(size_t cls, double work_us, double now_us);
  /// Whether more is asked for than there is.
  bool is_short() const { return is_short_; }
  /// Microseconds until the class has its turn; 0: now, or there is enough for all.
  double until_turn_us(size_t cls) const;
  /// A request of the class is begun.
  void take(size_t cls, double work_us);
  /// There was nothing to do until now.
  void note_idle(double now_us) { done_until_us_ = now_us; }
  /// A request that was begun with so much work was answered in time.
  void note_done(double work_us, double now_us);

 private:
  std::array<double, kClasses> asked_{};  // engine's time asked for per time, smoothed
  std::array<double, kClasses> shares_{};
  std::array<double, kClasses> credits_us_{};
  double noted_us_ = 0;
  // Engine's time that becomes answers, per time in which there is something to do: the rest goes
  // to what ends late, and to the gaps between passes.
  double done_ = 1;
  double done_until_us_ = 0;
  bool is_short_ = false;
};

}  // namespace tessera::scheduler
