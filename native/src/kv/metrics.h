// Counts of the pool. Counters grow from zero at opening; gauges are as of the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::kv {

struct TierMetrics {
  std::string name;
  uint64_t capacity_blocks = 0;  // gauge
  uint64_t used_blocks = 0;      // gauge: everything but FREE
  uint64_t hit_tokens = 0;       // found by a lookup, where they lay before any prefetch
  uint64_t read_bytes = 0;       // out of the tier
  uint64_t written_bytes = 0;    // into the tier by transfers
  uint64_t read_us = 0;          // during which any of those was under way
  uint64_t written_us = 0;
  uint64_t evicted_blocks = 0;
  uint64_t evicted_dirty_blocks = 0;  // no lower tier had them
  double expected_block_us = 0;       // what a read is taken to cost while none was measured

  /// The rate of loading a block of `bytes`, in bytes per microsecond: as measured, or as expected
  /// before that; 0: unknown.
  double read_bytes_per_us(uint64_t bytes) const {
    if (read_us > 0) return static_cast<double>(read_bytes) / static_cast<double>(read_us);
    return expected_block_us > 0 ? static_cast<double>(bytes) / expected_block_us : 0;
  }
};

struct PoolMetrics {
  std::vector<TierMetrics> tiers;  // in the order of the list
  uint64_t chains = 0;             // gauge
  uint64_t chain_tokens = 0;       // gauge
  uint64_t graves = 0;       // gauge: chains given up whose last transfer or head is not yet gone
  uint64_t leases = 0;       // gauge
  uint64_t prefetching = 0;  // gauge: prefetches that have not ended
  uint64_t lookups = 0;
  uint64_t asked_tokens = 0;
  uint64_t inexact_tokens = 0;     // found, but through a lossy codec
  uint64_t inherited_tokens = 0;   // found, but computed under a version before the query's
  uint64_t inherited_chains = 0;   // passed on to a successor
  uint64_t commits = 0;            // appends that took effect
  uint64_t commits_rematched = 0;  // of them, behind another append that had come first
  uint64_t commits_lost = 0;  // parted from one that was first, or the user or version was dropped
  uint64_t refused_extends = 0;  // no block could be had
  uint64_t prefetches = 0;
  uint64_t prefetches_refused = 0;  // queue full
  uint64_t loads_failed = 0;        // read errors
  uint64_t loads_corrupt = 0;       // bytes that did not pass their checksum
  uint64_t loads_without_slot = 0;
  uint64_t load_wait_us = 0;    // from a prefetch's request to the start of its transfers
  uint64_t stores = 0;          // heads made durable
  uint64_t stores_dropped = 0;  // queue full
  uint64_t stores_failed = 0;
  uint64_t store_wait_us = 0;    // from commit to the start of the transfer
  uint64_t store_queue = 0;      // gauge
  uint64_t heads_corrupt = 0;    // found at opening
  uint64_t indexes_dropped = 0;  // at opening: damaged, and begun anew
  uint64_t looks = 0;            // for heads in stores that other processes use
  uint64_t looks_found = 0;      // of them, those that found the user
  uint64_t look_us = 0;          // spent in all of them
  uint64_t puts = 0;             // heads put there
  uint64_t puts_changed = 0;     // refused there: another process had been first
  uint64_t puts_erased = 0;      // refused there: the user was erased
  uint64_t puts_failed = 0;      // errors of the stores
  uint64_t loads_missing = 0;    // blocks that such a store has forgotten
  uint64_t heads_refused = 0;    // heads from there that were not what was asked for
  bool is_storing = true;        // false while a disk error holds stores back
  std::string store_error;       // the last one

  /// REQUIRES: the pool has such a tier.
  const TierMetrics& tier(std::string_view name) const {
    uint32_t at = 0;
    while (tiers[at].name != name) ++at;
    return tiers[at];
  }
};

}  // namespace tessera::kv
