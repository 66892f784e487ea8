#include "kv/audit.h"

#include <algorithm>
#include <array>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

class Audit {
 public:
  explicit Audit(PoolState& pool) : pool_(pool) {
    for (const Tier which : kTiers) {
      owners_[index_of(which)].resize(pool.tier(which).slots->count());
    }
    references_.resize(pool.tier(Tier::kDevice).slots->count());
  }

  std::vector<std::string> run() {
    for (const auto& [key, chain] : pool_.chains) check_chain(*chain);
    for (const auto& grave : pool_.graves) own_durable(*grave);
    for (const auto& lease : pool_.leases) check_lease(*lease);
    for (const Tier which : kTiers) check_slots(which);
    return std::move(faults_);
  }

 private:
  void fault(const char* invariant, const std::string& what) {
    faults_.push_back(std::string(invariant) + ": " + what);
  }

  void own(Tier which, SlotIndex slot) { ++owners_[index_of(which)][slot]; }

  /// Slots of the head on disk that the chain's own blocks do not name.
  void own_durable(const Chain& chain) {
    for (uint32_t i = 0; i < chain.durable.slots.size(); ++i) {
      const SlotIndex slot = chain.durable.slots[i];
      const bool is_named = i < chain.blocks.size() && chain.blocks[i].slot(Tier::kDisk) == slot;
      if (!is_named) own(Tier::kDisk, slot);
    }
  }

  void check_chain(const Chain& chain) {
    const std::string name = "chain of '" + chain.owner + "'";
    if (chain.blocks.size() != blocks_of(static_cast<uint32_t>(chain.tokens.size()))) {
      return fault("I9", name + " has blocks for other tokens than it has");
    }
    Digest before = chain.root;
    const std::span<const Token> tokens = chain.tokens;
    for (uint32_t i = 0; i < chain.blocks.size(); ++i) {
      const ChainBlock& block = chain.blocks[i];
      const uint64_t begin = uint64_t{i} * kBlockTokens;
      const uint64_t length = std::min<uint64_t>(kBlockTokens, tokens.size() - begin);
      before = block_digest(before, tokens.subspan(begin, length));
      if (block.key != before || block.length != length) fault("I9", name + ": key of a block");
      for (const Tier which : kTiers) check_residence(chain, i, which);
    }
    own_durable(chain);
    if (pool_.find_locked({chain.version, chain.is_prefix, chain.owner}) != &chain) {
      fault("I9", name + " is not found under its version");
    }
    const bool is_misnamed = chain.durable.seq != 0 && chain.durable.version != chain.version;
    if (is_misnamed && !chain.is_renaming) fault("I12", name + ": another version's head on disk");
    if (chain.durable.seq > chain.seq) fault("I10", name + " is older than its head on disk");
    for (const Tier which : kTiers) {
      const bool is_listed = chain.nodes[index_of(which)].is_listed;
      if (is_listed != (chain.resident_in(which) > 0)) fault("I17", name + " is not evictable");
    }
  }

  void check_residence(const Chain& chain, uint32_t index, Tier which) {
    const SlotIndex slot = chain.blocks[index].slot(which);
    const bool is_resident = index < chain.resident_in(which);
    const bool is_landing =
        which == Tier::kDevice && (chain.load.is_queued || chain.load.in_flight > 0);
    if (is_resident && slot == kNoSlot) fault("I8", "a hole in the chain of '" + chain.owner + "'");
    if (!is_resident && slot != kNoSlot && !is_landing) {
      fault("I8", "a block behind a hole in the chain of '" + chain.owner + "'");
    }
    if (slot == kNoSlot) return;
    own(which, slot);
    if (pool_.tier(which).slots->view(slot).state != SlotState::kResident) {
      fault("I5", "a visible block that is not RESIDENT");
    }
  }

  void check_lease(const LeaseRecord& lease) {
    for (const BlockRef& block : lease.blocks) ++references_[block.slot];
    if (lease.phase == LeasePhase::kFree && !lease.blocks.empty()) {
      fault("I18", "a lease that ended still holds blocks");
    }
  }

  void check_slots(Tier which) {
    const SlotTable& slots = *pool_.tier(which).slots;
    uint32_t free = 0;
    for (SlotIndex slot = 0; slot < slots.count(); ++slot) {
      const SlotView view = slots.view(slot);
      const uint32_t owners = owners_[index_of(which)][slot];
      const std::string name = std::string(tier_name(which)) + " slot " + std::to_string(slot);
      free += view.state == SlotState::kFree;
      if (owners > 1) fault("I1", name + " has two owners");
      if (view.state == SlotState::kFree && (view.refs > 0 || view.io > 0 || owners > 0)) {
        fault("I3", name + " is free and in use");
      }
      if (view.state == SlotState::kResident && owners != 1 && view.io == 0) {
        fault("I13", name + " is RESIDENT and nobody's");
      }
      const bool is_passing = view.state != SlotState::kFree && view.state != SlotState::kResident;
      if (is_passing && view.refs == 0 && view.io == 0 && !is_kept_back(which, view)) {
        fault("I18", name + " is neither free nor in use");
      }
      if (which == Tier::kDevice && view.refs != references_[slot]) {
        fault("I2", name + " has " + std::to_string(view.refs) + " references, leases hold " +
                        std::to_string(references_[slot]));
      }
    }
    if (free != slots.free_count()) fault("I13", std::string(tier_name(which)) + ": free slots");
  }

  /// A slot that a head of unknown outcome may point to stays where it is until the next opening.
  bool is_kept_back(Tier which, const SlotView& view) const {
    return which == Tier::kDisk && pool_.is_store_broken && view.state == SlotState::kFilling;
  }

  PoolState& pool_;
  std::array<std::vector<uint32_t>, kTierCount> owners_;
  std::vector<uint32_t> references_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> audit(PoolState& pool) { return Audit(pool).run(); }

std::vector<std::string> PoolWork::audit() {
  const std::lock_guard lock(state_.mutex);
  return kv::audit(state_);
}

}  // namespace tessera::kv
