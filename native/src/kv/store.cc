// Stores: committed blocks copied to this process's own tiers behind the answer, many chains
// with one sync and one commit. Order: bytes, sync, heads; a slot is used again only after the
// commit of a head that no longer points to it.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

constexpr uint32_t kGravesPerStep = 256;  // chains of retired versions buried in one step

/// The blocks still to be planned into a job.
struct Plan {
  StoreJob& job;
  uint64_t bytes_left;
  uint64_t short_blocks = 0;  // that found no free slot in the tier with heads
};

StoreItem& item_of(StoreJob& job, Chain& chain) {
  for (StoreItem& item : job.items) {
    if (item.chain == &chain) return item;
  }
  job.items.push_back({});
  job.items.back().chain = &chain;
  ++chain.holds;
  return job.items.back();
}

SlotIndex begin_write(PoolState& pool, TierIndex which, SlotIndex slot) {
  SlotTable& slots = *pool.tiers[which].slots;
  slots.move(slot, SlotState::kReserved, SlotState::kFilling);
  slots.io_begin(slot);
  return slot;
}

/// A slot of the tier for a block of the chain; kNoSlot when none can be had. The store with heads
/// frees none at once: a head may still name it.
SlotIndex slot_for(PoolState& pool, TierIndex which, const Chain& chain) REQUIRES(pool.mutex) {
  const bool is_headed = which == pool.tiers.headed();
  const SlotIndex slot =
      is_headed ? pool.tiers[which].slots->reserve() : pool.chains.reserve(which, &chain);
  return slot == kNoSlot ? kNoSlot : begin_write(pool, which, slot);
}

/// The tiers that are to have the chain, and its first block that one of them lacks.
struct Lacking {
  PerTier<bool> goes_to{};
  uint32_t first = UINT32_MAX;
};

Lacking lacking(const PoolState& pool, const Chain& chain, bool is_head_writable) {
  Lacking found;
  for (const TierIndex which : pool.tiers.own()) {
    const bool is_writable = which != pool.tiers.headed() || is_head_writable;
    if (!pool.tiers[which].has_room() || !is_writable) continue;
    found.goes_to[which] = true;
    found.first = std::min(found.first, chain.resident[which]);
  }
  return found;
}

/// Plans the copies that the chain lacks below the device; false when there is more to do.
bool plan_transfers(PoolState& pool, Plan& plan, Chain& chain, bool is_head_writable)
    REQUIRES(pool.mutex) {
  auto [goes_to, index] = lacking(pool, chain, is_head_writable);
  std::vector<StoreTransfer> transfers;
  bool is_complete = true;
  for (; index < chain.blocks.size() && goes_to != PerTier<bool>{}; ++index) {
    const TierIndex from = chain.nearest(index);
    if (from == kNoTier) break;
    if (plan.bytes_left < pool.options.block_bytes) {
      is_complete = false;
      break;
    }
    StoreTransfer transfer;
    transfer.index = index;
    transfer.from = from;
    transfer.source = chain.blocks[index].stored_in(from);
    for (const TierIndex which : pool.tiers.own()) {
      if (which <= from) goes_to[which] = false;  // what a lower tier alone has goes up by loads
      if (!goes_to[which] || index < chain.resident[which]) continue;
      transfer.to[which] = slot_for(pool, which, chain);
      goes_to[which] = transfer.to[which] != kNoSlot;
      if (goes_to[which] || which != pool.tiers.headed()) continue;
      plan.short_blocks += chain.blocks.size() - index;
      is_complete = false;
    }
    if (transfer.to == filled<SlotIndex>(kNoSlot)) continue;
    pool.tiers[from].slots->io_begin(transfer.source.slot);
    plan.bytes_left -= pool.options.block_bytes;
    transfers.push_back(transfer);
  }
  if (!transfers.empty()) item_of(plan.job, chain).transfers = std::move(transfers);
  return is_complete;
}

bool is_misnamed(const Chain& chain) {
  return chain.durable.seq != 0 && chain.durable.version != chain.version;
}

