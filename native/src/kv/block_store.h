// A tier below the device is a block store: bytes go into it and are brought up from it, block by
// block, while others are under way. A block is called by its content (the digest of the text that
// it was computed from); the pool decides what is kept, and gives every block one slot of the
// store's capacity.
//
// A tier with a log of heads (HeadLog) outlives the process; at most one store of a pool has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "kv/head_record.h"

namespace tessera::kv {

/// The name of a chain in a store that other processes use (shared_store.h).
struct ChainName {
  Digest owner;  // shared_owner()
  Digest version;
  bool operator==(const ChainName&) const = default;
};

/// Names one block of a store.
struct StoredBlock {
  Digest key;                // of its content: two blocks with one key have the same numbers
  SlotIndex slot = kNoSlot;  // the part of the capacity that the pool has given it: what a store
                             // kept for the slot before is of no use to anybody
  uint64_t checksum = 0;     // block_checksum() of what was written; of a store with heads alone
};

/// One block in transfer. The submitter keeps it, and its bytes, in place until it has ended.
struct BlockTransfer {
  StoredBlock block;
  ChainName chain = {};                  // of the block, where the store is a SharedStore
  uint64_t call = 0;                     // the store's own number for it
  std::span<std::byte> to = {};          // of a read
  std::span<const std::byte> from = {};  // of a write
  bool is_missing = false;               // of a read that failed: the store has forgotten the block
  Status status = {};
};

class HeadLog;
class SharedStore;

/// Thread-safety: any threads, but that the pool never writes a block beside another transfer of
/// its slot. begin_read, begin_write and has_ended are called by the pool's I/O threads: a store
/// whose transfers need a thread (memory, files) uses the caller's, and has ended them on return.
class BlockStore {
 public:
  virtual ~BlockStore() = default;

  virtual uint32_t slot_count() const = 0;
  /// Begins to read a block's bytes into `to`. Statuses: IO_FAILED; KV_STORE_CORRUPT if the block
  /// is missing, or is not what was written; the pool then never reads it again.
  virtual void begin_read(BlockTransfer& transfer) = 0;
  /// Begins to put `from` under the block's key. Sets the checksum where the store has heads.
  /// Statuses: IO_FAILED; ENGINE_OVERLOADED when there is no room for it.
  virtual void begin_write(BlockTransfer& transfer) = 0;
  /// Waits up to `budget_us` for the transfer; true once it has ended. Every transfer ends, if need
  /// be with an error.
  virtual bool has_ended(BlockTransfer& transfer, uint64_t budget_us);
  /// A slot's bytes where this process can read them in place; empty where it cannot.
  virtual std::span<const std::byte> view(SlotIndex slot);
  /// Null: the store's content is lost when the pool closes.
  virtual HeadLog* heads() { return nullptr; }
  /// Null: no other process uses it.
  virtual SharedStore* shared() { return nullptr; }
};

/// The committed heads of chains beside the bytes of their blocks. Thread-safety: one thread at a
/// time, also beside transfers of other slots.
class HeadLog {
 public:
  virtual ~HeadLog() = default;

  /// Calls `each` for every head that decodes; records that do not are erased with the next commit
  /// and counted in the return value. Once, before anything else.
  virtual Result<uint64_t> recover(const std::function<void(HeadRecord&&)>& each) = 0;
  /// All bytes written so far are durable on return. Errors: IO_FAILED.
  virtual Status sync() = 0;
  /// Erases and puts heads, all or nothing, durable on return; erases come first. Errors:
  /// ENGINE_OVERLOADED when the disk is full before anything was done; IO_FAILED, after which it is
  /// not known whether the change will be there after a restart: nothing may be written any more.
  virtual Status commit(std::span<const HeadKey> erased, std::span<const HeadRecord> put) = 0;
  /// Makes a free slot's old bytes unreadable: an erased user's.
  virtual Status discard(SlotIndex slot) = 0;
  /// Rewrites what still holds the erased heads. Slow; after erasures of users.
  virtual Status erase_traces(std::span<const HeadKey> erased) = 0;
  /// Why what lay there was given up at opening; empty where it was not.
  virtual const std::string& dropped() const;
};

/// Between two looks at a transfer that takes long.
inline constexpr uint64_t kTransferLookUs = 1000;

/// Submits the transfer and waits for its end.
Status read_now(BlockStore& store, BlockTransfer& transfer);
/// Compares the bytes with the block's checksum. Errors: KV_STORE_CORRUPT.
Status check_bytes(const StoredBlock& block, std::span<const std::byte> bytes);

}  // namespace tessera::kv
