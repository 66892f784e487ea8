#include "engine/admission_control.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace tessera::engine {
namespace {

constexpr double kRetryAfterUsMin = 1'000;
constexpr double kRetryAfterUsMax = 60e6;
/// A caller counts from before its request arrives, and cancels at its deadline: one that cancels
/// after so much of the time would have had a late answer.
constexpr double kGivenUpShare = 0.9;

uint32_t retry_hint(double us) {
  return static_cast<uint32_t>(std::clamp(us, kRetryAfterUsMin, kRetryAfterUsMax));
}

double microseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string milliseconds(double us) { return std::to_string(std::llround(us / 1000)) + " ms"; }

}  // namespace

AdmissionControl::Judged AdmissionControl::judge(const Arriving& arriving) {
  const double own_us = arriving.own_us;
  const double budget_us = microseconds_of(arriving.deadline - arriving.now);
  const double ahead_us = running_us_ + arriving.queued_us;
  credits_.note_asked(arriving.priority, own_us * sharing_rate_,
                      microseconds_of(arriving.now.time_since_epoch()));
  const double margin = punctuality_[arriving.priority].of(credits_.is_short()).margin();
  const auto decision = scheduler::decide({own_us, ahead_us, budget_us}, sharing_rate_, margin);
  if (decision.outlook == scheduler::Outlook::kInTime) {
    return judge_turn(arriving, decision.end_us / budget_us);
  }
  if (decision.outlook == scheduler::Outlook::kHopeless) {
    return {.status = {Code::kDeadlineExceeded, "the answer needs about " + milliseconds(own_us) +
                                                    ", the deadline leaves " +
                                                    milliseconds(budget_us)}};
  }
  return {
      .status = {Code::kEngineOverloaded, "requests ahead of this one need about " +
                                              milliseconds(ahead_us * sharing_rate_) +
                                              ", the deadline leaves " + milliseconds(budget_us)},
      .retry_after_us = retry_hint(decision.retry_after_us)};
}

/// A request that can be in time still waits for the turn of its class where more is asked for than
/// can be done. `waited_share`: of its time, until its answer.
AdmissionControl::Judged AdmissionControl::judge_turn(const Arriving& arriving,
                                                      double waited_share) {
  const bool takes_turns = waited_share > scheduler::kTurnsShare;
  const double turn_us = takes_turns ? credits_.until_turn_us(arriving.priority) : 0;
  if (turn_us > 0) {
    return {.status = {Code::kEngineOverloaded,
                       "more is asked for than can be done, and this priority has had its share: "
                       "its next turn is in " +
                           milliseconds(turn_us)},
            .retry_after_us = retry_hint(turn_us)};
  }
  const double charged_us = arriving.own_us * sharing_rate_;
  credits_.take(arriving.priority, charged_us);
  return {.status = Status::ok(), .charged_us = charged_us, .is_short = credits_.is_short()};
}

uint32_t AdmissionControl::place_free_in_us(double queued_us, size_t in_flight) const {
  return retry_hint(backlog_us(queued_us) / static_cast<double>(std::max<size_t>(1, in_flight)));
}

bool AdmissionControl::is_too_late(double alone_us, double left_us) const {
  return alone_us * std::min(1.0, sharing_rate_) > left_us;
}

void AdmissionControl::note_progress(const scheduler::PassCost& cost, double running_us,
                                     double sharing_rate) {
  cost_ = cost;
  running_us_ = running_us;
  sharing_rate_ = sharing_rate;
}

void AdmissionControl::note_idle(Clock::time_point now) {
  credits_.note_idle(microseconds_of(now.time_since_epoch()));
}

void AdmissionControl::note_ended(const Admitted& ended, const Status& status,
                                  Clock::time_point now) {
  scheduler::Punctuality& punctuality = punctuality_[ended.priority].of(ended.was_short);
  const double now_us = microseconds_of(now.time_since_epoch());
  if (status.is_ok()) {
    punctuality.in_time(now_us);
    credits_.note_done(ended.charged_us, now_us);
  }
  const bool is_given_up =
      status.code() == Code::kCancelled &&
      now - ended.submitted > (ended.deadline - ended.submitted) * kGivenUpShare;
  if (status.code() == Code::kDeadlineExceeded || is_given_up) {
    punctuality.late(microseconds_of(ended.submitted.time_since_epoch()), now_us);
  }
}

}  // namespace tessera::engine
