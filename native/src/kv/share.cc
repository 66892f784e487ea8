// Puts into stores that other processes use: one chain at a time, the one that changed last first.
// Blocks, then the head, which names them; where another process has replaced the head meanwhile,
// that one is adopted and the chain waits again. Erasures come before everything else.
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "kv/pool_state.h"
#include "kv/stored_copy.h"

namespace tessera::kv {
namespace {

constexpr size_t kSharedWritesPendingMax = 4;

/// Plans the copies of what this process has and the store lacks, as far as one batch goes. The
/// number of blocks that the store will have then.
uint32_t plan_copies(PoolState& pool, ShareJob& job, Chain& chain) REQUIRES(pool.mutex) {
  uint32_t index = chain.resident[job.which];
  uint64_t bytes_left = std::max(pool.options.store_batch_bytes, pool.options.block_bytes);
  for (; index < chain.blocks.size(); ++index) {
    const TierIndex from = chain.nearest(index);
    const bool is_own = from != kNoTier && pool.tiers[from].shared == nullptr;
    if (!is_own || bytes_left < pool.options.block_bytes) break;
    const SlotIndex slot = pool.chains.reserve(job.which, &chain);
    if (slot == kNoSlot) break;
    SlotTable& slots = *pool.tiers[job.which].slots;
    slots.move(slot, SlotState::kReserved, SlotState::kFilling);
    slots.io_begin(slot);
    StoreTransfer transfer{
        .index = index, .from = from, .source = chain.blocks[index].stored_in(from)};
    transfer.to[job.which] = slot;
    pool.tiers[from].slots->io_begin(transfer.source.slot);
    bytes_left -= pool.options.block_bytes;
    job.transfers.push_back(transfer);
  }
  return index;
}

void plan_shared_head(ShareJob& job, const Chain& chain, uint32_t blocks) {
  HeadRecord& head = job.head;
  head.key = {job.name.version, chain.is_prefix, chain.owner};
  head.seq = chain.seq;
  head.prefix = chain.prefix;
  head.prefix_blocks = chain.prefix_blocks;
  head.versions_back = chain.versions_back;
  head.root = chain.root;
  head.tokens.assign(chain.tokens.begin(), chain.tokens.begin() + tokens_in(chain, blocks));
  for (uint32_t i = 0; i < blocks; ++i) {
    head.blocks.push_back({i, chain.blocks[i].length, 0});
    job.keys.push_back(chain.blocks[i].key);
  }
}

/// Plans what the store lacks of the chain, and a head that names no block which it has lost; false
/// when that is nothing.
bool plan_share(PoolState& pool, ShareJob& job, Chain& chain) REQUIRES(pool.mutex) {
  SharedCopy& known = pool.sharing.copy(chain, job.which);
  job.chain = &chain;
  job.version = chain.version;
  job.name = shared_name(chain, pool.chains.version(chain.version).digest);
  job.head.key = {job.name.version, chain.is_prefix, chain.owner};
  job.finds = !known.is_known;
  if (job.finds) return true;
  const uint32_t blocks = plan_copies(pool, job, chain);
  plan_shared_head(job, chain, blocks);
  job.is_whole = blocks == chain.blocks.size();
  if (job.transfers.empty() && job.keys == known.keys) {
    known.seq = job.is_whole ? chain.seq : 0;  // nothing that the store lacks is here
    return false;
  }
  job.replaces = known.revision;
  for (const Digest& key : known.keys) {
    if (std::find(job.keys.begin(), job.keys.end(), key) == job.keys.end()) job.gone.push_back(key);
  }
  return true;
}

/// Copies the job's blocks, a few at a time; the first error.
Status write_copies(PoolState& pool, ShareJob& job) {
  struct Write {
    StoreTransfer* transfer;
    StoredCopy from;
    BlockTransfer write;
  };
  SharedStore& store = *pool.tiers[job.which].shared;
  std::deque<std::unique_ptr<Write>> pending;
  Status status;
  const auto end_oldest = [&] {
    Write& oldest = *pending.front();
    while (!store.has_ended(oldest.write, kTransferLookUs)) {
    }
    oldest.transfer->is_written[job.which] = oldest.write.status.is_ok();
    job.is_erased = job.is_erased || oldest.write.status.code() == Code::kCancelled;
    if (oldest.write.status.is_ok()) {
      job.bytes += oldest.write.from.size();
    } else if (status.is_ok()) {
      status = std::move(oldest.write.status);
    }
    pending.pop_front();
  };
  for (StoreTransfer& transfer : job.transfers) {
    if (!status.is_ok()) break;
    auto write = std::make_unique<Write>();
    write->transfer = &transfer;
    write->from = stored_copy(pool, transfer);
    if (!write->from.status.is_ok()) {
      status = write->from.status;
      break;
    }
    write->write.block = {transfer.source.key, transfer.to[job.which]};
    write->write.chain = job.name;
    write->write.from = write->from.bytes;
    store.begin_write(write->write);
    pending.push_back(std::move(write));
    if (pending.size() >= kSharedWritesPendingMax) end_oldest();
  }
  while (!pending.empty()) end_oldest();
  return status;
}

/// The written blocks become the chain's.
void publish_written(PoolState& pool, ShareJob& job) REQUIRES(pool.mutex) {
  Chain& chain = *job.chain;
  for (const StoreTransfer& transfer : job.transfers) {
    const SlotIndex slot = transfer.to[job.which];
    pool.tiers.io_end(transfer.from, transfer.source.slot);
    pool.tiers.io_end(job.which, slot);
    const bool is_kept = job.status.is_ok() && job.published == Published::kKept;
    if (!is_kept) {
      pool.tiers.free_slot(job.which, slot, SlotState::kAborted);
      continue;
    }
    if (!pool.publish_copy_locked(chain, transfer, job.which)) {
      pool.tiers.free_slot(job.which, slot, SlotState::kOrphan);
    }
  }
  TierMetrics& metrics = pool.tiers[job.which].metrics;
  metrics.written_bytes += job.bytes;
  metrics.written_us += job.us;
}

/// Notes the outcome in the chain; true when it is to be looked at again.
bool note_outcome(PoolState& pool, ShareJob& job) REQUIRES(pool.mutex) {
  SharedCopy& known = pool.sharing.copy(*job.chain, job.which);
  known.looked_us = pool.now_us();
  switch (job.published) {
    case Published::kKept:
      known.revision = std::move(job.revision);
      known.keys = std::move(job.keys);
      known.seq = job.is_whole ? job.head.seq : 0;
      ++pool.counts.puts;
      return known.seq != job.chain->seq && !job.transfers.empty();
    case Published::kChanged:
      known.is_known = false;
      ++pool.counts.puts_changed;
      return true;
    case Published::kErased:
      known.is_erased = true;
      ++pool.counts.puts_erased;
      return false;
  }
  return false;
}

}  // namespace

bool PoolWork::begin_share(TierIndex which, ShareJob& job) {
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  if (pool.sharing.is_busy(which)) return false;
  job = ShareJob{};
  job.which = which;
  job.erasure = pool.sharing.next_erasure(which);
  if (job.erasure.has_value()) {
    pool.sharing.set_busy(which, true);
    return true;
  }
  if (!pool.tiers[which].shared->is_available() || pool.sharing.is_resting(which)) return false;
  while (Chain* chain = pool.sharing.take_newest(which)) {
    if (!plan_share(pool, job, *chain)) {
      job = ShareJob{};
      job.which = which;
      pool.chains.forget_if_empty(*chain);
      continue;
    }
    ++chain->holds;
    pool.sharing.set_busy(which, true);
    return true;
  }
  pool.writer.stored.notify_all();
  return false;
}

void PoolWork::perform(ShareJob& job) {
  PoolState& pool = state_;
  SharedStore& store = *pool.tiers[job.which].shared;
  if (job.erasure.has_value()) {
    job.status = store.erase(job.erasure->owner, job.erasure->at);
    return;
  }
  if (job.finds) {
    Result<FoundHead> found = store.find_now(job.name);
    job.status = found.is_ok() ? Status::ok() : found.status();
    if (found.is_ok()) job.found = std::move(found).value();
    return;
  }
  const uint64_t begun_us = pool.now_us();
  job.status = write_copies(pool, job);
  if (job.is_erased) {
    job.status = Status::ok();
    job.published = Published::kErased;
  } else if (job.status.is_ok()) {
    Result<Published> published =
        store.publish(job.name, encode(job.head), job.replaces, job.gone, job.revision);
    if (published.is_ok()) job.published = published.value();
    job.status = published.is_ok() ? Status::ok() : published.status();
  }
  job.us = pool.now_us() - begun_us;
}

void PoolWork::finish(ShareJob& job) {
  PoolState& pool = state_;
  const MutexLock lock(pool.mutex);
  pool.sharing.set_busy(job.which, false);
  if (job.erasure.has_value()) {
    if (job.status.is_ok()) pool.sharing.note_erased(job.which, *job.erasure);
    if (!job.status.is_ok()) ++pool.counts.puts_failed;
    pool.writer.stored.notify_all();
    return;
  }
  Chain& chain = *job.chain;
  publish_written(pool, job);
  const bool is_current = !chain.is_dead && chain.version == job.version;
  bool goes_on = false;
  if (!job.status.is_ok()) {
    ++pool.counts.puts_failed;
    pool.counts.store_error = job.status.message();
    pool.sharing.rest(job.which);
    goes_on = is_current;
    if (is_current) pool.sharing.copy(chain, job.which).is_known = false;  // it may have come there
  } else if (is_current && job.finds) {
    (void)pool.adopt_locked(job.which, job.version, job.head.key, job.found);
    goes_on = pool.sharing.copy(chain, job.which).seq != chain.seq;
  } else if (is_current) {
    goes_on = note_outcome(pool, job);
  }
  if (goes_on) pool.sharing.queue(chain);
  pool.chains.release(chain);
  pool.writer.stored.notify_all();
}

}  // namespace tessera::kv
