// Statistics of the engine and its requests.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "scheduler/admission_constants.h"

namespace tessera::engine {

enum class Refusal : uint8_t { kNone, kQueueFull, kDraining };

struct SubmitOutcome {
  uint32_t accepted = 0;  // requests taken from the front
  Refusal refusal = Refusal::kNone;
  uint32_t retry_after_us = 0;  // kQueueFull: when a place may be free; 0 else
};

struct Stats {
  uint64_t queued = 0, running = 0, submitted = 0, completed = 0, failed = 0, cancelled = 0,
           expired = 0;
  // As of now: requests whose completions are still to come, and prefetches of tickets whose
  // requests are still being made.
  uint64_t in_flight = 0, reserved = 0;
  uint64_t prefill_tokens = 0, decode_tokens = 0, forward_passes = 0;
  uint64_t prefix_reused_tokens = 0, rolled_back_tokens = 0;
  uint64_t predicted_us = 0, actual_us = 0;  // of all passes
  // As the cost model has them now, microseconds: of a pass whatever its tokens, of a token that is
  // computed among others, and more for each token before it; until all that is queued or runs has
  // ended.
  double pass_us = 0, token_us = 0, token_pair_us = 0, backlog_us = 0;
  // Of all layers and passes, as model::ExpertUse counts them.
  uint64_t expert_rows = 0, expert_places = 0, experts_touched = 0;
};

/// For a call of one priority class that is not parsed yet, microseconds.
struct ClassForecast {
  double wait_us = 0;  // until the work ahead of it is done, with the margin
  double turn_us = 0;  // until the next turn of the class; 0: now
};

struct Forecast {
  std::array<ClassForecast, scheduler::kClasses> classes;
};

/// The outcome of an update of the weights.
struct UpdateReport {
  std::string digest;       // of the weights that serve from then on
  uint64_t generation = 0;  // updates since the engine opened
  uint64_t drained_us = 0;  // waiting for running requests, with admission stopped
  uint64_t swapped_us = 0;  // writing the weights, with no request running
};

}  // namespace tessera::engine
