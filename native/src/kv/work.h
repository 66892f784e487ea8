// The pool's transfers, each in three steps: begin() decides under the pool's lock and pins what it
// will touch, perform() moves bytes without the lock, finish() publishes under the lock. The
// threads of io_threads.h run them; the simulator interleaves the same steps as it likes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kv/pool.h"
#include "kv/shared_store.h"

namespace tessera::kv {

struct Chain;

/// A user that is to be erased from one shared store.
struct SharedErasure {
  Digest owner;
  uint64_t at = 0;  // of the log of the cluster
  bool operator==(const SharedErasure&) const = default;
};

/// One block from a store to the device. It stays where it is from start() until has_ended().
struct LoadJob {
  Chain* chain = nullptr;
  uint32_t index = 0;  // of the block
  TierIndex from = kNoTier;
  SlotIndex target = kNoSlot;
  BlockTransfer transfer;
  std::vector<std::byte> stored;  // its bytes, where they cannot be read to where they belong
  bool is_started = false;        // start() was called
  bool is_moved = false;          // all that has_ended() has to do is done
  Status status;
};

/// One block from the first tier that has it to tiers below that one.
struct StoreTransfer {
  uint32_t index = 0;  // of the block
  TierIndex from = kDevice;
  StoredBlock source;
  PerTier<SlotIndex> to = filled<SlotIndex>(kNoSlot);  // kNoSlot: not to this tier
  PerTier<bool> is_written{};                          // the tier's slot has the block
  uint64_t checksum = 0;                               // in the store with heads
};

struct StoreItem {
  Chain* chain = nullptr;
  std::vector<StoreTransfer> transfers;
  std::optional<HeadRecord> head;  // to be put once the transfers are done
  bool is_renamed = false;         // the durable head lies under another version's name
  bool is_erased = false;          // instead: nothing of the chain is left there
  uint32_t version = 0;            // that the head is put under
  HeadKey durable_key;             // of the head that is durable
  uint32_t put = kNone;            // where in StoreJob::heads it went
  Status status;  // of what its head depends on: reading its blocks, and writing them beside it
  Status copied;  // of the copies in other tiers, which fail alone
  static constexpr uint32_t kNone = UINT32_MAX;
};

/// A batch of chains stored with one sync and one commit.
struct StoreJob {
  std::vector<StoreItem> items;
  std::vector<HeadRecord> heads;     // to be put
  std::vector<HeadKey> erased;       // to be erased; first those of no chain
  uint64_t dangling_count = 0;       // of them
  std::vector<Chain*> graves;        // whose heads are erased
  std::vector<SlotIndex> discarded;  // bytes to be made unreadable after the commit
  PerTier<uint64_t> bytes{}, us{};   // written, and the time that took
  Status committed;                  // of sync and commit
  bool is_unknown = false;           // the commit failed in a way that leaves both outcomes open
  bool is_nothing = false;           // only the index was worked on, which is done
};

/// One chain put into a store that other processes use, or one user erased there.
struct ShareJob {
  TierIndex which = kNoTier;
  std::optional<SharedErasure> erasure;  // instead of all below
  Chain* chain = nullptr;
  uint32_t version = 0;  // the chain's
  ChainName name;
  bool finds = false;  // the store's head is not known: it is looked for, and nothing is written
  FoundHead found;
  std::vector<StoreTransfer> transfers;
  HeadRecord head;             // to be put once they are done
  std::vector<Digest> keys;    // of the head's blocks
  std::string replaces;        // revision
  std::vector<Digest> gone;    // blocks that the head before named
  bool is_whole = false;       // it names all that the chain has
  bool is_erased = false;      // a write was refused: the owner was erased
  uint64_t bytes = 0, us = 0;  // written, and the time that took
  Published published = Published::kChanged;
  std::string revision;  // of the head that was put
  Status status;
};

/// Thread-safety: loads from any number of threads; one store at a time (begin_store is false while
/// another is under way).
class PoolWork {
 public:
  explicit PoolWork(Pool& pool) : state_(*pool.state_) {}
  explicit PoolWork(PoolState& state) : state_(state) {}

  bool begin_load(LoadJob& job);
  /// perform() in two: the bytes are asked for, and are there; waits up to `budget_us` for that.
  void start(LoadJob& job);
  bool has_ended(LoadJob& job, uint64_t budget_us);
  void perform(LoadJob& job);
  void finish(LoadJob& job);

  bool begin_store(StoreJob& job);
  void perform(StoreJob& job);
  void finish(StoreJob& job);

  /// Begins a share job of a shared tier, one at a time each.
  bool begin_share(TierIndex which, ShareJob& job);
  void perform(ShareJob& job);
  void finish(ShareJob& job);

  /// audit() of audit.h, under the lock.
  std::vector<std::string> audit();

 private:
  PoolState& state_;
};

}  // namespace tessera::kv
