// Prediction and margin of the admission controller (admission_controller.h).
#pragma once

#include <cstdint>

#include "scheduler/admission_constants.h"
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

/// Microseconds that the work takes in an empty engine. `chunk`: prompt rows of a pass, > 0.
double alone_us(const PassCost& cost, const RequestWork& work, uint32_t chunk);

/// The time that passes take, divided by the time that their requests would take alone: requests
/// share passes and prefixes. Averages the last few dozen answers. Time since the last answer does
/// not count yet: it belongs to requests that have not ended.
class SharingRate {
 public:
  double rate() const { return busy_us_ / served_us_; }
  void busy(double us) { since_answer_us_ += us; }
  void served(double alone_us);

 private:
  double busy_us_ = 1e6;  // equal at first: nothing is shared
  double served_us_ = 1e6;
  double since_answer_us_ = 0;
};

struct Arrival {
  double own_us = 0;     // alone
  double ahead_us = 0;   // of the requests that go first, each alone
  double budget_us = 0;  // until the deadline
};

enum class Outlook : uint8_t {
  kInTime,
  kHopeless,  // later than the deadline even in an empty engine
  kTooBusy,   // later than the deadline because of the requests ahead
};

struct AdmissionDecision {
  Outlook outlook = Outlook::kInTime;
  double end_us = 0;          // predicted, with the margin; 0: the engine is empty
  double retry_after_us = 0;  // kTooBusy: when enough of the requests ahead will have ended
};

/// Compares the predicted end with the budget. `margin`: Punctuality's.
AdmissionDecision decide(const Arrival& arrival, double sharing_rate, double margin);

/// The factor by which predictions are stretched, so that few admitted requests end late.
class Punctuality {
 public:
  explicit Punctuality(double margin) : margin_(margin) {}
  double margin() const { return margin_; }
  void in_time(double now_us);
  /// A request that was admitted at `admitted_us` ended late. One admitted before the last raise
  /// was judged by a smaller margin and changes nothing.
  void late(double admitted_us, double now_us);

 private:
  double margin_;
  double raised_us_ = 0;
  double lowered_us_ = 0;
};

}  // namespace tessera::scheduler
