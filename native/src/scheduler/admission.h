// Whether a request that arrives can be answered in time: pure arithmetic on predicted work.
#pragma once

#include <cstdint>

#include "scheduler/cost_model.h"

namespace tessera::scheduler {

/// The work that is left of a request.
struct RequestWork {
  uint32_t prompt_tokens = 0;
  uint32_t length = 0;        // of these, computed
  uint32_t selections = 0;    // left; one is due at the prompt's end, each further one needs a pass
  double beams = 0;           // per pass
  double cells_per_beam = 0;  // rows of the head that a beam is multiplied with
};

/// Microseconds if nobody else ran. `chunk`: prompt rows of a pass, > 0.
double alone_us(const PassCost& cost, const RequestWork& work, uint32_t chunk);

/// How much of what requests would take alone they do take beside each other: passes and prefixes
/// are shared. Follows the last few dozen answers: what has been computed since the last of them
/// is for requests that have not ended, and says nothing yet.
class SharingRate {
 public:
  double rate() const { return busy_us_ / served_us_; }
  void busy(double us) { since_answer_us_ += us; }
  void served(double alone_us);

 private:
  double busy_us_ = 1e6;  // as many of both to begin with: nothing is shared
  double served_us_ = 1e6;
  double since_answer_us_ = 0;
};

struct Arrival {
  double own_us = 0;     // alone
  double ahead_us = 0;   // of those that go first, each alone
  double budget_us = 0;  // until the deadline
};

enum class Outlook : uint8_t {
  kInTime,
  kHopeless,  // later than the deadline even if nobody were ahead
  kTooBusy,   // later than the deadline because of those ahead
};

struct AdmissionDecision {
  Outlook outlook = Outlook::kInTime;
  double end_us = 0;          // predicted, with the margin; 0: nobody is ahead
  double retry_after_us = 0;  // kTooBusy: when enough of those ahead will be gone
};

/// A prediction must miss the deadline by this much before a request is refused although nobody is
/// ahead of it: such a refusal is final, a late answer is only late.
inline constexpr double kDoubt = 1.25;

/// Classes take turns where so much of a request's time would go by with waiting. Below that
/// everybody is let in, so that a few requests of one class find the engine that is idle.
inline constexpr double kTurnsShare = 0.25;

/// Margins before anything was answered.
inline constexpr double kMarginFirst = 1.1, kMarginFirstShort = 1.5;

/// `margin`: how much longer than predicted an answer may take (Punctuality).
AdmissionDecision decide(const Arrival& arrival, double sharing_rate, double margin);

/// The margin by which predictions are stretched, so that of the requests that are admitted few end
/// late: raised by a quarter by a late one, lowered by each one in time, by a fiftieth a second at
/// most. One for each class, and another for times in which more is asked for than can be done:
/// then those who come later slow down the passes of those before them. Times in microseconds of
/// any one clock, never going back.
class Punctuality {
 public:
  explicit Punctuality(double margin) : margin_(margin) {}
  double margin() const { return margin_; }
  void in_time(double now_us);
  /// A request that was admitted at `admitted_us` ended late. Those admitted before the last raise
  /// were not judged by it and raise nothing.
  void late(double admitted_us, double now_us);

 private:
  double margin_;
  double raised_us_ = 0;
  double lowered_us_ = 0;
};

}  // namespace tessera::scheduler
