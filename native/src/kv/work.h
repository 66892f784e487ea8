// The pool's transfers, each in three steps: begin() decides under the pool's lock and pins what it
// will touch, perform() moves bytes without the lock, finish() publishes under the lock. The
// threads of io_threads.h run them; the simulator interleaves the same steps as it likes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kv/pool.h"

namespace tessera::kv {

struct Chain;

/// One block from host or disk to the device.
struct LoadJob {
  Chain* chain = nullptr;
  uint32_t index = 0;  // of the block
  Digest key;
  uint64_t checksum = 0;
  Tier from = Tier::kDisk;
  SlotIndex source = kNoSlot;
  SlotIndex target = kNoSlot;
  uint64_t spent_us = 0;
  Status status;
};

/// One block from the device, or host, to the tiers below.
struct StoreTransfer {
  uint32_t index = 0;  // of the block
  Digest key;
  Tier from = Tier::kDevice;
  SlotIndex source = kNoSlot;
  SlotIndex host = kNoSlot;  // kNoSlot: not to this tier
  SlotIndex disk = kNoSlot;
  bool is_on_host = false;  // the host's slot has the block
  uint64_t checksum = 0;
};

struct StoreItem {
  Chain* chain = nullptr;
  std::vector<StoreTransfer> transfers;
  std::optional<HeadRecord> head;  // to be put once the transfers are done
  bool is_renamed = false;         // the head on disk lies under another version's name
  bool is_erased = false;          // instead: nothing of the chain is left on disk
  uint32_t version = 0;            // that the head is put under
  HeadKey durable_key;             // of the head that is on disk
  uint32_t put = kNone;            // where in StoreJob::heads it went
  Status status;
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
  uint64_t host_bytes = 0, disk_bytes = 0, host_us = 0, disk_us = 0;
  Status committed;         // of sync and commit
  bool is_unknown = false;  // the commit failed in a way that leaves both outcomes open
  bool is_nothing = false;  // only the index was worked on, which is done
};

/// Thread-safety: loads from any number of threads; one store at a time (begin_store is false while
/// another is under way).
class PoolWork {
 public:
  explicit PoolWork(Pool& pool) : state_(*pool.state_) {}
  explicit PoolWork(PoolState& state) : state_(state) {}

  bool begin_load(LoadJob& job);
  void perform(LoadJob& job);
  void finish(LoadJob& job);

  bool begin_store(StoreJob& job);
  void perform(StoreJob& job);
  void finish(StoreJob& job);

  /// audit() of audit.h, under the lock.
  std::vector<std::string> audit();

 private:
  PoolState& state_;
};

}  // namespace tessera::kv
