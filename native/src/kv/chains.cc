#include "kv/chains.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::kv {

Chain* Chains::find(const ChainKeyView& key) {
  const auto found = all_.find(key);
  return found == all_.end() ? nullptr : found->second.get();
}

Chain* Chains::find_prefix(uint32_t version, const Digest& prefix) {
  return find({version, true, owner_of(prefix)});
}

Chain& Chains::make(const ChainKeyView& key, const Digest& prefix, uint32_t prefix_blocks) {
  auto made = std::make_unique<Chain>();
  Chain& chain = *made;
  chain.version = key.version;
  chain.is_prefix = key.is_prefix;
  chain.owner = key.owner;
  chain.prefix = prefix;
  chain.prefix_blocks = prefix_blocks;
  chain.root = root_digest(versions_[key.version].digest, key.owner, prefix);
  chain.used_us = options_.now_us();
  for (EvictionNode& node : chain.nodes) node.owner = &chain;
  chain.copies.resize(tiers_.count() - *tiers_.shared().begin());
  join_version(chain);
  all_.emplace(ChainKey{key.version, key.is_prefix, chain.owner}, std::move(made));
  return chain;
}

void Chains::rename(Chain& chain, uint32_t version) {
  leave_version(chain);
  auto entry = all_.extract(all_.find(ChainKeyView{chain.version, chain.is_prefix, chain.owner}));
  entry.key().version = version;
  TESSERA_CHECK(all_.insert(std::move(entry)).inserted);
  chain.version = version;
  join_version(chain);
}

void Chains::join_version(Chain& chain) {
  std::vector<Chain*>& siblings = versions_[chain.version].chains;
  chain.version_position = static_cast<uint32_t>(siblings.size());
  siblings.push_back(&chain);
}

void Chains::leave_version(Chain& chain) {
  std::vector<Chain*>& siblings = versions_[chain.version].chains;
  siblings[chain.version_position] = siblings.back();
  siblings[chain.version_position]->version_position = chain.version_position;
  siblings.pop_back();
}

void Chains::append(Chain& chain, std::span<const Token> tokens) {
  const auto from = static_cast<uint32_t>(chain.tokens.size());
  chain.tokens.insert(chain.tokens.end(), tokens.begin(), tokens.end());
  token_count_ += tokens.size();
  chain.blocks.resize(blocks_of(static_cast<uint32_t>(chain.tokens.size())));
  for (uint32_t i = from / kBlockTokens; i < chain.blocks.size(); ++i) set_block_key(chain, i);
}

void Chains::set_resident(Chain& chain, TierIndex which, uint32_t count) {
  chain.resident[which] = count;
  EvictionNode& node = chain.nodes[which];
  if (count > 0 && !node.is_listed) tiers_[which].order->insert(node);
  if (count == 0 && node.is_listed) tiers_[which].order->remove(node);
}

void Chains::advance_device(Chain& chain) {
  uint32_t count = chain.resident[kDevice];
  while (count < chain.blocks.size() && chain.blocks[count].slots[kDevice] != kNoSlot) ++count;
  set_resident(chain, kDevice, count);
}

void Chains::drop_slot(Chain& chain, uint32_t index, TierIndex which, SlotState to) {
  SlotIndex& slot = chain.blocks[index].slots[which];
  if (slot == kNoSlot) return;
  const std::vector<SlotIndex>& durable = chain.durable.slots;
  const bool is_in_head =
      which == tiers_.headed() && index < durable.size() && durable[index] == slot;
  if (!is_in_head) tiers_.free_slot(which, slot, to);
  slot = kNoSlot;
}

bool Chains::give_up(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot) {
  if (chain.blocks[index].slots[which] != slot) return false;
  const uint32_t had = chain.resident[which];
  for (uint32_t i = index; i < had; ++i) drop_slot(chain, i, which, SlotState::kOrphan);
  set_resident(chain, which, std::min(had, index));
  return true;
}

void Chains::cut(Chain& chain, uint32_t tokens) {
  const uint32_t kept = blocks_of(tokens);
  for (uint32_t i = kept; i < chain.blocks.size(); ++i) {
    for (const TierIndex which : tiers_.all()) drop_slot(chain, i, which, SlotState::kOrphan);
  }
  chain.blocks.resize(kept);
  token_count_ -= chain.tokens.size() - tokens;
  chain.tokens.resize(tokens);
  uint32_t whole = kept;
  if (kept > 0 && chain.blocks[kept - 1].length != tokens - (kept - 1) * kBlockTokens) {
    // The key of the cut block changes, and with it what a copy's checksum would have to be.
    whole = kept - 1;
    for (const TierIndex lower : tiers_.below(kDevice)) {
      drop_slot(chain, whole, lower, SlotState::kOrphan);
    }
    set_block_key(chain, whole);
  }
  for (const TierIndex which : tiers_.all()) {
    const uint32_t most = which == kDevice ? kept : whole;
    set_resident(chain, which, std::min(chain.resident[which], most));
  }
  chain.load.end = std::min(chain.load.end, kept);
}

void Chains::rewrite(Chain& chain, std::span<const Token> tokens, uint32_t same) {
  cut(chain, same);
  if (same % kBlockTokens != 0) {
    // The last block goes on in another copy.
    const uint32_t tail = same / kBlockTokens;
    for (const TierIndex which : tiers_.all()) {
      drop_slot(chain, tail, which, SlotState::kOrphan);
      set_resident(chain, which, std::min(chain.resident[which], tail));
    }
  }
  append(chain, tokens.subspan(same));
  chain.seq = next_seq();
}

void Chains::touch(Chain& chain) {
  chain.used_us = options_.now_us();
  for (const TierIndex which : tiers_.all()) {
    if (chain.nodes[which].is_listed) tiers_[which].order->hit(chain.nodes[which]);
  }
}

void Chains::bury(Chain& chain, bool is_erasure) {
  TESSERA_CHECK(!chain.is_dead);
  chain.is_erasure = is_erasure;
  cut(chain, 0);
  queues_.drop(chain);
  chain.is_dead = true;
  leave_version(chain);
  const auto found = all_.find(ChainKeyView{chain.version, chain.is_prefix, chain.owner});
  graves_.push_back(std::move(found->second));
  all_.erase(found);
  if (chain.durable.seq != 0) queues_.note_grave();
  destroy_if_done(chain);
}

void Chains::destroy_if_done(Chain& chain) {
  if (!chain.is_dead || chain.holds > 0 || chain.durable.seq != 0) return;
  const auto is_it = [&](const std::unique_ptr<Chain>& grave) { return grave.get() == &chain; };
  graves_.erase(std::find_if(graves_.begin(), graves_.end(), is_it));
}

void Chains::forget_if_empty(Chain& chain) {
  if (chain.is_dead) return destroy_if_done(chain);
  const bool is_empty = chain.resident == PerTier<uint32_t>{};
  const bool is_put = std::any_of(chain.copies.begin(), chain.copies.end(),
                                  [](const SharedCopy& copy) { return copy.is_queued; });
  const bool is_queued = chain.load.is_queued || chain.is_store_queued || is_put;
  const bool is_done = is_empty && !is_queued && chain.holds == 0 && chain.durable.seq == 0;
  if (is_done) bury(chain, false);
}

void Chains::release(Chain& chain) {
  TESSERA_CHECK(chain.holds > 0);
  --chain.holds;
  forget_if_empty(chain);
}

void Chains::erase_graves(std::string_view owner) {
  for (const std::unique_ptr<Chain>& grave : graves_) {
    if (!grave->is_prefix && grave->owner == owner) grave->is_erasure = true;
  }
}

}  // namespace tessera::kv
