// Memory that forward passes write, sized once: rows, their final hidden states, logits. Owned by
// one engine thread; a decoder may be shared by many threads, each with memory of its own. Made by
// a decoder, for that decoder alone.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "model/expert_use.h"

namespace tessera::model {

/// Times of one forward pass, microseconds; the rest of its time went into norms, rope, operands.
/// Zero where the device does not tell them apart.
struct ForwardTimes {
  float projections_us = 0;  // products with the layers' weights
  float attention_us = 0;
};

class PassMemory {
 public:
  virtual ~PassMemory() = default;
  PassMemory(const PassMemory&) = delete;
  PassMemory& operator=(const PassMemory&) = delete;

  uint32_t max_rows() const { return max_rows_; }
  /// Times of the last pass.
  const ForwardTimes& times() const { return times_; }
  /// Experts that the last pass used, where the device counts them.
  const ExpertUse& expert_use() const { return expert_use_; }
  /// Memory of the process that head() brings results to without another copy: `count` floats, good
  /// until the next call. Errors: ENGINE_OVERLOADED.
  virtual Result<float*> results(uint64_t count) = 0;

 protected:
  PassMemory() = default;

  uint32_t max_rows_ = 0;
  uint32_t rows_ = 0;  // of the last pass
  ForwardTimes times_;
  ExpertUse expert_use_;
};

}  // namespace tessera::model
