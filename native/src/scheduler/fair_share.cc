#include "scheduler/fair_share.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::scheduler {
void FairShare::began_waiting(size_t cls) { start_[cls] = std::max(start_[cls], now_); }

size_t FairShare::next(const std::array<bool, kClasses>& is_waiting) const {
  size_t chosen = kClasses;
  for (size_t c = 0; c < kClasses; ++c) {
    if (is_waiting[c] && (chosen == kClasses || start_[c] < start_[chosen])) chosen = c;
  }
  TESSERA_CHECK(chosen < kClasses);
  return chosen;
}

void FairShare::served(size_t cls, double work_us) {
  now_ = std::max(now_, start_[cls]);
  start_[cls] += work_us / kClassWeights[cls];
}

double work_before_us(const std::array<double, kClasses>& waiting_us, size_t cls, double own_us) {
  double before = waiting_us[cls];
  for (size_t c = 0; c < kClasses; ++c) {
    if (c == cls) continue;
    const double share = (waiting_us[cls] + own_us) * kClassWeights[c] / kClassWeights[cls];
    before += std::min(waiting_us[c], share);
  }
  return before;
}

bool has_place(const std::array<size_t, kClasses>& waiting, size_t cls, size_t capacity) {
  size_t taken = 0;
  for (size_t c = 0; c < kClasses; ++c) {
    const size_t kept = c == cls ? 0 : capacity / kKeptPlaces;
    taken += std::max(waiting[c], kept);
  }
  return taken < capacity;
}

}  // namespace tessera::scheduler
