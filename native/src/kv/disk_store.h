// The disk tier: blocks in one file of equal slots, heads in an index beside it.
//
//   FOLDER/lock      held while a process uses the folder
//   FOLDER/blocks    slot i at i * stride, stride a multiple of 4096
//   FOLDER/index/    RocksDB: "format", and one record per chain (head_record.h), no user's ID
//
// The bytes of a slot carry no header: what they must be is in the head that points to them. A
// block is durable by sync() before its head is by commit(), so a head never points to bytes that a
// crash could take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kv/block_store.h"
#include "kv/file.h"
#include "kv/head_index.h"
#include "platform/folder_lock.h"

namespace tessera::kv {

struct DiskLayout {
  std::string folder;
  uint64_t block_bytes = 0;  // as they lie there: encoded, where there is a codec
  uint32_t slot_count = 0;
  std::string codec = {};  // its name; empty: none
  /// Space that is left to others and to the index: below it stores stop.
  uint64_t reserve_bytes = uint64_t{64} << 20;
};

class DiskStore final : public BlockStore, public HeadLog {
 public:
  /// A damaged index is moved aside, to `index.damaged`, and begun anew: this is a cache. Errors:
  /// KV_STORE_INVALID for a folder that is in use, not writable or of another layout;
  /// KV_POOL_INVALID when the file system has not that much space.
  static Result<std::unique_ptr<DiskStore>> open(const DiskLayout& layout);
  /// On files that are open already: tests.
  DiskStore(const DiskLayout& layout, std::unique_ptr<File> blocks,
            std::unique_ptr<HeadIndex> index, std::unique_ptr<platform::FolderLock> lock);

  uint32_t slot_count() const override { return layout_.slot_count; }
  /// The bytes of a slot as they lie there, unchecked. Errors: IO_FAILED.
  Status read(SlotIndex slot, std::span<std::byte> to);
  /// Errors: IO_FAILED; ENGINE_OVERLOADED when the disk is full.
  Status write(SlotIndex slot, std::span<const std::byte> from);

  Result<uint64_t> recover(const std::function<void(HeadRecord&&)>& each) override;
  void begin_read(BlockTransfer& transfer) override;
  void begin_write(BlockTransfer& transfer) override;
  HeadLog* heads() override { return this; }
  Status sync() override;
  Status commit(std::span<const HeadKey> erased, std::span<const HeadRecord> put) override;
  Status discard(SlotIndex slot) override;
  Status erase_traces(std::span<const HeadKey> erased) override;
  const std::string& dropped() const override { return dropped_; }

 private:
  static Result<std::unique_ptr<HeadIndex>> open_index(const DiskLayout& layout,
                                                       std::string& dropped);
  Status drop_index(const Status& damage);
  Status take_names_out(std::vector<HeadRecord>& heads, std::vector<std::string> named_keys);

  const DiskLayout layout_;
  const uint64_t stride_;
  std::unique_ptr<platform::FolderLock> lock_;  // given back last
  std::unique_ptr<File> blocks_;
  std::unique_ptr<HeadIndex> index_;
  std::string dropped_;
  std::vector<std::string> undecodable_;  // keys, erased with the next commit
};

}  // namespace tessera::kv
