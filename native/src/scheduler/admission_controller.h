// The admission controller: decides, when a request arrives, whether it may join the queue.
// Pure: no clock, no lock, no text. Times are microseconds of one clock that never goes back. Its
// constants are in admission_constants.h; its parts are admission.h (prediction, margin),
// class_credit.h (turns) and fair_share.h (order and places of the queue).
//
// Formula, for a request of class c whose deadline is `budget` away:
//
//   own    = alone * min(1, sharing)          its work, as the cost model predicts it
//   ahead  = running + queued(c)              work of others that is done first, each alone
//   end    = (own + ahead * sharing) * margin(c)
//   admit    end <= budget, and (c has its turn, or end <= kTurnsShare * budget)
//
// `sharing` (SharingRate) is the time that passes took divided by the time that the answered
// requests would have taken alone; passes and prefixes are shared, so it is usually below 1.
// queued(c) (work_before_us) follows fair queueing: the whole queue of c, and of each other class
// at most its weighted share of that time. `margin` (Punctuality) rises by a quarter with a late
// answer and falls with answers on time, until about kLateShare of the answers are late. The turn
// of c (ClassCredits) comes from credits: each class earns its weighted max-min share of the
// measured capacity, and pays for what it begins. A class that asks alone always has its turn.
//
// Verdicts:
//   kAdmitted  the request joins the queue and its class is charged
//   kHopeless  own > kDoubt * budget: late even in an empty engine; retrying cannot help
//   kTooBusy   end > budget; retry after end - budget
//   kNoTurn    in time, but the class has used its share; retry at its next turn
//
// States:
//   calm       the demand of all classes fits the capacity: every class has its turn
//   short      demand exceeds capacity, smoothed over kSmoothedUs: credits decide, and late answers
//              move a second margin, since newer requests then slow the passes of older ones
//   disturbed  margin above kDisturbed: the cause is a stall; the margin falls with time alone
//
// Forecast, for calls that are not parsed yet: wait(c) = ahead * sharing * margin(c), and the time
// until the next turn of c. It refuses nothing: the edge judges calls by its rate of answers.
//
// When it is wrong:
// - The cost model misjudges one request (a search takes more rows than its kind did before): the
//   margin corrects the average of a class, never a single request.
// - Load jumps: demand is smoothed, so the first second of an overload may admit in the wrong
//   shares. The debt that a class then has is bounded by kOverdrawnUs.
// - A stall makes many answers late at once: margins reach kMarginMax and need half a minute of
//   answers on time to return to kDisturbed. Meanwhile too many requests are refused.
// - Time that a call spends before it is submitted (event loop, parsing, preparation) is not
//   predicted: the forecast cannot see calls between the edge and the queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "scheduler/admission.h"
#include "scheduler/admission_constants.h"
#include "scheduler/class_credit.h"

namespace tessera::scheduler {

enum class Verdict : uint8_t { kAdmitted, kHopeless, kTooBusy, kNoTurn };

class AdmissionController {
 public:
  struct Candidate {
    size_t cls = 0;
    double alone_us = 0;
    double queued_us = 0;  // of requests that go first, each alone
    double now_us = 0, budget_us = 0;
  };
  struct Judgement {
    Verdict verdict = Verdict::kAdmitted;
    double charged_us = 0;      // kAdmitted: to the class
    bool is_short = false;      // kAdmitted: the state it was judged in
    double ahead_us = 0;        // kTooBusy: of the others, beside each other
    double retry_after_us = 0;  // kTooBusy, kNoTurn
  };
  Judgement judge(const Candidate& candidate);

  /// The state of the engine after a pass. `running_us`: left of the running requests, each alone.
  void note_progress(double running_us, double sharing);
  /// The engine had nothing to do until now.
  void note_idle(double now_us) { credits_.note_idle(now_us); }

  struct Admitted {
    size_t cls = 0;
    double submitted_us = 0, deadline_us = 0;
    double charged_us = 0;
    bool was_short = false;
  };
  enum class End : uint8_t { kAnswered, kLate, kCancelled, kFailed };
  /// An admitted request has ended: teaches margin and capacity.
  void note_ended(const Admitted& ended, End end, double now_us);

  /// For a call of a class that is not parsed yet.
  struct ClassForecast {
    double wait_us = 0;  // until the work ahead of it is done, with the margin
    double turn_us = 0;  // until its class has its next turn; 0: now
  };
  /// `queued_us`: as Candidate's, for a request of mean_alone_us().
  ClassForecast forecast(size_t cls, double queued_us, double now_us) const;
  /// Mean time of recent requests, admitted or not; 0 before the first.
  double mean_alone_us() const { return mean_alone_us_; }

  double sharing() const { return sharing_; }
  double running_us() const { return running_us_; }

 private:
  struct Margins {
    Punctuality calm{kMarginFirst};
    Punctuality busy{kMarginFirstShort};
  };
  Punctuality& margin_of(size_t cls, bool is_short) {
    return is_short ? margins_[cls].busy : margins_[cls].calm;
  }
  double margin_now(size_t cls) const {
    return (credits_.is_short() ? margins_[cls].busy : margins_[cls].calm).margin();
  }
  void note_mean(double alone_us);

  double running_us_ = 0;
  double sharing_ = 1;
  double mean_alone_us_ = 0;
  std::array<Margins, kClasses> margins_;
  ClassCredits credits_;
};

}  // namespace tessera::scheduler
