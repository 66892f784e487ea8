// Room in a tier: the policy names a chain, its last block goes.
#include <limits>

#include "kv/chains.h"

namespace tessera::kv {
namespace {

/// How picky the search for a victim is; every pass is less so than the one before.
enum class Pass : uint8_t { kClean, kUsers, kAny };
constexpr uint64_t kCleanScanMax = 64;  // chains looked at for a block that a lower tier has

struct Search {
  const Tiers& tiers;
  TierIndex which;
  const Chain* spared;
  Pass pass;
};

bool is_in_lower_tier(const ChainBlock& block, TierIndex which) {
  for (const TierIndex lower : TierRange(which + 1u, kTiersMax)) {
    if (block.slots[lower] != kNoSlot) return true;
  }
  return false;
}

bool can_give_block(void* context, EvictionNode& node) {
  const Search& search = *static_cast<Search*>(context);
  const Chain& chain = *static_cast<Chain*>(node.owner);
  if (&chain == search.spared || (chain.is_prefix && search.pass != Pass::kAny)) return false;
  // One of a user's chains, as blocks and their state, is of little use without the other.
  const bool is_of_one_user = search.spared != nullptr && chain.owner == search.spared->owner;
  if (is_of_one_user && search.pass != Pass::kAny) return false;
  const bool is_loading = chain.load.is_queued || chain.load.in_flight > 0;
  if (search.which == kDevice && is_loading) return false;
  // A chain that waits to be stored would only take the slot back, and so on without end.
  if (search.which != kDevice && chain.is_store_queued) return false;
  const ChainBlock& tail = chain.blocks[chain.resident[search.which] - 1];
  if (search.pass == Pass::kClean && search.tiers.any_below(search.which) &&
      !is_in_lower_tier(tail, search.which)) {
    return false;
  }
  const SlotView slot = search.tiers[search.which].slots->view(tail.slots[search.which]);
  return slot.state == SlotState::kResident && slot.refs == 0 && slot.io == 0;
}

}  // namespace

SlotIndex Chains::reserve(TierIndex which, const Chain* spared) {
  SlotTable& slots = *tiers_[which].slots;
  SlotIndex slot = slots.reserve();
  while (slot == kNoSlot && slots.count() > 0 && evict_one(which, spared)) slot = slots.reserve();
  return slot;
}

Chain* Chains::victim(TierIndex which, const Chain* spared) {
  for (const Pass pass : {Pass::kClean, Pass::kUsers, Pass::kAny}) {
    Search search{tiers_, which, spared, pass};
    const uint64_t scan_max =
        pass == Pass::kClean ? kCleanScanMax : std::numeric_limits<uint64_t>::max();
    EvictionNode* node = tiers_[which].order->victim(can_give_block, &search, scan_max);
    if (node != nullptr) return static_cast<Chain*>(node->owner);
  }
  return nullptr;
}

bool Chains::evict_one(TierIndex which, const Chain* spared) {
  Chain* chain = victim(which, spared);
  if (chain == nullptr) return false;
  const uint32_t tail = chain->resident[which] - 1;
  TierMetrics& metrics = tiers_[which].metrics;
  ++metrics.evicted_blocks;
  if (tiers_.any_below(which) && !is_in_lower_tier(chain->blocks[tail], which)) {
    ++metrics.evicted_dirty_blocks;
  }
  drop_slot(*chain, tail, which, SlotState::kEvicting);
  if (tiers_[which].shared != nullptr) {
    // The block is there still: what is forgotten is that it is.
    chain->copies[which - *tiers_.shared().begin()].is_known = false;
  }
  set_resident(*chain, which, tail);
  forget_if_empty(*chain);
  return true;
}

}  // namespace tessera::kv
