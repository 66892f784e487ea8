#include "scheduler/admission.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tessera::scheduler {
namespace {

const double kLoweredPerAnswer = kLateShare * std::log(kRaise);
constexpr double kUsPerSecond = 1e6;

}  // namespace

double alone_us(const PassCost& cost, const RequestWork& work, uint32_t chunk) {
  TESSERA_CHECK(chunk > 0 && work.length <= work.prompt_tokens);
  const uint32_t left = work.prompt_tokens - work.length;
  const double chunks = std::ceil(static_cast<double>(left) / chunk);
  PassWork prompt;
  prompt.add_rows(left, work.length, true);
  uint32_t decodes = work.selections;
  if (left > 0 && decodes > 0) {
    --decodes;
    prompt.head = {work.cells_per_beam, work.cells_per_beam};
  }
  PassWork decode;
  decode.rows = decodes * work.beams;
  decode.pairs = decodes * work.beams * (work.prompt_tokens + 1.0);
  decode.head = {decodes * work.beams * work.cells_per_beam, decodes * work.cells_per_beam};
  // Two passes, not one sum: the few rows of a decode touch few experts.
  return cost.total_us(prompt, chunks) + cost.total_us(decode, decodes);
}

void SharingRate::served(double alone_us) {
  busy_us_ = busy_us_ * kForget + since_answer_us_;
  since_answer_us_ = 0;
  served_us_ = served_us_ * kForget + alone_us;
}

AdmissionDecision decide(const Arrival& arrival, double sharing_rate, double margin) {
  const double own_us = arrival.own_us * std::min(1.0, sharing_rate);
  if (own_us > arrival.budget_us * kDoubt) return {.outlook = Outlook::kHopeless};
  if (arrival.ahead_us <= 0) return {};
  const double end_us = (own_us + arrival.ahead_us * sharing_rate) * margin;
  if (end_us <= arrival.budget_us) return {.end_us = end_us};
  return {Outlook::kTooBusy, end_us, end_us - arrival.budget_us};
}

void Punctuality::in_time(double now_us) {
  const double us = std::min(now_us - lowered_us_, kUsPerSecond);
  const double by_time = kLoweredPerSecond * us / kUsPerSecond;
  const double lowered = margin_ > kDisturbed ? by_time : std::min(by_time, kLoweredPerAnswer);
  margin_ = std::max(kMarginMin, margin_ * (1 - lowered));
  lowered_us_ = now_us;
}

void Punctuality::late(double admitted_us, double now_us) {
  if (admitted_us < raised_us_) return;
  margin_ = std::min(kMarginMax, margin_ * kRaise);
  raised_us_ = now_us;
  lowered_us_ = now_us;
}

}  // namespace tessera::scheduler
