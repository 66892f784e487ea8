// What the engine is asked and what it answers. Plain values, moved between threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "beam/export.h"
#include "beam/select.h"
#include "engine/binding.h"

namespace tessera::engine {

using Clock = std::chrono::steady_clock;

struct Request {
  uint32_t ticket = 0;  // the caller's, unique among those in flight
  std::shared_ptr<const Binding> binding;
  std::vector<int32_t> prompt;
  std::vector<uint32_t> widths;  // per step; the last holds for all further steps
  uint32_t result_count = 0;
  uint32_t items_per_sid = 0;
  beam::ScoreNorm norm = beam::ScoreNorm::kFull;
  Clock::time_point deadline;
  Clock::time_point submitted;
};

/// Microseconds. A pass shared by several requests counts whole for each of them: it is what each
/// one waited.
struct Timings {
  float queue_us = 0;
  float prefill_us = 0;
  float decode_us = 0;
  float head_us = 0;
  float select_us = 0;
  float export_us = 0;
  float total_us = 0;
};
inline constexpr uint32_t kTimingSlots = 7;

struct Completion {
  uint32_t ticket = 0;
  Status status;
  beam::Exported answer;              // empty unless status is ok
  std::vector<uint32_t> widths_used;  // beams kept per step
  Timings timings;
};

/// Where finished requests go. Called on the engine's thread (and on the submitting thread for
/// requests refused at once); must not block and must not call back into the engine.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void complete(Completion completion) = 0;
};

}  // namespace tessera::engine
