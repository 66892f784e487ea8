#include "scheduler/row_forecast.h"

#include <algorithm>

namespace tessera::scheduler {

uint32_t RowForecast::predict(uint64_t kind, uint32_t at_first) {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return at_first;
  Seen& seen = found->second;
  if (seen.count > 0 && ++seen.predicted <= kPredictionsKept) return seen.quantile;
  seen = {};
  return at_first;
}

void RowForecast::observe(uint64_t kind, uint32_t rows) {
  const auto [at, is_new] = kinds_.try_emplace(kind);
  if (is_new) {
    order_.push_back(kind);
    if (order_.size() > kRowKindsMax) {
      kinds_.erase(order_.front());
      order_.pop_front();
    }
  }
  Seen& seen = at->second;
  seen.predicted = 0;
  seen.rows[seen.count++ % kRowsRemembered] = rows;
  std::array<uint32_t, kRowsRemembered> sorted = seen.rows;
  const size_t known = std::min(seen.count, kRowsRemembered);
  const auto place =
      sorted.begin() + static_cast<ptrdiff_t>(kRowQuantile * static_cast<double>(known - 1) + 0.5);
  std::nth_element(sorted.begin(), place, sorted.begin() + static_cast<ptrdiff_t>(known));
  seen.quantile = *place;
}

}  // namespace tessera::scheduler
