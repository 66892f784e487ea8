// The face of the disk tier's storage: slots for blocks' bytes, and the committed heads of chains.
// The pool decides which slot holds what; the store keeps the order: bytes, then sync(), then the
// head that points to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "kv/head_record.h"

namespace tessera::kv {

/// Thread-safety: read() from any threads; write, sync, commit, discard and erase_traces from one
/// thread at a time, also beside reads of other slots.
class BlockStore {
 public:
  virtual ~BlockStore() = default;

  virtual uint32_t slot_count() const = 0;
  /// Calls `each` for every head that decodes; records that do not are erased with the next commit
  /// and counted in the return value. Once, before anything else.
  virtual Result<uint64_t> recover(const std::function<void(HeadRecord&&)>& each) = 0;
  /// The bytes of one block, as they lie there: the caller checks them. Errors: IO_FAILED.
  virtual Status read(SlotIndex slot, std::span<std::byte> to) = 0;
  /// Errors: IO_FAILED; ENGINE_OVERLOADED when the disk is full.
  virtual Status write(SlotIndex slot, std::span<const std::byte> from) = 0;
  /// All bytes written so far are durable on return. Errors: IO_FAILED.
  virtual Status sync() = 0;
  /// Erases and puts heads, all or nothing, durable on return; erases come first. Errors:
  /// ENGINE_OVERLOADED when the disk is full before anything was done; IO_FAILED, after which it is
  /// not known whether the change will be there after a restart: nothing may be written any more.
  virtual Status commit(std::span<const HeadKey> erased, std::span<const HeadRecord> put) = 0;
  /// Makes a free slot's old bytes unreadable: an erased user's.
  virtual Status discard(SlotIndex slot) = 0;
  /// Rewrites what still holds erased heads. Slow; after erasures of users.
  virtual Status erase_traces() = 0;
  /// Why what lay there was given up at opening; empty where it was not.
  virtual const std::string& dropped() const {
    static const std::string kNothing;
    return kNothing;
  }
};

}  // namespace tessera::kv
