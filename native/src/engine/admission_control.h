// Whether a request that arrives may wait in the queue: what is known of the engine's pace, put to
// the rules of scheduler/admission.h and scheduler/class_credit.h. Not synchronised: guarded by the
// engine's mutex.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "engine/request.h"
#include "scheduler/admission.h"
#include "scheduler/class_credit.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

class AdmissionControl {
 public:
  explicit AdmissionControl(const scheduler::PassCost& cost) : cost_(cost) {}

  struct Arriving {
    uint8_t priority = 0;
    double own_us = 0;     // alone
    double queued_us = 0;  // of those in the queue that go first, each alone
    Clock::time_point now, deadline;
  };
  /// The decision on one that arrives.
  struct Judged {
    Status status;
    double charged_us = 0;        // to its class, where it may wait
    bool is_short = false;        // more was asked for than can be done
    uint32_t retry_after_us = 0;  // where it may not
  };
  /// Errors: DEADLINE_EXCEEDED where it would be late even alone; ENGINE_OVERLOADED.
  Judged judge(const Arriving& arriving);
  /// The hint for who found the queue full: the mean time between answers. `queued_us`: of all.
  uint32_t place_free_in_us(double queued_us, size_t in_flight) const;
  /// Whether a request that waited is predicted to end late: it is not begun, since it would make
  /// others late as well.
  bool is_too_late(double alone_us, double left_us) const;

  /// How far the running ones are. `running_us`: what is left of them, each alone.
  void note_progress(const scheduler::PassCost& cost, double running_us, double sharing_rate);
  /// Nobody is in flight until now.
  void note_idle(Clock::time_point now);
  struct Admitted {
    uint8_t priority = 0;
    Clock::time_point submitted, deadline;
    double charged_us = 0;
    bool was_short = false;
  };
  /// Whether an admitted request ended in time corrects the admission of the next ones.
  void note_ended(const Admitted& ended, const Status& status, Clock::time_point now);

  const scheduler::PassCost& cost() const { return cost_; }
  /// Until all that run or wait have ended. `queued_us`: of all that wait, each alone.
  double backlog_us(double queued_us) const { return (running_us_ + queued_us) * sharing_rate_; }

 private:
  Judged judge_turn(const Arriving& arriving, double waited_share);

  scheduler::PassCost cost_;  // of the last pass on
  double running_us_ = 0;
  double sharing_rate_ = 1;
  struct Punctualities {
    scheduler::Punctuality calm{scheduler::kMarginFirst};
    scheduler::Punctuality busy{scheduler::kMarginFirstShort};
    scheduler::Punctuality& of(bool is_short) { return is_short ? busy : calm; }
  };
  std::array<Punctualities, kPriorityClasses> punctuality_;
  scheduler::ClassCredits credits_;
};

}  // namespace tessera::engine
