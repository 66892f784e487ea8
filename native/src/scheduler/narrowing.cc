#include "scheduler/narrowing.h"

namespace tessera::scheduler {

Narrowing narrow(const PassCost& cost, RequestWork after, uint32_t width, double slowdown,
                 double budget_us, uint32_t chunk) {
  Narrowing narrowing{width, true};
  for (;; narrowing.width /= 2) {
    after.beams = narrowing.width;
    const double needed_us = alone_us(cost, after, chunk) * slowdown * kNarrowingReserve;
    if (needed_us <= budget_us) return narrowing;
    if (narrowing.width == 1) break;
  }
  narrowing.fits = false;
  return narrowing;
}

}  // namespace tessera::scheduler
