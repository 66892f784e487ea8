// The end of a store: what was written becomes part of the chains, slots of older heads are freed.
#include <algorithm>
#include <utility>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

bool is_current(const Chain& chain, const StoreTransfer& transfer) {
  return !chain.is_dead && transfer.index < chain.blocks.size() &&
         chain.blocks[transfer.index].key == transfer.source.key;
}

/// The copies in stores without heads, each on its own.
void publish_copies(PoolState& pool, Chain& chain, const StoreTransfer& transfer)
    REQUIRES(pool.mutex) {
  for (const TierIndex which : pool.tiers.below(kDevice)) {
    const SlotIndex slot = transfer.to[which];
    if (slot == kNoSlot || which == pool.tiers.headed()) continue;
    pool.tiers.io_end(which, slot);
    if (!transfer.is_written[which]) {
      pool.tiers.free_slot(which, slot, SlotState::kAborted);
    } else if (!pool.publish_copy_locked(chain, transfer, which)) {
      pool.tiers.free_slot(which, slot, SlotState::kOrphan);
    }
  }
}

/// Replaces the durable head; slots that only the older one held are freed.
void replace_durable(PoolState& pool, Chain& chain, DurableHead next) REQUIRES(pool.mutex) {
  std::swap(chain.durable, next);
  const TierIndex headed = pool.tiers.headed();
  const std::vector<SlotIndex>& now = chain.durable.slots;
  for (uint32_t i = 0; i < next.slots.size(); ++i) {
    const bool is_in_head = i < now.size() && now[i] == next.slots[i];
    if (!is_in_head) pool.tiers.free_slot(headed, next.slots[i], SlotState::kOrphan);
  }
}

void publish_headed(PoolState& pool, const StoreJob& job, StoreItem& item, bool is_durable)
    REQUIRES(pool.mutex) {
  if (!pool.tiers.has_heads()) return;
  Chain& chain = *item.chain;
  const TierIndex headed = pool.tiers.headed();
  for (const StoreTransfer& transfer : item.transfers) {
    const SlotIndex slot = transfer.to[headed];
    if (slot == kNoSlot) continue;
    pool.tiers.io_end(headed, slot);
    if (is_durable) {
      if (pool.publish_copy_locked(chain, transfer, headed)) {
        chain.blocks[transfer.index].checksum = transfer.checksum;
      }
    } else if (!job.is_unknown) {
      pool.tiers.free_slot(headed, slot, SlotState::kAborted);
    }  // else a durable head may point to the slot: it is not used again before a restart
  }
  if (!is_durable) return;
  if (item.put != StoreItem::kNone) {
    const HeadRecord& head = job.heads[item.put];
    DurableHead next{head.seq, item.version, static_cast<uint32_t>(head.tokens.size()), {}};
    for (const HeadBlock& block : head.blocks) next.slots.push_back(block.slot);
    replace_durable(pool, chain, std::move(next));
    ++pool.counts.stores;
  } else if (item.is_erased) {
    replace_durable(pool, chain, {});
  }
}

}  // namespace

bool PoolState::publish_copy_locked(Chain& chain, const StoreTransfer& transfer, TierIndex which) {
  const SlotIndex slot = transfer.to[which];
  tiers[which].slots->move(slot, SlotState::kFilling, SlotState::kResident);
  const bool is_next = is_current(chain, transfer) && chain.resident[which] == transfer.index &&
                       chain.blocks[transfer.index].slots[which] == kNoSlot;
  if (!is_next) return false;
  chain.blocks[transfer.index].slots[which] = slot;
  chains.set_resident(chain, which, transfer.index + 1);
  return true;
}

void PoolState::publish_locked(StoreJob& job) {
  for (const TierIndex which : tiers.below(kDevice)) {
    tiers[which].metrics.written_bytes += job.bytes[which];
    tiers[which].metrics.written_us += job.us[which];
  }
  if (!job.committed.is_ok()) writer.note_failure(job.committed, job.is_unknown);
  for (StoreItem& item : job.items) {
    Chain& chain = *item.chain;
    for (const StoreTransfer& transfer : item.transfers) {
      tiers.io_end(transfer.from, transfer.source.slot);
      publish_copies(*this, chain, transfer);
    }
    if (!item.copied.is_ok()) {
      ++counts.stores_failed;
      counts.store_error = item.copied.message();
    }
    if (!item.status.is_ok()) writer.note_failure(item.status, job.is_unknown);
    publish_headed(*this, job, item, item.status.is_ok() && job.committed.is_ok());
    const bool has_changed = chain.durable.seq != chain.seq && job.committed.is_ok();
    if (!chain.is_dead && has_changed && item.put != StoreItem::kNone) writer.queue(chain);
    chains.release(chain);
  }
  for (Chain* grave : job.graves) {
    if (job.committed.is_ok()) replace_durable(*this, *grave, {});
    chains.release(*grave);
  }
  if (!job.committed.is_ok() && !job.is_unknown) {
    // Erasures are tried again; those of graves are found again by themselves.
    for (uint64_t i = 0; i < job.dangling_count; ++i) writer.add_dangling(job.erased[i]);
  }
  if (options.on_transfer) options.on_transfer();
}

}  // namespace tessera::kv
