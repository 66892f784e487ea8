#include "scheduler/admission.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tessera::scheduler {
namespace {

constexpr double kForget = 0.95;  // of the past, at each answer

}  // namespace

double alone_us(const PassCost& cost, const RequestWork& work, uint32_t chunk) {
  TESSERA_CHECK(chunk > 0 && work.length <= work.prompt_tokens);
  const uint32_t left = work.prompt_tokens - work.length;
  double passes = std::ceil(static_cast<double>(left) / chunk);
  PassWork total;
  total.add_rows(left, work.length, true);
  uint32_t decodes = work.selections;
  if (left > 0 && decodes > 0) {
    --decodes;
    total.cells += work.cells_per_beam;
  }
  passes += decodes;
  total.rows += decodes * work.beams;
  total.pairs += decodes * work.beams * (work.prompt_tokens + 1.0);
  total.cells += decodes * work.beams * work.cells_per_beam;
  return passes * cost.pass_us + cost.marginal_us(total);
}

void SharingRate::served(double alone_us) {
  busy_us_ *= kForget;
  served_us_ = served_us_ * kForget + alone_us;
}

AdmissionDecision decide(const Arrival& arrival, double sharing_rate) {
  const double own_us = arrival.own_us * std::min(1.0, sharing_rate);
  const double ahead_us = arrival.ahead_us * sharing_rate;
  const double budget_us = arrival.budget_us * kDoubt;
  if (own_us > budget_us) return {Verdict::kHopeless, 0};
  if (own_us + ahead_us <= budget_us) return {};
  return {Verdict::kTooBusy, own_us + ahead_us - budget_us};
}

}  // namespace tessera::scheduler
