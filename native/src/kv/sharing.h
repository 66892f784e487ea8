// The exchange with stores that other processes use: which chains are to be put there, which users
// are to be erased there, and which heads are being looked for on behalf of prefetches.
//
//   put    a chain's blocks are written, then its head replaces the one that this process knows;
//          where another process has replaced it meanwhile, that one is looked at first (adopt.cc)
//   look   a prefetch for a user of whom this process has nothing, or nothing new, asks for the
//   head erase  before anything else, and whatever the store's state
//
// Thread-safety: under the lock of the pool. Owner: PoolState.
#pragma once

#include <condition_variable>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kv/chains.h"
#include "kv/loader.h"
#include "kv/metrics.h"
#include "kv/work.h"

namespace tessera::kv {

/// Of a chain whose head was seen or put so short a time ago, or that was in use, none is looked
/// for.
inline constexpr uint64_t kLookAgainUs = 2'000'000;

/// One head that is being looked for; where there is none it goes on in the next store, and then
/// with the next version that the asked one may inherit of.
struct Look {
  uint32_t version = 0;  // asked for
  std::string owner;     // of the user
  uint32_t tokens_max = 0;
  uint64_t erasures_seen = 0;
  PrefetchRecord* record = nullptr;  // that waits for it; null once it was cut off
  uint64_t begun_us = 0;
  std::vector<uint32_t> versions;  // in which it is looked for
  uint32_t next = 0;               // of the (version, store) pairs
  HeadKey key;                     // that is asked for now
  uint32_t key_version = 0;
  TierIndex which = kNoTier;       // where
  bool is_done_with_user = false;  // the static text that the user's chain stands on is looked for
};

class Sharing {
 public:
  /// Its arguments outlive it.
  Sharing(Tiers& tiers, const PoolOptions& options, PoolMetrics& counts)
      : tiers_(tiers), options_(options), counts_(counts) {}

  /// To be called once the tiers are open.
  void open() { stores_.resize(tiers_.count() - *tiers_.shared().begin()); }
  SharedCopy& copy(Chain& chain, TierIndex which) const { return chain.copies[place(which)]; }

  /// The chain may have what a store lacks.
  void queue(Chain& chain);
  /// Takes the chain out of all queues.
  void drop(Chain& chain);
  /// The chain that was queued last; null when there is none.
  Chain* take_newest(TierIndex which);

  /// The user is to be erased everywhere.
  void erase(const Digest& owner, uint64_t at);
  std::optional<SharedErasure> next_erasure(TierIndex which) const;
  void note_erased(TierIndex which, const SharedErasure& erased);
  bool is_erasing(const Digest& owner) const;

  bool is_busy(TierIndex which) const { return stores_[place(which)].is_busy; }
  void set_busy(TierIndex which, bool is_busy) { stores_[place(which)].is_busy = is_busy; }
  /// A put failed: nothing is put there for a while.
  void rest(TierIndex which);
  bool is_resting(TierIndex which) const {
    return stores_[place(which)].rest_until_us > options_.now_us();
  }
  /// Everything that can be put now has been.
  bool is_idle() const;

  /// True if the user's head, of whom `chain` is what the pool has, is worth asking for.
  bool wants_look(const Chain* chain) const;
  /// Its number: from 1 on.
  uint64_t begin_look(Look look);
  Look* look(uint64_t number);
  void end_look(uint64_t number) { looks_.erase(number); }
  /// The prefetch is cut off.
  void leave_look(uint64_t number);

  std::condition_variable ready;  // there is something to put or to erase

 private:
  struct Store {
    std::vector<Chain*> queue;
    std::vector<SharedErasure> erasures;
    bool is_busy = false;
    uint64_t rest_until_us = 0;
  };
  size_t place(TierIndex which) const { return which - *tiers_.shared().begin(); }

  Tiers& tiers_;
  const PoolOptions& options_;
  PoolMetrics& counts_;
  std::vector<Store> stores_;
  std::map<uint64_t, Look> looks_;
  uint64_t last_look_ = 0;
};

}  // namespace tessera::kv
