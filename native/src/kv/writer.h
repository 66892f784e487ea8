// The queue of writes to the tiers below the device: chains with blocks that a lower tier lacks,
// heads stored under another name than their chain's, and heads without a chain. One job at a time
// takes from it.
//
// Thread-safety: under the lock of the pool. Owner: PoolState.
#pragma once

#include <condition_variable>
#include <string>
#include <vector>

#include "kv/chain.h"
#include "kv/metrics.h"
#include "kv/options.h"
#include "kv/sharing.h"
#include "kv/tiers.h"

namespace tessera::kv {

class Writer {
 public:
  /// Its arguments outlive it.
  Writer(const Tiers& tiers, const PoolOptions& options, PoolMetrics& counts, Sharing& sharing)
      : tiers_(tiers), options_(options), counts_(counts), sharing_(sharing) {}

  /// The chain has something to be stored, here or in a store that others use. Where the queue is
  /// full it is dropped, and counted.
  void queue(Chain& chain);
  /// Queues a chain that a job has not finished with, whatever the queue has.
  void queue_again(Chain& chain);
  /// The chain passed on: its head, should there be one, lies under another name.
  void queue_renaming(Chain& chain);
  /// Takes the chain out of both.
  void drop(Chain& chain);
  bool is_idle() const { return !is_busy_ && queue_.empty(); }
  bool is_empty() const { return queue_.empty(); }
  uint64_t size() const { return queue_.size(); }
  const std::vector<Chain*>& queued() const { return queue_; }
  /// Removes the first `count`.
  void take(uint64_t count);
  /// Chains that passed on; none of them is queued for it any more.
  std::vector<Chain*> take_renaming();

  /// Heads that no chain has, to be erased.
  std::vector<HeadKey> take_dangling();
  void add_dangling(HeadKey key) { dangling_.push_back(std::move(key)); }

  bool is_busy() const { return is_busy_; }
  /// A job is under way until end().
  void begin() { is_busy_ = true; }
  void end();
  /// The outcome of a commit is not known: no stores until the pool is opened again.
  bool is_broken() const { return is_broken_; }
  bool is_resting() const { return rest_until_us_ > options_.now_us(); }
  bool is_held_back() const { return is_broken_ || is_resting(); }
  /// A store of the tier with heads failed; stores rest for a while.
  void note_failure(const Status& status, bool is_unknown);
  /// Wakes the threads that store.
  void ring() { ready.notify_one(); }

  std::condition_variable ready;   // there is something to do
  std::condition_variable stored;  // a job has ended

 private:
  const Tiers& tiers_;
  const PoolOptions& options_;
  PoolMetrics& counts_;
  Sharing& sharing_;
  std::vector<Chain*> queue_;
  std::vector<Chain*> renaming_;
  std::vector<HeadKey> dangling_;
  bool is_busy_ = false;
  bool is_broken_ = false;
  uint64_t rest_until_us_ = 0;
};

}  // namespace tessera::kv
