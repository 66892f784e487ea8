// The part of a store that moves bytes, without the pool's lock.
#include <deque>
#include <memory>
#include <utility>

#include "kv/pool_state.h"
#include "kv/stored_copy.h"

namespace tessera::kv {
namespace {

constexpr size_t kWritesPendingMax = 16;  // writes that their stores have not ended yet

/// The writes of one job, some of them under way.
class Writes {
 public:
  Writes(PoolState& pool, StoreJob& job) : pool_(pool), job_(job) {}

  void begin(StoreItem& item, StoreTransfer& transfer, TierIndex which, const StoredCopy& stored) {
    auto write = std::make_unique<Write>();
    write->item = &item;
    write->stored = &transfer;
    write->which = which;
    write->bytes = stored.copy;
    write->begun_us = pool_.now_us();
    write->transfer.block = {transfer.source.key, transfer.to[which]};
    write->transfer.from = stored.bytes;
    pool_.tiers[which].store->begin_write(write->transfer);
    if (end(*write, 0)) return;
    pending_.push_back(std::move(write));
    if (pending_.size() > kWritesPendingMax) end_oldest();
  }

  void end_all() {
    while (!pending_.empty()) end_oldest();
  }

 private:
  struct Write {
    StoreItem* item = nullptr;
    StoreTransfer* stored = nullptr;
    TierIndex which = kNoTier;
    std::shared_ptr<const std::vector<std::byte>> bytes;
    uint64_t begun_us = 0;
    BlockTransfer transfer;
  };

  void end_oldest() {
    while (!end(*pending_.front(), kTransferLookUs)) {
    }
    pending_.pop_front();
  }

  bool end(Write& write, uint64_t budget_us) {
    if (!pool_.tiers[write.which].store->has_ended(write.transfer, budget_us)) return false;
    const bool is_headed = write.which == pool_.tiers.headed();
    Status& status = is_headed ? write.item->status : write.item->copied;
    if (!write.transfer.status.is_ok()) {
      if (status.is_ok()) status = std::move(write.transfer.status);
      return true;
    }
    write.stored->is_written[write.which] = true;
    if (is_headed) write.stored->checksum = write.transfer.block.checksum;
    job_.bytes[write.which] += write.transfer.from.size();
    job_.us[write.which] += pool_.now_us() - write.begun_us;
    return true;
  }

  PoolState& pool_;
  StoreJob& job_;
  std::deque<std::unique_ptr<Write>> pending_;
};

/// Begins the transfer's writes, if its bytes can be had; none into the store with heads where an
/// earlier block of the item has not come there.
void begin_writes(PoolState& pool, Writes& writes, StoreItem& item, StoreTransfer& transfer) {
  StoredCopy stored = stored_copy(pool, transfer);
  if (!stored.status.is_ok()) {
    if (item.status.is_ok()) item.status = std::move(stored.status);
    return;
  }
  for (const TierIndex which : pool.tiers.own()) {
    const bool is_headed = which == pool.tiers.headed();
    if (transfer.to[which] == kNoSlot || (is_headed && !item.status.is_ok())) continue;
    writes.begin(item, transfer, which, stored);
  }
}

/// Moves the item's head to those that are put, with the checksums that are known now.
void take_head(PoolState& pool, StoreJob& job, StoreItem& item) {
  if (!item.status.is_ok()) return;
  if (item.is_erased) {
    job.erased.push_back(item.durable_key);
  } else if (item.head.has_value()) {
    for (const StoreTransfer& transfer : item.transfers) {
      if (transfer.to[pool.tiers.headed()] == kNoSlot) continue;
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
  Writes writes(pool, job);
  for (StoreItem& item : job.items) {
    for (StoreTransfer& transfer : item.transfers) begin_writes(pool, writes, item, transfer);
  }
  writes.end_all();
  for (StoreItem& item : job.items) take_head(pool, job, item);
  if (job.heads.empty() && job.erased.empty()) return;
  const TierIndex headed = pool.tiers.headed();
  const uint64_t begun_us = pool.now_us();
  HeadLog& heads = pool.tiers.heads();
  if (job.bytes[headed] > 0) job.committed = heads.sync();
  if (job.committed.is_ok()) {
    job.committed = heads.commit(job.erased, job.heads);
    job.is_unknown = job.committed.code() == Code::kIoFailed;
  }
  job.us[headed] += pool.now_us() - begun_us;
  if (!job.committed.is_ok()) return;
  // The head is gone whatever becomes of this: what cannot be discarded is overwritten in time.
  for (const SlotIndex slot : job.discarded) (void)heads.discard(slot);
  if (!job.discarded.empty()) (void)heads.erase_traces(job.erased);
}

}  // namespace tessera::kv
