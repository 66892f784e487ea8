// Loads: blocks brought from host and disk to the device, in the order of the chain.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// Blocks to wish for so that the chain's first `tokens` tokens are on the device.
uint32_t wished_blocks(const Chain& chain, uint32_t tokens) {
  return std::min(blocks_of(tokens), reachable_blocks(chain));
}

bool wants_load(const Chain& chain, uint32_t end) { return end > chain.resident_in(Tier::kDevice); }

/// Reads the job's bytes as they lie in their tier, and checks them.
Status read_stored(PoolState& pool, const LoadJob& job, std::span<std::byte> bytes) {
  if (job.from == Tier::kHost) {
    return pool.tier(Tier::kHost).memory->read(job.source, bytes);
  }
  TESSERA_RETURN_IF_ERROR(pool.options.store->read(job.source, bytes));
  if (block_checksum(bytes, job.key) == job.checksum) return Status::ok();
  return {Code::kKvStoreCorrupt, "block of slot " + std::to_string(job.source) +
                                     " does not have the checksum of its head"};
}

/// Takes the job's bytes to where device blocks are made.
Status read_source(PoolState& pool, const LoadJob& job, std::span<std::byte> block) {
  const BlockCodec* codec = pool.options.codec.get();
  if (codec == nullptr) return read_stored(pool, job, block);
  std::vector<std::byte> stored(pool.lower_bytes());
  TESSERA_RETURN_IF_ERROR(read_stored(pool, job, stored));
  codec->decode(stored, block);
  return Status::ok();
}

}  // namespace

void PoolState::queue_load_locked(Chain& chain, uint32_t end) {
  ChainLoad& load = chain.load;
  if (!load.is_queued && load.in_flight == 0) load.next = chain.resident_in(Tier::kDevice);
  load.end = std::max(load.end, end);
  if (load.is_queued) return;
  load.is_queued = true;
  load.asked_us = now_us();
  load_queue.push_back(&chain);
}

void PoolState::end_load_if_idle_locked(Chain& chain) {
  ChainLoad& load = chain.load;
  if (load.is_queued || load.in_flight > 0) return;
  // What landed behind a hole is of no use.
  for (uint32_t i = chain.resident_in(Tier::kDevice); i < chain.blocks.size(); ++i) {
    drop_slot_locked(chain, i, Tier::kDevice, SlotState::kEvicting);
  }
  load.next = load.end = 0;
  landed.notify_all();
}

Prefetch Pool::prefetch(Version version, std::string_view user, uint32_t tokens_max) {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  if (version >= pool.versions.size() || pool.versions[version].is_retired) return {};
  Chain* chain = pool.nearest_chain_locked(version, user);
  if (chain == nullptr) return {};
  Chain* prefix = pool.prefix_under_locked(version, *chain);
  if (chain->prefix_blocks > 0 && prefix == nullptr) return {};  // nothing to stand on
  const uint32_t end = wished_blocks(*chain, tokens_max);
  const uint32_t prefix_end =
      prefix == nullptr ? 0 : wished_blocks(*prefix, chain->prefix_blocks * kBlockTokens);
  const bool wants_prefix = prefix != nullptr && wants_load(*prefix, prefix_end);
  if (!wants_prefix && !wants_load(*chain, end)) return {};
  if (pool.load_queue.size() + 2 > pool.options.prefetch_queue_max) {
    ++pool.counts.prefetches_refused;
    return {};
  }
  ++pool.counts.prefetches;
  if (wants_prefix) pool.queue_load_locked(*prefix, prefix_end);
  if (wants_load(*chain, end)) pool.queue_load_locked(*chain, end);
  if (pool.free_prefetches.empty()) {
    pool.prefetches.push_back(std::make_unique<PrefetchRecord>());
    pool.free_prefetches.push_back(pool.prefetches.back().get());
  }
  PrefetchRecord* record = pool.free_prefetches.back();
  pool.free_prefetches.pop_back();
  *record = {.chain = chain, .prefix = prefix};
  for (Chain* wanted : {chain, prefix}) {
    if (wanted == nullptr) continue;
    ++wanted->holds;
    ++wanted->load.waiting;
  }
  pool.load_ready.notify_all();
  return Prefetch(state_.get(), record);
}

