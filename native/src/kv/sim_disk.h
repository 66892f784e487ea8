// A disk tier in memory that can lose, tear, flip and refuse: what the simulator crashes. The disk
// outlives the pools that are opened on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kv/block_store.h"

namespace tessera::kv {

/// Chances are in 1/1000 per call.
struct DiskFaults {
  uint32_t read_error = 0;
  uint32_t read_flip = 0;    // one bit of the bytes given is wrong
  uint32_t write_error = 0;  // disk full
  uint32_t sync_error = 0;
  uint32_t commit_full = 0;     // refused before anything was done
  uint32_t commit_unknown = 0;  // done or not, by chance
};

class SimDisk {
 public:
  SimDisk(uint32_t slot_count, uint64_t block_bytes, uint64_t seed);

  /// The store of one life of the process. The disk outlives it.
  std::unique_ptr<BlockStore> open();
  /// Keeps, loses or tears unsynced writes, slot by slot.
  void crash();
  /// Makes changes from the `calls`-th on have no effect: the process dies there.
  void die_after(uint32_t calls) { calls_left_ = calls; }
  bool is_dead() const { return calls_left_ == 0; }
  void flip_bit();
  /// Highest sequence of the heads that a restart would find; 0 without any.
  uint64_t highest_seq() const;

  DiskFaults faults;
  /// Heads that pointed to bytes that were not durable: must stay 0.
  uint64_t early_heads = 0;
  /// Writes to slots that a durable head pointed to: must stay 0.
  uint64_t overwritten_heads = 0;

 private:
  friend class SimStore;
  bool happens(uint32_t chance) { return random_() % 1000 < chance; }
  /// Counts a change; false when the process is dead.
  bool lives();
  bool is_in_head(SlotIndex slot) const;

  const uint64_t block_bytes_;
  std::mt19937_64 random_;
  uint32_t calls_left_ = UINT32_MAX;
  std::vector<std::vector<std::byte>> durable_;
  std::map<SlotIndex, std::vector<std::byte>> unsynced_;
  std::map<std::string, HeadRecord> heads_;
};

}  // namespace tessera::kv
