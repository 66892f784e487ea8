// Epochs: what a group of forward work computes becomes visible at once, or never.
#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {

EpochRecord* PoolState::epoch_locked(Epoch epoch) {
  if (epoch == 0) return nullptr;
  for (EpochRecord& record : epochs) {
    if (record.epoch == epoch) return &record;
  }
  return nullptr;
}

Epoch Pool::open_epoch() {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  for (EpochRecord& record : pool.epochs) {
    if (record.epoch != 0) continue;
    record.epoch = ++pool.last_epoch;
    TESSERA_CHECK(record.staged.empty());
    return record.epoch;
  }
  TESSERA_CHECK(!"at most kEpochsMax epochs are open");
  return 0;
}

void Pool::stage(Lease& lease, Epoch epoch, uint32_t keep) {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  LeaseRecord& record = *lease.record_;
  if (record.phase == LeasePhase::kFailed) return;  // revoked by another thread
  TESSERA_CHECK(record.phase == LeasePhase::kOpen);
  TESSERA_CHECK(keep <= record.tokens.size() && blocks_of(keep) <= record.blocks.size());
  EpochRecord* opened = pool.epoch_locked(epoch);
  TESSERA_CHECK(opened != nullptr);
  for (uint32_t i = record.own_from; i < blocks_of(keep); ++i) {
    pool.tier(Tier::kDevice)
        .slots->move(record.blocks[i].slot, SlotState::kFilling, SlotState::kStaged);
  }
  record.phase = LeasePhase::kStaged;
  record.epoch = epoch;
  record.keep = keep;
  opened->staged.push_back(&record);
}

CommitSummary Pool::commit(Epoch epoch) {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  EpochRecord* opened = pool.epoch_locked(epoch);
  TESSERA_CHECK(opened != nullptr);
  CommitSummary summary;
  // In the order of staging: a producer before those that build on it.
  while (!opened->staged.empty()) {
    LeaseRecord& lease = *opened->staged.front();
    switch (pool.attach_locked(lease)) {
      case PoolState::Attached::kCommitted: ++summary.committed; break;
      case PoolState::Attached::kNothingNew: ++summary.nothing_new; break;
      case PoolState::Attached::kLost: ++summary.lost; break;
    }
    lease.phase = LeasePhase::kCommitted;
    pool.unlink_locked(lease);
  }
  opened->epoch = 0;
  pool.counts.commits += summary.committed;
  pool.counts.commits_lost += summary.lost;
  return summary;
}

void Pool::fail(Lease& lease, std::vector<uint64_t>& revoked) {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  if (lease.record_->phase == LeasePhase::kFailed) return;
  pool.void_locked(*lease.record_, &revoked);
  ++pool.counts.rolled_back;
}

void Pool::rollback(Epoch epoch, std::vector<uint64_t>& revoked) {
  PoolState& pool = *state_;
  const std::lock_guard lock(pool.mutex);
  EpochRecord* opened = pool.epoch_locked(epoch);
  TESSERA_CHECK(opened != nullptr);
  while (!opened->staged.empty()) {
    LeaseRecord& lease = *opened->staged.front();
    revoked.push_back(lease.tag);
    pool.void_locked(lease, &revoked);
    ++pool.counts.rolled_back;
  }
  opened->epoch = 0;
}

}  // namespace tessera::kv
