// Reports of the pool for operators.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kv/block.h"
#include "kv/identity.h"
#include "kv/tier.h"

namespace tessera::kv {

struct ChainReport {
  Digest version;
  bool is_retired = false;
  uint64_t seq = 0;
  uint32_t versions_back = 0;  // between the version that computed its front and this one
  uint32_t tokens = 0;         // committed, without the static prefix
  uint32_t prefix_tokens = 0;  // of the static prefix below
  PerTier<uint32_t> tier_tokens{};
  uint32_t durable_tokens = 0;  // what a restart would find
  uint64_t durable_seq = 0;     // of that; 0: nothing
  uint64_t unused_us = 0;       // since its last lookup or append
};

/// How an integrity check shares the machine.
struct CheckPace {
  /// After a burst of work of at least `burst_us` it rests, in the proportion of rest_us to
  /// burst_us; 0: it never rests. REQUIRES: burst_us > 0 where rest_us > 0.
  uint32_t burst_us = 0, rest_us = 0;
  /// Looked at before each block; null: never. A cancelled inspection reports what it has seen.
  std::function<bool()> is_cancelled;
};

struct IntegrityReport {
  uint64_t chains = 0;
  uint64_t blocks = 0;
  uint64_t checked_disk_blocks = 0;
  uint64_t corrupt_disk_blocks = 0;
  uint64_t unreadable_disk_blocks = 0;
  std::vector<std::string> faults;  // of our own accounting; empty unless there is a bug
};

}  // namespace tessera::kv
