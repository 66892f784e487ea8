// Load or compute: how many of the blocks that lie below the device are worth waiting for. A pure
// function of measured rates.
#pragma once

#include <cstdint>
#include <span>

#include "kv/block.h"
#include "kv/tier.h"

namespace tessera::kv {

/// Rates that the engine and the pool have measured.
struct Rates {
  PerTier<double> bytes_per_us{};    // out of each; 0: not known, taken as endless
  double compute_token_us = 0;       // per token without context
  double compute_token_pair_us = 0;  // more per token and token of context before it
};

struct LoadQuestion {
  uint32_t device_tokens = 0;          // there already
  uint32_t prompt_tokens = 0;          // in all
  std::span<const TierIndex> missing;  // tier of each block behind the device's, in order
  /// Of a state without which keys and values are of no use: tiers of its blocks that are not on
  /// the device. Where there are any, all of them and all of `missing` are loaded, or nothing is.
  std::span<const TierIndex> state = {};
  uint64_t block_bytes = 0;
  uint64_t hidden_us = 0;            // until the features are ready: loads cost nothing so far
  PerTier<uint64_t> queued_bytes{};  // that other loads of the tier have before this one
};

struct LoadPlan {
  uint32_t blocks = 0;        // to load of `missing`, from the front
  bool loads_state = false;   // and all of `state`
  double load_us = 0;         // of those, hidden or not
  double predicted_us = 0;    // exposed load and compute of what is left
  double compute_all_us = 0;  // the same with nothing loaded
};

/// The number of blocks for which the prediction is smallest; the larger one of equals, for loading
/// leaves the processor to others.
LoadPlan plan_load(const LoadQuestion& question, const Rates& rates);

/// A rate that follows measurements: bytes and time decay alike, so that short transfers weigh
/// little. Thread-safety: none.
class RateMeter {
 public:
  void add(double amount, double us) {
    amount_ = amount_ * kDecay + amount;
    us_ = us_ * kDecay + us;
  }
  /// Amount per microsecond; 0 before the first measurement.
  double rate() const { return us_ > 0 ? amount_ / us_ : 0; }

 private:
  static constexpr double kDecay = 0.98;
  double amount_ = 0;
  double us_ = 0;
};

}  // namespace tessera::kv