bool PoolWork::begin_load(LoadJob& job) {
  PoolState& pool = state_;
  const std::lock_guard lock(pool.mutex);
  while (!pool.load_queue.empty()) {
    Chain& chain = *pool.load_queue.front();
    ChainLoad& load = chain.load;
    load.next = std::max(load.next, chain.resident_in(Tier::kDevice));
    if (load.next >= load.end) {
      pool.load_queue.erase(pool.load_queue.begin());
      load.is_queued = false;
      pool.end_load_if_idle_locked(chain);
      pool.forget_if_empty_locked(chain);
      continue;
    }
    const uint32_t index = load.next++;
    ChainBlock& block = chain.blocks[index];
    if (block.slot(Tier::kDevice) != kNoSlot) continue;
    const Tier from = block.slot(Tier::kHost) != kNoSlot ? Tier::kHost : Tier::kDisk;
    if (block.slot(from) == kNoSlot) {
      load.end = index;
      continue;
    }
    const SlotIndex target = pool.reserve_locked(Tier::kDevice, &chain);
    if (target == kNoSlot) {
      ++pool.counts.loads_without_slot;
      load.end = index;
      continue;
    }
    SlotTable& slots = *pool.tier(Tier::kDevice).slots;
    slots.move(target, SlotState::kReserved, SlotState::kFilling);
    slots.io_begin(target);
    pool.tier(from).slots->io_begin(block.slot(from));
    if (load.asked_us != 0) {
      pool.counts.load_wait_us += pool.now_us() - load.asked_us;
      load.asked_us = 0;
    }
    ++chain.holds;
    ++load.in_flight;
    job = {.chain = &chain,
           .index = index,
           .key = block.key,
           .checksum = block.checksum,
           .from = from,
           .source = block.slot(from),
           .target = target,
           .spent_us = 0,
           .status = Status::ok()};
    return true;
  }
  return false;
}

void PoolWork::perform(LoadJob& job) {
  PoolState& pool = state_;
  const uint64_t begun_us = pool.now_us();
  BlockMemory& memory = *pool.tier(Tier::kDevice).memory;
  if (memory.is_addressable()) {
    job.status = read_source(pool, job, {memory.address(job.target), pool.options.block_bytes});
  } else if (job.from == Tier::kHost && pool.options.codec == nullptr) {
    // From where it lies: a device copies from pinned memory without another's help.
    const std::byte* block = pool.tier(Tier::kHost).memory->address(job.source);
    job.status = memory.write(job.target, {block, pool.options.block_bytes});
  } else {
    std::vector<std::byte> bytes(pool.options.block_bytes);
    job.status = read_source(pool, job, bytes);
    if (job.status.is_ok()) job.status = memory.write(job.target, bytes);
  }
  job.spent_us = pool.now_us() - begun_us;
}

void PoolWork::finish(LoadJob& job) {
  PoolState& pool = state_;
  const std::lock_guard lock(pool.mutex);
  Chain& chain = *job.chain;
  SlotTable& slots = *pool.tier(Tier::kDevice).slots;
  const bool is_current =
      !chain.is_dead && job.index < chain.blocks.size() && chain.blocks[job.index].key == job.key;
  const bool is_wanted = is_current && chain.blocks[job.index].slot(Tier::kDevice) == kNoSlot &&
                         job.index >= chain.resident_in(Tier::kDevice);
  pool.io_end_locked(job.from, job.source);
  slots.io_end(job.target);
  if (job.status.is_ok() && is_wanted) {
    slots.move(job.target, SlotState::kFilling, SlotState::kResident);
    chain.blocks[job.index].slot(Tier::kDevice) = job.target;
    chain.blocks[job.index].found_in = job.from;
    chain.blocks[job.index].is_exact = !pool.is_lossy();
    pool.advance_device_locked(chain);
  } else {
    slots.set_unwritten(job.target, true);
    pool.free_slot_locked(Tier::kDevice, job.target, SlotState::kAborted);
  }
  if (job.status.is_ok()) {
    TierMetrics& metrics = pool.tier(job.from).metrics;
    metrics.read_bytes += pool.lower_bytes();
    metrics.read_us += job.spent_us;
  } else {
    chain.load.end = std::min(chain.load.end, job.index);
    const bool is_corrupt = job.status.code() == Code::kKvStoreCorrupt;
    ++(is_corrupt ? pool.counts.loads_corrupt : pool.counts.loads_failed);
    if (is_corrupt && is_current) pool.give_up_disk_locked(chain, job.index, job.source);
  }
  --chain.load.in_flight;
  if (!chain.is_dead) {
    const bool is_host_wanted = pool.tier(Tier::kHost).slots->count() > 0;
    pool.end_load_if_idle_locked(chain);
    if (is_host_wanted && chain.load.in_flight == 0) pool.queue_store_locked(chain);
  }
  pool.release_locked(chain);
  pool.landed.notify_all();
  if (pool.options.on_transfer) pool.options.on_transfer();
}

void PoolState::give_up_disk_locked(Chain& chain, uint32_t index, SlotIndex slot) {
  if (chain.blocks[index].slot(Tier::kDisk) != slot) return;
  const uint32_t had = chain.resident_in(Tier::kDisk);
  for (uint32_t i = index; i < had; ++i) {
    drop_slot_locked(chain, i, Tier::kDisk, SlotState::kOrphan);
  }
  set_resident_locked(chain, Tier::kDisk, std::min(had, index));
  queue_store_locked(chain);
}

}  // namespace tessera::kv
