#include "kv/audit.h"

#include <algorithm>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

std::string name_of(const Chain& chain) {
  return "chain of " + to_text(store_owner(chain.is_prefix, chain.owner));
}

uint32_t state_and_generation(const SlotView& view) {
  return view.generation << 4 | static_cast<uint32_t>(view.state);
}

std::string name_of(const std::string& tier, SlotIndex slot) {
  return tier + " slot " + std::to_string(slot);
}

}  // namespace

Audit::Audit(PoolState& pool) : pool_(pool) {
  seen_.resize(pool.tiers.count());
  for (const TierIndex which : pool.tiers.all()) {
    const SlotTable& slots = *pool.tiers[which].slots;
    std::vector<Seen>& seen = seen_[which];
    seen.resize(slots.count());
    for (SlotIndex slot = 0; slot < slots.count(); ++slot) {
      seen[slot].state_and_generation = state_and_generation(slots.view(slot));
    }
  }
}

void Audit::fault(const char* invariant, const std::string& what) {
  faults_.push_back(std::string(invariant) + ": " + what);
}

void Audit::suspect(const char* invariant, const std::string& what) {
  suspicions_.push_back(std::string(invariant) + ": " + what);
}

void Audit::own(TierIndex which, SlotIndex slot) { ++seen_[which][slot].owners; }

/// Slots of the head on disk that the chain's own blocks do not name.
void Audit::own_durable(const Chain& chain) {
  for (uint32_t i = 0; i < chain.durable.slots.size(); ++i) {
    const SlotIndex slot = chain.durable.slots[i];
    const TierIndex headed = pool_.tiers.headed();
    const bool is_named = i < chain.blocks.size() && chain.blocks[i].slots[headed] == slot;
    if (!is_named) own(headed, slot);
  }
}

void Audit::add_graves() {
  pool_.mutex.assert_held();
  for (const auto& grave : pool_.chains.graves()) own_durable(*grave);
}

void Audit::add_chain(const Chain& chain) {
  pool_.mutex.assert_held();
  const auto name = [&] { return name_of(chain); };
  if (chain.blocks.size() != blocks_of(static_cast<uint32_t>(chain.tokens.size()))) {
    return fault("I9", name() + " has blocks for other tokens than it has");
  }
  Digest before = chain.root;
  const std::span<const Token> tokens = chain.tokens;
  for (uint32_t i = 0; i < chain.blocks.size(); ++i) {
    const ChainBlock& block = chain.blocks[i];
    const uint64_t begin = uint64_t{i} * kBlockTokens;
    const uint64_t length = std::min<uint64_t>(kBlockTokens, tokens.size() - begin);
    before = block_digest(before, tokens.subspan(begin, length));
    if (block.key != before || block.length != length) fault("I9", name() + ": key of a block");
    for (const TierIndex which : pool_.tiers.all()) check_residence(chain, i, which);
  }
  own_durable(chain);
  if (pool_.chains.find({chain.version, chain.is_prefix, chain.owner}) != &chain) {
    fault("I9", name() + " is not found under its version");
  }
  const bool is_misnamed = chain.durable.seq != 0 && chain.durable.version != chain.version;
  if (is_misnamed && !chain.is_renaming) fault("I12", name() + ": another version's head on disk");
  if (chain.durable.seq > chain.seq) fault("I10", name() + " is older than its head on disk");
  for (const TierIndex which : pool_.tiers.all()) {
    const bool is_listed = chain.nodes[which].is_listed;
    if (is_listed != (chain.resident[which] > 0)) fault("I17", name() + " is not evictable");
  }
}

void Audit::check_residence(const Chain& chain, uint32_t index, TierIndex which) {
  const SlotIndex slot = chain.blocks[index].slots[which];
  const bool is_resident = index < chain.resident[which];
  const bool is_landing = which == kDevice && (chain.load.is_queued || chain.load.in_flight > 0);
  if (is_resident && slot == kNoSlot) fault("I8", "a hole in the " + name_of(chain));
  if (!is_resident && slot != kNoSlot && !is_landing) {
    fault("I8", "a block behind a hole in the " + name_of(chain));
  }
  if (slot == kNoSlot) return;
  own(which, slot);
  if (pool_.tiers[which].slots->view(slot).state != SlotState::kResident) {
    fault("I5", "a visible block that is not RESIDENT");
  }
}

