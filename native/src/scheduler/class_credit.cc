#include "scheduler/class_credit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::scheduler {
std::array<double, kClasses> class_shares(const std::array<double, kClasses>& asked) {
  std::array<double, kClasses> shares{};
  std::array<bool, kClasses> is_settled{};
  double left = 1;
  for (bool settles = true; settles;) {
    settles = false;
    double weights = 0;
    for (size_t c = 0; c < kClasses; ++c) weights += is_settled[c] ? 0 : kClassWeights[c];
    const double per_weight = weights > 0 ? left / weights : 0;
    for (size_t c = 0; c < kClasses; ++c) {
      if (is_settled[c]) continue;
      shares[c] = per_weight * kClassWeights[c];
      if (asked[c] > shares[c]) continue;
      shares[c] = asked[c];
      left -= asked[c];
      is_settled[c] = settles = true;
    }
  }
  double asking = 0;
  for (size_t c = 0; c < kClasses; ++c) asking += asked[c] > 0 ? kClassWeights[c] : 0;
  for (size_t c = 0; c < kClasses; ++c) {
    const double others = asking - (asked[c] > 0 ? kClassWeights[c] : 0);
    shares[c] = std::max(shares[c], kClassWeights[c] / (kClassWeights[c] + others));
  }
  return shares;
}

void ClassCredits::note_asked(size_t cls, double work_us, double now_us) {
  const double passed_us = std::max(0.0, now_us - noted_us_);
  noted_us_ = now_us;
  const double kept = std::exp(-passed_us / kSmoothedUs);
  for (double& asked : asked_) asked *= kept;
  asked_[cls] += work_us / kSmoothedUs;
  const double capacity = std::clamp(done_, kDoneMin, kDoneMax);
  std::array<double, kClasses> asked_parts = asked_;
  for (double& part : asked_parts) part /= capacity;
  is_short_ = std::accumulate(asked_parts.begin(), asked_parts.end(), 0.0) > 1;
  shares_ = class_shares(asked_parts);
  for (double& share : shares_) share *= capacity;
  for (size_t c = 0; c < kClasses; ++c) {
    const double earned_us = credits_us_[c] + passed_us * shares_[c] * kSlack;
    credits_us_[c] = std::clamp(earned_us, -shares_[c] * kOverdrawnUs, shares_[c] * kSavedUs);
  }
}

bool ClassCredits::others_ask(size_t cls) const {
  const double all = std::accumulate(asked_.begin(), asked_.end(), 0.0);
  return all - asked_[cls] > kAskingMin * all;
}

double ClassCredits::until_turn_us(size_t cls, double now_us) const {
  if (!is_short_ || credits_us_[cls] >= 0 || !others_ask(cls)) return 0;
  const double passed_us = std::max(0.0, now_us - noted_us_);
  return std::max(0.0, -credits_us_[cls] / (shares_[cls] * kSlack) - passed_us);
}

void ClassCredits::note_done(double work_us, double now_us) {
  const double passed_us = std::max(0.0, now_us - done_until_us_);
  done_until_us_ = now_us;
  done_ = done_ * std::exp(-passed_us / kSmoothedUs) + work_us / kSmoothedUs;
}

void ClassCredits::take(size_t cls, double work_us) { credits_us_[cls] -= work_us; }

}  // namespace tessera::scheduler
