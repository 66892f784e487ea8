// Slots: reserved, evicted, freed. The policy names a chain, the pool takes the chain's last block.
#include <limits>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// How picky the search for a victim is; every pass is less so than the one before.
enum class Pass : uint8_t { kClean, kUsers, kAny };
constexpr uint64_t kCleanScanMax = 64;  // chains looked at for a block that a lower tier has

struct Search {
  PoolState& pool;
  Tier which;
  const Chain* spared;
  Pass pass;
};

bool has_lower_tier(PoolState& pool, Tier which) {
  if (which == Tier::kDevice && pool.tier(Tier::kHost).slots->count() > 0) return true;
  return which != Tier::kDisk && pool.tier(Tier::kDisk).slots->count() > 0;
}

bool is_in_lower_tier(const ChainBlock& block, Tier which) {
  if (which == Tier::kDevice && block.slot(Tier::kHost) != kNoSlot) return true;
  return which != Tier::kDisk && block.slot(Tier::kDisk) != kNoSlot;
}

bool can_give_block(void* context, EvictionNode& node) {
  const Search& search = *static_cast<Search*>(context);
  const Chain& chain = *static_cast<Chain*>(node.owner);
  if (&chain == search.spared || (chain.is_prefix && search.pass != Pass::kAny)) return false;
  const bool is_loading = chain.load.is_queued || chain.load.in_flight > 0;
  if (search.which == Tier::kDevice && is_loading) return false;
  // What waits to be stored would only take the slot back, and so on without end.
  if (search.which != Tier::kDevice && chain.is_store_queued) return false;
  const ChainBlock& tail = chain.blocks[chain.resident_in(search.which) - 1];
  if (search.pass == Pass::kClean && has_lower_tier(search.pool, search.which) &&
      !is_in_lower_tier(tail, search.which)) {
    return false;
  }
  const SlotView slot = search.pool.tier(search.which).slots->view(tail.slot(search.which));
  return slot.state == SlotState::kResident && slot.refs == 0 && slot.io == 0;
}

}  // namespace

SlotIndex PoolState::reserve_locked(Tier which, const Chain* spared) {
  SlotTable& slots = *tier(which).slots;
  SlotIndex slot = slots.reserve();
  while (slot == kNoSlot && slots.count() > 0 && evict_one_locked(which, spared)) {
    slot = slots.reserve();
  }
  return slot;
}

Chain* PoolState::victim_locked(Tier which, const Chain* spared) {
  for (const Pass pass : {Pass::kClean, Pass::kUsers, Pass::kAny}) {
    Search search{*this, which, spared, pass};
    const uint64_t scan_max =
        pass == Pass::kClean ? kCleanScanMax : std::numeric_limits<uint64_t>::max();
    EvictionNode* node = tier(which).policy->victim(can_give_block, &search, scan_max);
    if (node != nullptr) return static_cast<Chain*>(node->owner);
  }
  return nullptr;
}

bool PoolState::evict_one_locked(Tier which, const Chain* spared) {
  Chain* chain = victim_locked(which, spared);
  if (chain == nullptr) return false;
  const uint32_t tail = chain->resident_in(which) - 1;
  TierMetrics& metrics = tier(which).metrics;
  ++metrics.evicted_blocks;
  if (has_lower_tier(*this, which) && !is_in_lower_tier(chain->blocks[tail], which)) {
    ++metrics.evicted_dirty_blocks;
  }
  drop_slot_locked(*chain, tail, which, SlotState::kEvicting);
  set_resident_locked(*chain, which, tail);
  forget_if_empty_locked(*chain);
  return true;
}

void PoolState::free_slot_locked(Tier which, SlotIndex slot, SlotState to) {
  tier(which).slots->leave(slot, to);
}

void PoolState::unpin_locked(Tier which, SlotIndex slot) {
  SlotTable& slots = *tier(which).slots;
  if (slots.unpin(slot)) slots.reclaim(slot);
}

void PoolState::io_end_locked(Tier which, SlotIndex slot) {
  SlotTable& slots = *tier(which).slots;
  if (slots.io_end(slot)) slots.reclaim(slot);
}

}  // namespace tessera::kv