/// True if the durable head is this head already.
bool is_durable(const Chain& chain, const HeadRecord& head) {
  const DurableHead& durable = chain.durable;
  const auto has_slot = [](const HeadBlock& block, SlotIndex slot) { return block.slot == slot; };
  return head.seq == durable.seq && durable.version == chain.version &&
         head.tokens.size() == durable.length &&
         std::equal(head.blocks.begin(), head.blocks.end(), durable.slots.begin(),
                    durable.slots.end(), has_slot);
}

/// The head that will be true once the item's transfers are done; the checksums of the blocks that
/// are still to be written are filled in then.
void plan_head(PoolState& pool, StoreItem& item) REQUIRES(pool.mutex) {
  const Chain& chain = *item.chain;
  HeadRecord head;
  head.key = {pool.chains.version(chain.version).digest, chain.is_prefix, chain.owner};
  item.version = chain.version;
  if (chain.durable.seq != 0) {
    item.durable_key = head.key;
    item.durable_key.version = pool.chains.version(chain.durable.version).digest;
  }
  head.seq = chain.seq;
  head.prefix = chain.prefix;
  head.prefix_blocks = chain.prefix_blocks;
  head.versions_back = chain.versions_back;
  head.root = chain.root;
  const TierIndex headed = pool.tiers.headed();
  for (uint32_t i = 0; i < chain.resident[headed]; ++i) {
    const ChainBlock& block = chain.blocks[i];
    head.blocks.push_back({block.slots[headed], block.length, block.checksum});
  }
  for (const StoreTransfer& transfer : item.transfers) {
    if (transfer.to[headed] == kNoSlot) continue;
    TESSERA_CHECK(transfer.index == head.blocks.size());
    head.blocks.push_back({transfer.to[headed], chain.blocks[transfer.index].length, 0});
  }
  const uint32_t tokens = tokens_in(chain, static_cast<uint32_t>(head.blocks.size()));
  head.tokens.assign(chain.tokens.begin(), chain.tokens.begin() + tokens);
  if (head.blocks.empty()) {
    item.is_erased = chain.durable.seq != 0;
  } else if (!is_durable(chain, head)) {
    item.is_renamed = is_misnamed(chain);
    item.head = std::move(head);
  }
}

/// Frees slots of the tier with heads for what found none, by shorter heads of the coldest chains.
bool plan_evictions(PoolState& pool, Plan& plan) REQUIRES(pool.mutex) {
  if (plan.short_blocks == 0) return false;
  const TierIndex headed = pool.tiers.headed();
  const uint64_t wanted = plan.short_blocks + pool.tiers[headed].slots->count() / 64;
  bool any = false;
  for (uint64_t i = 0; i < wanted; ++i) {
    Chain* victim = pool.chains.victim(headed, nullptr);
    if (victim == nullptr) break;
    item_of(plan.job, *victim);
    const uint32_t tail = victim->resident[headed] - 1;
    pool.chains.drop_slot(*victim, tail, headed, SlotState::kEvicting);
    pool.chains.set_resident(*victim, headed, tail);
    ++pool.tiers[headed].metrics.evicted_blocks;
    any = true;
  }
  return any;
}

/// All graves at once: a head put for a new chain of the same name must come after the erasure.
void plan_erasures(PoolState& pool, StoreJob& job) REQUIRES(pool.mutex) {
  job.erased = pool.writer.take_dangling();
  job.dangling_count = job.erased.size();
  for (const std::unique_ptr<Chain>& grave : pool.chains.graves()) {
    if (grave->durable.seq == 0) continue;
    ++grave->holds;
    job.graves.push_back(grave.get());
    const Digest& version = pool.chains.version(grave->durable.version).digest;
    job.erased.push_back({version, grave->is_prefix, grave->owner});
    if (!grave->is_erasure) continue;
    job.discarded.insert(job.discarded.end(), grave->durable.slots.begin(),
                         grave->durable.slots.end());
  }
}

