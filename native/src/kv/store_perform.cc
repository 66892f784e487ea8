// The part of a store that moves bytes, without the pool's lock.
#include <utility>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// Memory that transfers of one job use one after the other.
struct Scratch {
  std::vector<std::byte> block;
  std::vector<std::byte> encoded;
};

/// Bytes of a slot where the processor can read them.
Result<std::span<const std::byte>> source_bytes(PoolState& pool, const StoreTransfer& transfer,
                                                Scratch& scratch) {
  BlockMemory& memory = *pool.tier(transfer.from).memory;
  const bool is_device = transfer.from == Tier::kDevice;
  const uint64_t size = is_device ? pool.options.block_bytes : pool.lower_bytes();
  if (memory.is_addressable()) {
    return std::span<const std::byte>(memory.address(transfer.source), size);
  }
  scratch.block.resize(size);
  TESSERA_RETURN_IF_ERROR(memory.read(transfer.source, scratch.block));
  return std::span<const std::byte>(scratch.block);
}

/// The block as the tiers below the device hold it.
Result<std::span<const std::byte>> lower_bytes(PoolState& pool, const StoreTransfer& transfer,
                                               Scratch& scratch) {
  Result<std::span<const std::byte>> bytes = source_bytes(pool, transfer, scratch);
  if (!bytes.is_ok()) return bytes;
  if (pool.options.codec == nullptr || transfer.from != Tier::kDevice) return bytes;
  scratch.encoded.resize(pool.lower_bytes());
  pool.options.codec->encode(bytes.value(), scratch.encoded);
  return std::span<const std::byte>(scratch.encoded);
}

Status copy_to_host(PoolState& pool, StoreJob& job, const StoreTransfer& transfer,
                    std::span<const std::byte> bytes) {
  const uint64_t begun_us = pool.now_us();
  TESSERA_RETURN_IF_ERROR(pool.tier(Tier::kHost).memory->write(transfer.host, bytes));
  job.host_bytes += bytes.size();
  job.host_us += pool.now_us() - begun_us;
  return Status::ok();
}

Status write_to_disk(PoolState& pool, StoreJob& job, StoreTransfer& transfer,
                     std::span<const std::byte> bytes) {
  const uint64_t begun_us = pool.now_us();
  transfer.checksum = block_checksum(bytes, transfer.key);
  TESSERA_RETURN_IF_ERROR(pool.options.store->write(transfer.disk, bytes));
  job.disk_bytes += bytes.size();
  job.disk_us += pool.now_us() - begun_us;
  return Status::ok();
}

Status perform_transfer(PoolState& pool, StoreJob& job, StoreTransfer& transfer, Scratch& scratch,
                        bool goes_to_disk) {
  const Result<std::span<const std::byte>> bytes = lower_bytes(pool, transfer, scratch);
  if (!bytes.is_ok()) return bytes.status();
  if (transfer.host != kNoSlot) {
    TESSERA_RETURN_IF_ERROR(copy_to_host(pool, job, transfer, bytes.value()));
    transfer.is_on_host = true;
  }
  return goes_to_disk ? write_to_disk(pool, job, transfer, bytes.value()) : Status::ok();
}

/// Moves the item's head to those that are put, with the checksums that are known now.
void take_head(StoreJob& job, StoreItem& item) {
  if (!item.status.is_ok()) return;
  if (item.is_erased) {
    job.erased.push_back(item.durable_key);
  } else if (item.head.has_value()) {
    for (const StoreTransfer& transfer : item.transfers) {
      if (transfer.disk == kNoSlot) continue;
      item.head->blocks[transfer.index].checksum = transfer.checksum;
    }
    if (item.is_renamed) job.erased.push_back(item.durable_key);
    item.put = static_cast<uint32_t>(job.heads.size());
    job.heads.push_back(std::move(*item.head));
  }
}

}  // namespace

void PoolWork::perform(StoreJob& job) {
  if (job.is_nothing) return;
  PoolState& pool = state_;
  Scratch scratch;
  bool any_written = false;
  for (StoreItem& item : job.items) {
    for (StoreTransfer& transfer : item.transfers) {
      const bool goes_to_disk = item.status.is_ok() && transfer.disk != kNoSlot;
      Status status = perform_transfer(pool, job, transfer, scratch, goes_to_disk);
      if (item.status.is_ok()) item.status = std::move(status);
      any_written = any_written || goes_to_disk;
    }
    take_head(job, item);
  }
  if (job.heads.empty() && job.erased.empty()) return;
  const uint64_t begun_us = pool.now_us();
  BlockStore& store = *pool.options.store;
  if (any_written) job.committed = store.sync();
  if (job.committed.is_ok()) {
    job.committed = store.commit(job.erased, job.heads);
    job.is_unknown = job.committed.code() == Code::kIoFailed;
  }
  job.disk_us += pool.now_us() - begun_us;
  if (!job.committed.is_ok()) return;
  // The head is gone whatever becomes of this: what cannot be discarded is overwritten in time.
  for (const SlotIndex slot : job.discarded) (void)store.discard(slot);
  if (!job.discarded.empty()) (void)store.erase_traces();
}

}  // namespace tessera::kv
