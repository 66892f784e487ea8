// Leases: blocks added to them, committed, and given back.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// Own blocks for the lease up to `wanted` blocks in all; none when that fails.
bool reserve_blocks(PoolState& pool, LeaseRecord& lease, uint64_t wanted) REQUIRES(pool.mutex) {
  SlotTable& slots = *pool.tiers.device().slots;
  BlockMemory& memory = pool.tiers.memory();
  const uint64_t had = lease.blocks.size();
  while (lease.blocks.size() < wanted) {
    const SlotIndex slot = pool.chains.reserve(kDevice, nullptr);
    if (slot == kNoSlot) {
      for (uint64_t i = had; i < lease.blocks.size(); ++i) {
        pool.tiers.free_slot(kDevice, lease.blocks[i].slot, SlotState::kDraining);
        pool.tiers.unpin(kDevice, lease.blocks[i].slot);
      }
      lease.blocks.resize(had);
      return false;
    }
    slots.move(slot, SlotState::kReserved, SlotState::kFilling);
    TESSERA_CHECK(slots.pin(slot));
    lease.blocks.push_back({slot, memory.address(slot)});
  }
  return true;
}

/// Blocks [whole, shared_blocks) of the leader, pinned for the lease as well; a matched block that
/// is not full gives way to the leader's. False where there is none.
bool pin_leaders(PoolState& pool, LeaseRecord& lease, const LeaseRecord& leader,
                 uint32_t shared_blocks) REQUIRES(pool.mutex) {
  SlotTable& slots = *pool.tiers.device().slots;
  const uint32_t whole = lease.matched / kBlockTokens;
  const uint64_t end = std::min<uint64_t>(shared_blocks, leader.blocks.size());
  bool any = false;
  for (uint64_t i = whole; i < end && slots.pin(leader.blocks[i].slot); ++i) {
    if (!any && lease.blocks.size() > whole) {
      pool.tiers.unpin(kDevice, lease.blocks.back().slot);
      lease.blocks.pop_back();
    }
    any = true;
    lease.blocks.push_back(leader.blocks[i]);
  }
  lease.own_from = static_cast<uint32_t>(lease.blocks.size());
  return any;
}

}  // namespace

Status Pool::extend(Lease& lease, uint32_t positions) {
  return extend_record(*lease.record_, nullptr, 0, positions);
}

Status Pool::extend_beside(Lease& lease, const Lease& leader, uint32_t shared_blocks,
                           uint32_t positions) {
  TESSERA_CHECK(lease.record_ != nullptr && leader.record_ != nullptr);
  TESSERA_CHECK(lease.record_->own_from == lease.record_->blocks.size());
  return extend_record(*lease.record_, leader.record_, shared_blocks, positions);
}

Status Pool::extend_record(LeaseRecord& record, const LeaseRecord* leader, uint32_t shared_blocks,
                           uint32_t positions) {
  PoolState& pool = *state_;
  SlotTable& slots = *pool.tiers.device().slots;
  BlockMemory& memory = pool.tiers.memory();
  uint64_t had = 0;
  bool has_shared_tail = false;
  {
    const MutexLock lock(pool.mutex);
    if (record.phase != LeasePhase::kOpen) return {Code::kCancelled, "the lease was revoked"};
    // A matched block that is not full is shared: this lease goes on in a copy of it, or in the
    // leader's.
    has_shared_tail = record.own_from == record.blocks.size() &&
                      record.matched < record.blocks.size() * kBlockTokens;
    if (leader != nullptr) {
      if (pin_leaders(pool, record, *leader, shared_blocks)) has_shared_tail = false;
      // Also where no block is shared: what the leader writes or has written is copied.
      record.is_exact = record.is_exact && leader->is_exact;
      record.versions_back = std::max(record.versions_back, leader->versions_back);
    }
    had = record.blocks.size();
    const uint64_t wanted = std::max<uint64_t>(blocks_of(positions), had);
    if (wanted > slots.count()) {
      return {Code::kRequestInvalid, "prompt: expected at most " + std::to_string(slots.count()) +
                                         " blocks (the device tier), got " +
                                         std::to_string(wanted)};
    }
    if (!reserve_blocks(pool, record, wanted + (has_shared_tail ? 1 : 0))) {
      ++pool.counts.refused_extends;
      return {Code::kEngineOverloaded, "no block of the device tier can be freed now"};
    }
  }
  Status filled;
  for (uint64_t i = had; i < record.blocks.size(); ++i) {
    const SlotIndex slot = record.blocks[i].slot;
    if (filled.is_ok() && has_shared_tail && i == had) {
      filled = memory.copy(slot, record.blocks[had - 1].slot);
    } else if (filled.is_ok() && slots.view(slot).is_unwritten) {
      filled = memory.zero(slot);
    }
    slots.set_unwritten(slot, !filled.is_ok());  // of no use to anybody as it is
  }
  if (!has_shared_tail) return filled;
  const MutexLock lock(pool.mutex);
  pool.tiers.unpin(kDevice, record.blocks[had - 1].slot);
  record.blocks.erase(record.blocks.begin() + static_cast<int64_t>(had) - 1);
  --record.own_from;  // of a lease revoked meanwhile too: nothing behind is its own any more
  return filled;
}

Status Pool::copy(const BlockRef& to, const BlockRef& from) {
  return state_->tiers.memory().copy(to.slot, from.slot);
}

Committed Pool::commit(Lease& lease, uint32_t keep) {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  LeaseRecord& record = *lease.record_;
  if (record.phase == LeasePhase::kRevoked) return Committed::kLost;  // by another thread
  TESSERA_CHECK(record.phase == LeasePhase::kOpen);
  TESSERA_CHECK(keep <= record.tokens.size() && blocks_of(keep) <= record.blocks.size());
  const Committed committed = pool.attach_locked(record, keep);
  record.phase = LeasePhase::kCommitted;
  pool.counts.commits += committed == Committed::kKept;
  pool.counts.commits_lost += committed == Committed::kLost;
  return committed;
}

Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), record_(std::exchange(other.record_, nullptr)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    record_ = std::exchange(other.record_, nullptr);
  }
  return *this;
}

Lease::~Lease() { reset(); }

void Lease::reset() {
  if (record_ == nullptr) return;
  {
    const MutexLock lock(pool_->mutex);
    pool_->leases.end(*record_);
  }
  pool_ = nullptr;
  record_ = nullptr;
}

uint32_t Lease::matched() const { return record_->matched; }
PerTier<uint32_t> Lease::matched_by_tier() const { return record_->matched_by_tier; }
bool Lease::is_exact() const { return record_->is_exact; }
uint32_t Lease::versions_back() const { return record_->versions_back; }
uint32_t Lease::inherited() const { return record_->inherited; }
uint32_t Lease::loadable() const { return record_->loadable; }
std::span<const BlockRef> Lease::blocks() const { return record_->blocks; }
void Lease::note_written(uint32_t end) {
  std::atomic<uint32_t>& known = record_->written_end;
  const uint32_t before = known.load(std::memory_order_relaxed);
  if (before != LeaseRecord::kAllWritten) end = std::max(end, before);
  known.store(end, std::memory_order_release);
}
bool Lease::is_revoked() const { return record_->is_revoked.load(std::memory_order_acquire); }

}  // namespace tessera::kv