void Audit::judge_leases() {
  pool_.mutex.assert_held();
  for (const auto& lease : pool_.leases.all()) {
    if (lease->phase == LeasePhase::kFree && !lease->blocks.empty()) {
      fault("I18", "a lease that ended still holds blocks");
    }
  }
}

void Audit::judge_slots(TierIndex which, SlotIndex begin, SlotIndex end) {
  pool_.mutex.assert_held();
  std::vector<uint32_t> references(end - begin);
  if (which == kDevice) {
    for (const auto& lease : pool_.leases.all()) {
      for (const BlockRef& block : lease->blocks) {
        if (block.slot >= begin && block.slot < end) ++references[block.slot - begin];
      }
    }
  }
  for (SlotIndex slot = begin; slot < end; ++slot) {
    judge_slot(which, slot, references[slot - begin]);
  }
}

void Audit::judge_slot(TierIndex which, SlotIndex slot, uint32_t references) {
  const SlotView view = pool_.tiers[which].slots->view(slot);
  const Seen& seen = seen_[which][slot];
  const auto name = [&] { return name_of(pool_.tiers[which].metrics.name, slot); };
  const bool is_free = view.state == SlotState::kFree;
  const bool is_resident = view.state == SlotState::kResident;
  if (is_free && (view.refs > 0 || view.io > 0)) fault("I3", name() + " is free and in use");
  if (!is_free && !is_resident && view.refs == 0 && view.io == 0 && !is_kept_back(which, slot)) {
    fault("I18", name() + " is neither free nor in use");
  }
  if (which == kDevice && view.refs != references) {
    fault("I2", name() + " has " + std::to_string(view.refs) + " references, leases hold " +
                    std::to_string(references));
  }
  if (state_and_generation(view) != seen.state_and_generation) return;
  if (seen.owners > 1) suspect("I1", name() + " has two owners");
  if (is_free && seen.owners > 0) suspect("I3", name() + " is free and in use");
  if (is_resident && seen.owners != 1 && view.io == 0) {
    suspect("I13", name() + " is RESIDENT and nobody's");
  }
}

/// The pool counts them as they come and go, so that metrics() need not.
void Audit::judge_chain_tokens() {
  pool_.mutex.assert_held();
  uint64_t tokens = 0;
  for (const auto& [key, chain] : pool_.chains.all()) tokens += chain->tokens.size();
  if (tokens != pool_.chains.token_count()) {
    fault("I13", "chains have " + std::to_string(tokens) + " tokens, counted are " +
                     std::to_string(pool_.chains.token_count()));
  }
}

void Audit::judge_free_counts() {
  for (const TierIndex which : pool_.tiers.all()) {
    const SlotTable& slots = *pool_.tiers[which].slots;
    uint32_t free = 0;
    for (SlotIndex slot = 0; slot < slots.count(); ++slot) {
      free += slots.view(slot).state == SlotState::kFree;
    }
    if (free != slots.free_count()) fault("I13", pool_.tiers[which].metrics.name + ": free slots");
  }
}

/// A slot that a head of unknown outcome may point to stays where it is until the next opening.
bool Audit::is_kept_back(TierIndex which, SlotIndex slot) const {
  pool_.mutex.assert_held();
  return which == pool_.tiers.headed() && pool_.writer.is_broken() &&
         pool_.tiers[which].slots->view(slot).state == SlotState::kFilling;
}

std::vector<std::string> audit(PoolState& pool) {
  pool.mutex.assert_held();
  Audit audit(pool);
  audit.add_graves();
  for (const auto& [key, chain] : pool.chains.all()) audit.add_chain(*chain);
  audit.judge_chain_tokens();
  audit.judge_leases();
  for (const TierIndex which : pool.tiers.all()) {
    audit.judge_slots(which, 0, pool.tiers[which].slots->count());
  }
  audit.judge_free_counts();
  std::vector<std::string> faults = audit.faults();
  faults.insert(faults.end(), audit.suspicions().begin(), audit.suspicions().end());
  return faults;
}

std::vector<std::string> PoolWork::audit() {
  const MutexLock lock(state_.mutex);
  return kv::audit(state_);
}

}  // namespace tessera::kv
