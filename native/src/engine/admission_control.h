// The engine's side of the admission controller (scheduler/admission_controller.h, which states the
// rule): turns points of time into microseconds and verdicts into a status. Not synchronised:
// guarded by the front's mutex.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "engine/request.h"
#include "engine/stats.h"
#include "scheduler/admission_controller.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

class AdmissionControl {
 public:
  explicit AdmissionControl(const scheduler::PassCost& cost) : cost_(cost) {}

  struct Arriving {
    uint8_t priority = 0;
    double own_us = 0;     // alone
    double queued_us = 0;  // of requests in the queue that go first, each alone
    Clock::time_point now, deadline;
  };
  struct Judged {
    Status status;
    double charged_us = 0;        // admitted: to its class
    bool is_short = false;        // admitted: while demand exceeded capacity
    uint32_t retry_after_us = 0;  // refused
  };
  /// Errors: DEADLINE_EXCEEDED for a request that would be late even alone; ENGINE_OVERLOADED.
  Judged judge(const Arriving& arriving);
  /// The retry hint when the queue is full: the mean time between answers. `queued_us`: of all.
  uint32_t place_free_in_us(double queued_us, size_t in_flight) const;
  /// True if a request that has waited is predicted to end late. The driver then drops it, since it
  /// would make other requests late as well.
  bool is_too_late(double alone_us, double left_us) const;

  /// The state of the engine after a pass. `running_us`: left of the running requests, each alone.
  void note_progress(const scheduler::PassCost& cost, double running_us, double sharing_rate);
  /// No request was in flight until now.
  void note_idle(Clock::time_point now);
  struct Admitted {
    uint8_t priority = 0;
    Clock::time_point submitted, deadline;
    double charged_us = 0;
    bool was_short = false;
  };
  /// An admitted request has ended: teaches the controller how good its prediction was.
  void note_ended(const Admitted& ended, const Status& status, Clock::time_point now);

  /// For calls that are not parsed yet. `queued_us`: by class, as Arriving's, for a request of
  /// mean_alone_us().
  Forecast forecast(const std::array<double, kPriorityClasses>& queued_us,
                    Clock::time_point now) const;
  /// Mean time of recent requests alone, microseconds; 0 before the first.
  double mean_alone_us() const { return controller_.mean_alone_us(); }

  const scheduler::PassCost& cost() const { return cost_; }
  /// Time until every running and waiting request has ended. `queued_us`: of all that wait.
  double backlog_us(double queued_us) const {
    return (controller_.running_us() + queued_us) * controller_.sharing();
  }

 private:
  scheduler::PassCost cost_;  // after the last pass
  scheduler::AdmissionController controller_;
};

}  // namespace tessera::engine
