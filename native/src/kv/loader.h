// The queue of loads to the device: chains in the order of the prefetches that asked for them, and
// those prefetches.
//
// Thread-safety: under the lock of the pool. Owner: PoolState.
#pragma once

#include <condition_variable>
#include <memory>
#include <vector>

#include "kv/chains.h"

namespace tessera::kv {

struct PrefetchRecord {
  Chain* chain = nullptr;
  Chain* prefix = nullptr;
  uint64_t look = 0;  // number of the look that it waits for (sharing.h); 0: none
};

class Loader {
 public:
  Loader(Chains& chains, const PoolOptions& options) : chains_(chains), options_(options) {}

  /// Wants the chain's blocks up to `end` on the device.
  void queue(Chain& chain, uint32_t end);
  /// Takes the chain out, whatever was wanted of it.
  void drop(Chain& chain);
  /// True if two more fit: a chain and its static prefix.
  bool has_room() const { return queue_.size() + 2 <= options_.prefetch_queue_max; }
  bool is_empty() const { return queue_.empty(); }
  /// REQUIRES: not empty.
  Chain& front() { return *queue_.front(); }
  void pop_front();
  /// To be called when a load, or a wait for one, of the chain has ended.
  void end_if_idle(Chain& chain);

  /// Holds the chains until it is ended; either may be null.
  PrefetchRecord& begin(Chain* chain, Chain* prefix);
  /// Makes a record that holds none, having waited for a look, hold what was found.
  void hold(PrefetchRecord& record, Chain* chain, Chain* prefix);
  /// A load without a waiting prefetch is not begun.
  void end(PrefetchRecord& record);
  uint64_t open_count() const { return records_.size() - free_.size(); }

  std::condition_variable ready;   // a chain was queued
  std::condition_variable landed;  // a load has ended

 private:
  Chains& chains_;
  const PoolOptions& options_;
  std::vector<Chain*> queue_;
  std::vector<std::unique_ptr<PrefetchRecord>> records_;
  std::vector<PrefetchRecord*> free_;
};

}  // namespace tessera::kv
