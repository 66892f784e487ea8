#include "engine/admission_control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

namespace tessera::engine {
namespace {

using scheduler::AdmissionController;
using scheduler::Verdict;

uint32_t retry_hint(double us) {
  return static_cast<uint32_t>(
      std::clamp(us, scheduler::kRetryAfterUsMin, scheduler::kRetryAfterUsMax));
}

double microseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string milliseconds(double us) { return std::to_string(std::llround(us / 1000)) + " ms"; }

constexpr std::array<const char*, kPriorityClasses> kClassNames{"high", "normal", "low"};

AdmissionController::End end_of(const Status& status) {
  if (status.is_ok()) return AdmissionController::End::kAnswered;
  if (status.code() == Code::kDeadlineExceeded) return AdmissionController::End::kLate;
  if (status.code() == Code::kCancelled) return AdmissionController::End::kCancelled;
  return AdmissionController::End::kFailed;
}

}  // namespace

AdmissionControl::Judged AdmissionControl::judge(const Arriving& arriving) {
  const double budget_us = microseconds_of(arriving.deadline - arriving.now);
  const auto judged = controller_.judge({.cls = arriving.priority,
                                         .alone_us = arriving.own_us,
                                         .queued_us = arriving.queued_us,
                                         .now_us = microseconds_of(arriving.now.time_since_epoch()),
                                         .budget_us = budget_us});
  const auto left = [&] { return "deadline in " + milliseconds(budget_us); };
  const uint32_t retry_after_us = retry_hint(judged.retry_after_us);
  switch (judged.verdict) {
    case Verdict::kHopeless:
      return {.status = {Code::kDeadlineExceeded, "deadline too short: this request needs about " +
                                                      milliseconds(arriving.own_us) + ", " +
                                                      left()}};
    case Verdict::kTooBusy:
      return {
          .status = {Code::kEngineOverloaded, "overloaded: requests ahead of this one need about " +
                                                  milliseconds(judged.ahead_us) + ", " + left()},
          .retry_after_us = retry_after_us};
    case Verdict::kNoTurn:
      return {.status = {Code::kEngineOverloaded, std::string("overloaded: priority '") +
                                                      kClassNames[arriving.priority] +
                                                      "' has used its share; retry after " +
                                                      milliseconds(judged.retry_after_us)},
              .retry_after_us = retry_after_us};
    case Verdict::kAdmitted: break;
  }
  return {.status = Status::ok(), .charged_us = judged.charged_us, .is_short = judged.is_short};
}

uint32_t AdmissionControl::place_free_in_us(double queued_us, size_t in_flight) const {
  return retry_hint(backlog_us(queued_us) / static_cast<double>(std::max<size_t>(1, in_flight)));
}

bool AdmissionControl::is_too_late(double alone_us, double left_us) const {
  return alone_us * std::min(1.0, controller_.sharing()) > left_us;
}

void AdmissionControl::note_progress(const scheduler::PassCost& cost, double running_us,
                                     double sharing_rate) {
  cost_ = cost;
  controller_.note_progress(running_us, sharing_rate);
}

void AdmissionControl::note_idle(Clock::time_point now) {
  controller_.note_idle(microseconds_of(now.time_since_epoch()));
}

void AdmissionControl::note_ended(const Admitted& ended, const Status& status,
                                  Clock::time_point now) {
  controller_.note_ended({.cls = ended.priority,
                          .submitted_us = microseconds_of(ended.submitted.time_since_epoch()),
                          .deadline_us = microseconds_of(ended.deadline.time_since_epoch()),
                          .charged_us = ended.charged_us,
                          .was_short = ended.was_short},
                         end_of(status), microseconds_of(now.time_since_epoch()));
}

Forecast AdmissionControl::forecast(const std::array<double, kPriorityClasses>& queued_us,
                                    Clock::time_point now) const {
  const double now_us = microseconds_of(now.time_since_epoch());
  Forecast forecast;
  for (size_t c = 0; c < kPriorityClasses; ++c) {
    const auto of_class = controller_.forecast(c, queued_us[c], now_us);
    forecast.classes[c] = {.wait_us = of_class.wait_us, .turn_us = of_class.turn_us};
  }
  return forecast;
}

}  // namespace tessera::engine
