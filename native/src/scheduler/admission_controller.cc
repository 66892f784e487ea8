#include "scheduler/admission_controller.h"

#include <algorithm>

namespace tessera::scheduler {

void AdmissionController::note_mean(double alone_us) {
  const double past = mean_alone_us_ == 0 ? alone_us : mean_alone_us_;
  mean_alone_us_ = past * kForget + alone_us * (1 - kForget);
}

AdmissionController::Judgement AdmissionController::judge(const Candidate& candidate) {
  const size_t cls = candidate.cls;
  const double ahead_us = running_us_ + candidate.queued_us;
  const double charged_us = candidate.alone_us * sharing_;
  credits_.note_asked(cls, charged_us, candidate.now_us);
  note_mean(candidate.alone_us);
  const AdmissionDecision decision =
      decide({candidate.alone_us, ahead_us, candidate.budget_us}, sharing_, margin_now(cls));
  if (decision.outlook == Outlook::kHopeless) return {.verdict = Verdict::kHopeless};
  if (decision.outlook == Outlook::kTooBusy) {
    return {.verdict = Verdict::kTooBusy,
            .ahead_us = ahead_us * sharing_,
            .retry_after_us = decision.retry_after_us};
  }
  const bool takes_turns = decision.end_us > kTurnsShare * candidate.budget_us;
  const double turn_us = takes_turns ? credits_.until_turn_us(cls, candidate.now_us) : 0;
  if (turn_us > 0) return {.verdict = Verdict::kNoTurn, .retry_after_us = turn_us};
  credits_.take(cls, charged_us);
  return {.charged_us = charged_us, .is_short = credits_.is_short()};
}

void AdmissionController::note_progress(double running_us, double sharing) {
  running_us_ = running_us;
  sharing_ = sharing;
}

void AdmissionController::note_ended(const Admitted& ended, End end, double now_us) {
  Punctuality& margin = margin_of(ended.cls, ended.was_short);
  if (end == End::kAnswered) {
    margin.in_time(now_us);
    credits_.note_done(ended.charged_us, now_us);
  }
  const double given_up_us = (ended.deadline_us - ended.submitted_us) * kGivenUpShare;
  const bool is_given_up = end == End::kCancelled && now_us - ended.submitted_us > given_up_us;
  if (end == End::kLate || is_given_up) margin.late(ended.submitted_us, now_us);
}

AdmissionController::ClassForecast AdmissionController::forecast(size_t cls, double queued_us,
                                                                 double now_us) const {
  return {.wait_us = (running_us_ + queued_us) * sharing_ * margin_now(cls),
          .turn_us = credits_.until_turn_us(cls, now_us)};
}

}  // namespace tessera::scheduler
