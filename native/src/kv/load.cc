// Loads: blocks brought from the stores below to the device, in the order of the chain.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "kv/look.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// Blocks to wish for so that the chain's first `tokens` tokens are on the device.
uint32_t wished_blocks(const Chain& chain, uint32_t tokens) {
  return std::min(blocks_of(tokens), reachable_blocks(chain));
}

bool wants_load(const Chain& chain, uint32_t end) { return end > chain.resident[kDevice]; }

/// Where the job's stored bytes go: to the block itself where they are the block and the processor
/// can write there.
std::span<std::byte> landing_of(PoolState& pool, LoadJob& job) {
  BlockMemory& memory = pool.tiers.memory();
  if (pool.options.codec == nullptr && memory.is_addressable()) {
    return {memory.address(job.target), pool.options.block_bytes};
  }
  job.stored.resize(pool.tiers.stored_bytes());
  return job.stored;
}

/// Makes the block of the job's bytes, which have been read.
Status make_block(PoolState& pool, LoadJob& job) {
  BlockMemory& memory = pool.tiers.memory();
  const BlockCodec* codec = pool.options.codec.get();
  if (!job.transfer.status.is_ok()) return job.transfer.status;
  if (codec == nullptr) {
    return job.stored.empty() ? Status::ok() : memory.write(job.target, job.stored);
  }
  if (memory.is_addressable()) {
    codec->decode(job.stored, {memory.address(job.target), pool.options.block_bytes});
    return Status::ok();
  }
  std::vector<std::byte> block(pool.options.block_bytes);
  codec->decode(job.stored, block);
  return memory.write(job.target, block);
}

/// The loads that bring up what the pool has of a user; none where nothing is to be brought.
struct WantedLoads {
  Chain* chain = nullptr;
  Chain* prefix = nullptr;
  uint32_t end = 0, prefix_end = 0;  // in blocks; 0: none of it
  bool any() const { return end > 0 || prefix_end > 0; }
};

WantedLoads wanted_loads(PoolState& pool, uint32_t version, std::string_view owner,
                         uint32_t tokens_max) REQUIRES(pool.mutex) {
  WantedLoads wanted;
  Chain* chain = pool.chains.nearest(version, owner);
  if (chain == nullptr) return {};
  Chain* prefix = pool.chains.prefix_under(version, *chain);
  if (chain->prefix_blocks > 0 && prefix == nullptr) return {};  // nothing to stand on
  wanted = {.chain = chain, .prefix = prefix};
  wanted.end = wished_blocks(*chain, tokens_max);
  if (!wants_load(*chain, wanted.end)) wanted.end = 0;
  if (prefix == nullptr) return wanted;
  wanted.prefix_end = wished_blocks(*prefix, chain->prefix_blocks * kBlockTokens);
  if (!wants_load(*prefix, wanted.prefix_end)) wanted.prefix_end = 0;
  return wanted;
}

/// False when too many wait.
bool queue_loads(PoolState& pool, const WantedLoads& wanted) REQUIRES(pool.mutex) {
  if (!pool.loader.has_room()) {
    ++pool.counts.prefetches_refused;
    return false;
  }
  ++pool.counts.prefetches;
  if (wanted.prefix_end > 0) pool.loader.queue(*wanted.prefix, wanted.prefix_end);
  if (wanted.end > 0) pool.loader.queue(*wanted.chain, wanted.end);
  pool.loader.ready.notify_all();
  return true;
}

}  // namespace

Prefetch Pool::prefetch(Version version, std::string_view user, uint32_t tokens_max) {
  PoolState& pool = *state_;
  PrefetchRecord* record = nullptr;
  uint64_t look = 0;
  Digest held;
  const std::string_view owner = owner_of_user(user, held);
  {
    const MutexLock lock(pool.mutex);
    const bool is_served =
        version < pool.chains.version_count() && !pool.chains.version(version).is_retired;
    if (!is_served) return {};
    const WantedLoads wanted = wanted_loads(pool, version, owner, tokens_max);
    const bool loads = wanted.any() && queue_loads(pool, wanted);
    look = begin_look(pool, version, owner, tokens_max, pool.chains.nearest(version, owner));
    if (!loads && look == 0) return {};
    record = loads ? &pool.loader.begin(wanted.chain, wanted.prefix)
                   : &pool.loader.begin(nullptr, nullptr);
    record->look = look;
    if (look != 0) pool.sharing.look(look)->record = record;
  }
  if (look != 0) ask_look(pool, look);
  return Prefetch(state_.get(), record);
}

void PoolState::load_locked(uint32_t version, std::string_view owner, uint32_t tokens_max,
                            PrefetchRecord& record) {
  if (chains.version(version).is_retired) return;
  const WantedLoads wanted = wanted_loads(*this, version, owner, tokens_max);
  if (!wanted.any() || !queue_loads(*this, wanted)) return;
  if (record.chain == nullptr && record.prefix == nullptr) {
    loader.hold(record, wanted.chain, wanted.prefix);
  }
}