/// All at once as well, and in the same commit as other heads: one that is put for a new chain
/// under the older name must come after the erasure. Such an item has no transfers, so it cannot
/// fail alone.
void plan_renames(PoolState& pool, StoreJob& job) REQUIRES(pool.mutex) {
  for (Chain* chain : pool.writer.take_renaming()) {
    if (!is_misnamed(*chain)) {
      pool.chains.forget_if_empty(*chain);
      continue;
    }
    pool.writer.queue_renaming(*chain);
    item_of(job, *chain);
  }
}

/// Buries some chains of retired versions.
bool bury_retired(PoolState& pool) REQUIRES(pool.mutex) {
  uint32_t left = kGravesPerStep;
  const std::vector<bool> is_heritable = pool.chains.heritable();
  for (uint32_t i = 0; i < pool.chains.version_count(); ++i) {
    const VersionRecord& version = pool.chains.version(i);
    while (version.is_retired && !is_heritable[i] && !version.chains.empty() && left > 0) {
      pool.chains.bury(*version.chains.back(), false);
      --left;
    }
  }
  return left < kGravesPerStep;
}

/// Plans transfers for what waits, as far as one batch goes.
void plan_stores(PoolState& pool, Plan& plan, bool is_head_writable) REQUIRES(pool.mutex) {
  std::vector<Chain*> taken, unfinished, renamed;
  for (Chain* chain : pool.writer.queued()) {
    if (plan.bytes_left < pool.options.block_bytes) break;
    if (chain->is_renaming && is_head_writable) {
      renamed.push_back(chain);
      continue;
    }
    taken.push_back(chain);
    if (!plan_transfers(pool, plan, *chain, is_head_writable)) unfinished.push_back(chain);
    pool.counts.store_wait_us += pool.now_us() - chain->store_asked_us;
    chain->store_asked_us = pool.now_us();
    if (is_head_writable && chain->durable.seq != chain->seq) item_of(plan.job, *chain);
  }
  pool.writer.take(taken.size() + renamed.size());
  for (Chain* chain : renamed) pool.writer.queue_again(*chain);
  // Chains of this batch still count as queued here, so eviction skips them.
  const bool any_evicted = is_head_writable && plan_evictions(pool, plan);
  for (Chain* chain : taken) chain->is_store_queued = false;
  // If no slot can become free, the rest of a chain waits for its next commit.
  const bool has_hope = any_evicted || plan.short_blocks == 0;
  for (Chain* chain : unfinished) {
    if (has_hope) {
      pool.writer.queue_again(*chain);
    } else {
      ++pool.counts.stores_dropped;
    }
  }
  if (is_head_writable) {
    for (StoreItem& item : plan.job.items) plan_head(pool, item);
  }
  for (Chain* chain : taken) pool.chains.forget_if_empty(*chain);
}

}  // namespace

bool PoolWork::begin_store(StoreJob& job) {
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  if (pool.writer.is_busy()) return false;
  job = StoreJob{};
  job.is_nothing = bury_retired(pool);
  const bool has_heads = pool.tiers.has_heads();
  const bool is_broken = pool.writer.is_broken();
  if (has_heads && pool.writer.is_resting() && !is_broken) return job.is_nothing;
  const bool is_head_writable = has_heads && !is_broken;
  if (is_head_writable) {
    plan_erasures(pool, job);
    plan_renames(pool, job);
  }
  Plan plan{job, std::max(pool.options.store_batch_bytes, pool.options.block_bytes)};
  plan_stores(pool, plan, is_head_writable);
  if (job.items.empty() && job.erased.empty()) {
    pool.writer.stored.notify_all();  // what waited had nothing to store
    return job.is_nothing;
  }
  job.is_nothing = false;
  pool.writer.begin();
  return true;
}

void PoolWork::finish(StoreJob& job) {
  if (job.is_nothing) return;
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  pool.publish_locked(job);
  pool.writer.end();
}

}  // namespace tessera::kv
