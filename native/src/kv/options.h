// How a pool is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kv/block_store.h"
#include "kv/codec.h"
#include "kv/memory.h"

namespace tessera::kv {

/// Bound of PoolOptions::versions_back_max.
inline constexpr uint32_t kVersionsBackMax = 16;

/// A tier below the device.
struct TierSpec {
  std::string name;                   // in metrics and provenance; no other tier's
  std::unique_ptr<BlockStore> store;  // of stored blocks; null: no capacity
  double expected_block_us = 0;       // to bring a block up, until that has been measured
};

struct PoolOptions {
  uint64_t block_bytes = 0;    // of one block, fixed for the pool's life; a multiple of 64
  uint32_t device_blocks = 0;  // capacity of the tier; 0: the pool keeps nothing
  uint32_t host_blocks = 0;    // 0: no such tier
  uint64_t disk_blocks = 0;    // 0: no such tier
  std::string disk_folder;     // made when absent; one process at a time
  /// Free bytes of its file system below which nothing is stored there.
  uint64_t disk_reserve_bytes = uint64_t{64} << 20;
  uint32_t read_threads = 2;          // of prefetches; 0: the caller of PoolWork does all work
  uint32_t store_queue_max = 1024;    // chains that wait to be stored; more are dropped
  uint32_t prefetch_queue_max = 256;  // chains that wait to be loaded; more are refused
  uint64_t store_batch_bytes = uint64_t{32} << 20;  // written between two commits, about
  uint64_t store_retry_us = 5'000'000;              // stores rest this long after a full disk

  /// Versions between the one that computed a block and the one that it is found under, at most
  /// (Pool::succeed); 0: whatever is found was computed under the version of the query.
  uint32_t versions_back_max = 0;

  /// Called when a transfer has ended, by its thread and under the pool's lock: it must not call
  /// the pool. It wakes threads that wait for blocks.
  std::function<void()> on_transfer;
  /// How blocks are written below the device; null: as they are.
  std::shared_ptr<const BlockCodec> codec;
  /// Device memory that is not the processor's; an Arena is opened when null.
  std::unique_ptr<BlockMemory> device_memory;
  /// Memory of `host_blocks` stored blocks, addressable; an Arena is opened when null.
  std::unique_ptr<Arena> host_memory;
  /// Instead of the files in `disk_folder`.
  std::unique_ptr<BlockStore> store;
  /// Below those that the lines above make, nearest first.
  std::vector<TierSpec> more_tiers;
  /// Microseconds of a steady clock; the system's when empty.
  std::function<uint64_t()> now_us;
};

}  // namespace tessera::kv
