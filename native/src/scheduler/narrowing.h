// Before a selection, for a request that would rather have a narrower search than none in time: how
// many beams it can afford until its end. Pure arithmetic on predicted work.
#pragma once

#include <cstdint>

#include "scheduler/admission.h"
#include "scheduler/cost_model.h"

namespace tessera::scheduler {

/// Predictions are stretched by this much: what the answer still needs after its last pass, and
/// what the cost model does not know.
inline constexpr double kNarrowingReserve = 1.25;

struct Narrowing {
  uint32_t width = 1;
  bool fits = true;  // false: even one beam is predicted to come too late
};

/// The width halved as often as it must be, but not below 1, for the passes that follow the
/// selection to be done within the budget. `after`: what is left once the selection is made, its
/// `beams` not read; `slowdown`: how much longer passes take beside other requests than alone,
/// >= 1; `chunk` as of alone_us().
Narrowing narrow(const PassCost& cost, RequestWork after, uint32_t width, double slowdown,
                 double budget_us, uint32_t chunk);

}  // namespace tessera::scheduler
