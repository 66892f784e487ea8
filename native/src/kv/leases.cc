#include "kv/leases.h"

#include "base/check.h"

namespace tessera::kv {

LeaseRecord& Leases::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<LeaseRecord>());
    free_.push_back(all_.back().get());
    free_.reserve(all_.size());
  }
  LeaseRecord& lease = *free_.back();
  free_.pop_back();
  lease.phase = LeasePhase::kOpen;
  lease.written_end.store(LeaseRecord::kAllWritten, std::memory_order_relaxed);
  lease.is_revoked.store(false, std::memory_order_relaxed);
  lease.expected_seq = 0;
  static_cast<LeaseMatch&>(lease) = {};
  TESSERA_CHECK(lease.blocks.empty());
  return lease;
}

void Leases::revoke(LeaseRecord& lease) {
  if (lease.phase != LeasePhase::kOpen) return;
  lease.phase = LeasePhase::kRevoked;
  lease.is_revoked.store(true, std::memory_order_release);
  const uint32_t written_end = lease.written_end.load(std::memory_order_acquire);
  for (uint64_t i = lease.own_from; i < lease.blocks.size(); ++i) {
    if (i * kBlockTokens < written_end) {
      tiers_.device().slots->set_unwritten(lease.blocks[i].slot, true);
    }
    tiers_.free_slot(kDevice, lease.blocks[i].slot, SlotState::kDraining);
  }
  lease.own_from = static_cast<uint32_t>(lease.blocks.size());
}

void Leases::end(LeaseRecord& lease) {
  revoke(lease);
  for (uint64_t i = lease.own_from; i < lease.blocks.size(); ++i) {
    tiers_.free_slot(kDevice, lease.blocks[i].slot, SlotState::kDraining);
  }
  for (const BlockRef& block : lease.blocks) tiers_.unpin(kDevice, block.slot);
  lease.blocks.clear();
  lease.phase = LeasePhase::kFree;
  free_.push_back(&lease);
}

}  // namespace tessera::kv