bool PoolWork::begin_load(LoadJob& job) {
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  while (!pool.loader.is_empty()) {
    Chain& chain = pool.loader.front();
    ChainLoad& load = chain.load;
    load.next = std::max(load.next, chain.resident[kDevice]);
    if (load.next >= load.end) {
      pool.loader.pop_front();
      continue;
    }
    const uint32_t index = load.next++;
    ChainBlock& block = chain.blocks[index];
    if (block.slots[kDevice] != kNoSlot) continue;
    const TierIndex from = block.nearest_below();
    if (from == kNoTier) {
      load.end = index;
      continue;
    }
    const SlotIndex target = pool.chains.reserve(kDevice, &chain);
    if (target == kNoSlot) {
      ++pool.counts.loads_without_slot;
      load.end = index;
      continue;
    }
    SlotTable& slots = *pool.tiers.device().slots;
    slots.move(target, SlotState::kReserved, SlotState::kFilling);
    slots.io_begin(target);
    pool.tiers[from].slots->io_begin(block.slots[from]);
    pool.tiers[from].begin_read(pool.now_us());
    if (load.asked_us != 0) {
      pool.counts.load_wait_us += pool.now_us() - load.asked_us;
      load.asked_us = 0;
    }
    ++chain.holds;
    ++load.in_flight;
    job.chain = &chain;
    job.index = index;
    job.from = from;
    job.target = target;
    job.transfer = {.block = block.stored_in(from)};
    if (pool.tiers[from].shared != nullptr) {
      job.transfer.chain = shared_name(chain, pool.chains.version(chain.version).digest);
    }
    job.stored.clear();
    job.is_started = job.is_moved = false;
    job.status = Status::ok();
    return true;
  }
  return false;
}

void PoolWork::start(LoadJob& job) {
  PoolState& pool = state_;
  job.is_started = true;
  BlockStore& store = *pool.tiers[job.from].store;
  BlockMemory& memory = pool.tiers.memory();
  const bool is_pinned = !memory.is_addressable() && pool.options.codec == nullptr;
  const auto lying = is_pinned ? store.view(job.transfer.block.slot) : std::span<const std::byte>();
  if (!lying.empty()) {
    // From where it lies: a device copies from pinned memory without another's help.
    job.status = memory.write(job.target, lying);
    job.is_moved = true;
    return;
  }
  job.transfer.to = landing_of(pool, job);
  store.begin_read(job.transfer);
}

bool PoolWork::has_ended(LoadJob& job, uint64_t budget_us) {
  PoolState& pool = state_;
  if (!job.is_moved) {
    if (!pool.tiers[job.from].store->has_ended(job.transfer, budget_us)) return false;
    job.status = make_block(pool, job);
    job.is_moved = true;
  }
  return true;
}

void PoolWork::perform(LoadJob& job) {
  start(job);
  while (!has_ended(job, kTransferLookUs)) {
  }
}

void PoolWork::finish(LoadJob& job) {
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  Chain& chain = *job.chain;
  SlotTable& slots = *pool.tiers.device().slots;
  const bool is_current = !chain.is_dead && job.index < chain.blocks.size() &&
                          chain.blocks[job.index].key == job.transfer.block.key;
  const bool is_wanted = is_current && chain.blocks[job.index].slots[kDevice] == kNoSlot &&
                         job.index >= chain.resident[kDevice];
  pool.tiers.io_end(job.from, job.transfer.block.slot);
  pool.tiers[job.from].end_read(pool.now_us());
  slots.io_end(job.target);
  if (job.status.is_ok() && is_wanted) {
    slots.move(job.target, SlotState::kFilling, SlotState::kResident);
    chain.blocks[job.index].slots[kDevice] = job.target;
    chain.blocks[job.index].found_in = job.from;
    chain.blocks[job.index].is_exact = !pool.is_lossy();
    pool.chains.advance_device(chain);
  } else {
    slots.set_unwritten(job.target, true);
    pool.tiers.free_slot(kDevice, job.target, SlotState::kAborted);
  }
  if (job.status.is_ok()) {
    TierMetrics& metrics = pool.tiers[job.from].metrics;
    metrics.read_bytes += pool.tiers.stored_bytes();
  } else {
    chain.load.end = std::min(chain.load.end, job.index);
    const bool is_gone = job.status.code() == Code::kKvStoreCorrupt;
    const bool is_missing = job.transfer.is_missing;
    ++(is_missing ? pool.counts.loads_missing
       : is_gone  ? pool.counts.loads_corrupt
                  : pool.counts.loads_failed);
    if (is_gone && is_current) {
      pool.give_up_locked(chain, job.index, job.from, job.transfer.block.slot);
    }
  }
  --chain.load.in_flight;
  if (!chain.is_dead) {
    pool.loader.end_if_idle(chain);
    // Nearer tiers that had not got it may have it now.
    if (job.from > kDevice + 1 && chain.load.in_flight == 0) pool.writer.queue(chain);
  }
  pool.chains.release(chain);
  pool.loader.landed.notify_all();
  if (pool.options.on_transfer) pool.options.on_transfer();
}

void PoolState::give_up_locked(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot) {
  if (!chains.give_up(chain, index, which, slot)) return;
  if (tiers[which].shared != nullptr)
    sharing.copy(chain, which).seq = 0;  // its head names too much
  writer.queue(chain);
}

}  // namespace tessera::kv
