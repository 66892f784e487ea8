// Chains: made, cut, buried, forgotten.
#include <algorithm>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

template <typename T>
void erase_value(std::vector<T>& values, const T& value) {
  values.erase(std::remove(values.begin(), values.end(), value), values.end());
}

}  // namespace

Chain* PoolState::find_locked(const ChainKeyView& key) {
  const auto found = chains.find(key);
  return found == chains.end() ? nullptr : found->second.get();
}

Chain& PoolState::make_chain_locked(const ChainKeyView& key, const Digest& prefix,
                                    uint32_t prefix_blocks) {
  auto made = std::make_unique<Chain>();
  Chain& chain = *made;
  chain.version = key.version;
  chain.is_prefix = key.is_prefix;
  chain.owner = key.owner;
  chain.prefix = prefix;
  chain.prefix_blocks = prefix_blocks;
  chain.root = root_digest(versions[key.version].digest, key.owner, prefix);
  chain.used_us = now_us();
  for (EvictionNode& node : chain.nodes) node.owner = &chain;
  join_version_locked(chain);
  chains.emplace(ChainKey{key.version, key.is_prefix, chain.owner}, std::move(made));
  return chain;
}

void PoolState::join_version_locked(Chain& chain) {
  std::vector<Chain*>& siblings = versions[chain.version].chains;
  chain.version_position = static_cast<uint32_t>(siblings.size());
  siblings.push_back(&chain);
}

void PoolState::leave_version_locked(Chain& chain) {
  std::vector<Chain*>& siblings = versions[chain.version].chains;
  siblings[chain.version_position] = siblings.back();
  siblings[chain.version_position]->version_position = chain.version_position;
  siblings.pop_back();
}

void PoolState::set_resident_locked(Chain& chain, TierIndex which, uint32_t count) {
  chain.resident[which] = count;
  EvictionNode& node = chain.nodes[which];
  if (count > 0 && !node.is_listed) tiers[which].policy->insert(node);
  if (count == 0 && node.is_listed) tiers[which].policy->remove(node);
}

void PoolState::drop_slot_locked(Chain& chain, uint32_t index, TierIndex which, SlotState to) {
  SlotIndex& slot = chain.blocks[index].slots[which];
  if (slot == kNoSlot) return;
  const std::vector<SlotIndex>& durable = chain.durable.slots;
  const bool is_in_head =
      which == tiers.headed() && index < durable.size() && durable[index] == slot;
  if (!is_in_head) free_slot_locked(which, slot, to);
  slot = kNoSlot;
}

void PoolState::cut_locked(Chain& chain, uint32_t tokens) {
  const uint32_t kept = blocks_of(tokens);
  for (uint32_t i = kept; i < chain.blocks.size(); ++i) {
    for (const TierIndex which : tiers.all()) drop_slot_locked(chain, i, which, SlotState::kOrphan);
  }
  chain.blocks.resize(kept);
  counts.chain_tokens -= chain.tokens.size() - tokens;
  chain.tokens.resize(tokens);
  uint32_t whole = kept;
  if (kept > 0 && chain.blocks[kept - 1].length != tokens - (kept - 1) * kBlockTokens) {
    // The key of the cut block changes, and with it what a copy's checksum would have to be.
    whole = kept - 1;
    for (const TierIndex lower : tiers.below(kDevice)) {
      drop_slot_locked(chain, whole, lower, SlotState::kOrphan);
    }
    set_block_key(chain, whole);
  }
  for (const TierIndex which : tiers.all()) {
    const uint32_t most = which == kDevice ? kept : whole;
    set_resident_locked(chain, which, std::min(chain.resident[which], most));
  }
  chain.load.end = std::min(chain.load.end, kept);
}

void PoolState::bury_locked(Chain& chain, bool is_erasure) {
  TESSERA_CHECK(!chain.is_dead);
  chain.is_erasure = is_erasure;
  cut_locked(chain, 0);
  if (chain.load.is_queued) {
    erase_value(load_queue, &chain);
    chain.load.is_queued = false;
    landed.notify_all();
  }
  if (chain.is_store_queued) {
    erase_value(store_queue, &chain);
    chain.is_store_queued = false;
  }
  if (chain.is_renaming) {
    erase_value(renaming, &chain);
    chain.is_renaming = false;
  }
  chain.is_dead = true;
  leave_version_locked(chain);
  const auto found = chains.find(ChainKeyView{chain.version, chain.is_prefix, chain.owner});
  graves.push_back(std::move(found->second));
  chains.erase(found);
  if (chain.durable.seq != 0) store_ready.notify_one();
  destroy_if_done_locked(chain);
}

void PoolState::destroy_if_done_locked(Chain& chain) {
  if (!chain.is_dead || chain.holds > 0 || chain.durable.seq != 0) return;
  const auto is_it = [&](const std::unique_ptr<Chain>& grave) { return grave.get() == &chain; };
  graves.erase(std::find_if(graves.begin(), graves.end(), is_it));
}

void PoolState::forget_if_empty_locked(Chain& chain) {
  if (chain.is_dead) return destroy_if_done_locked(chain);
  const bool is_empty = chain.resident == PerTier<uint32_t>{};
  const bool is_queued = chain.load.is_queued || chain.is_store_queued;
  const bool is_done = is_empty && !is_queued && chain.holds == 0 && chain.durable.seq == 0;
  if (is_done) bury_locked(chain, false);
}

void PoolState::release_locked(Chain& chain) {
  TESSERA_CHECK(chain.holds > 0);
  --chain.holds;
  forget_if_empty_locked(chain);
}

void PoolState::touch_locked(Chain& chain) {
  chain.used_us = now_us();
  for (const TierIndex which : tiers.all()) {
    if (chain.nodes[which].is_listed) tiers[which].policy->hit(chain.nodes[which]);
  }
}

uint32_t PoolState::version_index_locked(const Digest& digest) {
  for (uint32_t i = 0; i < versions.size(); ++i) {
    if (versions[i].digest == digest) return i;
  }
  versions.push_back(
      {.digest = digest, .is_retired = false, .predecessor = kNoVersion, .chains = {}});
  return static_cast<uint32_t>(versions.size() - 1);
}

}  // namespace tessera::kv
