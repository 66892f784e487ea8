// The pool's list of tiers: the device's memory, and the block stores below it, nearest first.
//
// Thread-safety: the list stays as it was opened; slots and policies under the lock of the pool,
// stores and memory as they say themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kv/block_store.h"
#include "kv/eviction.h"
#include "kv/memory.h"
#include "kv/metrics.h"
#include "kv/options.h"
#include "kv/shared_store.h"
#include "kv/slot.h"
#include "kv/tier.h"

namespace tessera::kv {

struct Tier {
  std::unique_ptr<SlotTable> slots;  // as many as the tier's capacity
  std::unique_ptr<EvictionList> order = std::make_unique<EvictionList>();  // of its chains
  std::unique_ptr<BlockStore> store;  // none: the device, or a tier without capacity
  SharedStore* shared = nullptr;      // the store, where other processes use it as well
  TierMetrics metrics;                // its name among them
  uint32_t reads = 0;                 // under way
  uint64_t reading_since_us = 0;      // of them, not yet counted in metrics.read_us

  /// Reads overlap: the time of the tier is counted, not that of each.
  void begin_read(uint64_t now_us) {
    if (reads++ == 0) reading_since_us = now_us;
  }
  void end_read(uint64_t now_us) {
    metrics.read_us += now_us - reading_since_us;
    reading_since_us = now_us;
    --reads;
  }
  bool has_room() const { return slots->count() > 0; }
};

class Tiers {
 public:
  /// Opens what the options name, and takes their memory and stores. Errors: KV_POOL_INVALID,
  /// KV_STORE_INVALID, IO_FAILED.
  Status open(PoolOptions& options);

  Tier& operator[](TierIndex tier) { return list_[tier]; }
  const Tier& operator[](TierIndex tier) const { return list_[tier]; }
  Tier& device() { return list_[kDevice]; }
  BlockMemory& memory() { return *memory_; }
  uint32_t count() const { return static_cast<uint32_t>(list_.size()); }
  TierRange all() const { return {0, count()}; }
  TierRange below(TierIndex tier) const { return {tier + 1u, count()}; }
  bool any_below(TierIndex tier) const;
  /// Below the device, but for those that other processes use, which are the last of the list.
  TierRange own() const { return {kDevice + 1u, shared_from_}; }
  bool any_own() const;
  TierRange shared() const { return {shared_from_, count()}; }
  bool has_shared() const { return shared_from_ < count(); }
  /// The tier whose store has heads, or kNoTier.
  TierIndex headed() const { return headed_; }
  bool has_heads() const { return headed_ != kNoTier; }
  /// REQUIRES: has_heads().
  HeadLog& heads() { return *list_[headed_].store->heads(); }
  /// Bytes of a block below the device.
  uint64_t stored_bytes() const { return stored_bytes_; }
  /// Puts a slot on its way out: it is free once nothing refers to it.
  void free_slot(TierIndex which, SlotIndex slot, SlotState to) {
    list_[which].slots->leave(slot, to);
  }
  /// Ends a reference, or a transfer.
  void unpin(TierIndex which, SlotIndex slot);
  void io_end(TierIndex which, SlotIndex slot);
  /// In the order of the list.
  const std::vector<std::string>& names() const { return names_; }
  /// Looks on the tiers as they are now.
  std::vector<TierMetrics> metrics() const;

 private:
  Status open_device(PoolOptions& options);
  Status open_host(PoolOptions& options);
  Status open_disk(PoolOptions& options);
  Tier& add(const std::string& name, uint32_t slot_count);
  Status add_store(TierSpec spec);

  std::vector<Tier> list_;
  std::vector<std::string> names_;
  std::unique_ptr<BlockMemory> memory_;
  TierIndex headed_ = kNoTier;
  uint64_t stored_bytes_ = 0;
  uint32_t shared_from_ = 0;  // place of the first shared one, or the count
};

}  // namespace tessera::kv
