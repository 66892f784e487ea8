// Commit: a lease's own blocks become part of a chain, by compare-and-swap on the chain's head.
#include <algorithm>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// The lease's blocks from `block_offset` on become the chain's, which is to hold `tokens`. False
/// when it held them before.
bool attach_blocks(PoolState& pool, LeaseRecord& lease, Chain& chain, std::span<const Token> tokens,
                   uint32_t block_offset) REQUIRES(pool.mutex) {
  const uint32_t same = common_prefix(chain.tokens, tokens);
  const bool is_new = same < tokens.size();
  if (is_new) pool.chains.rewrite(chain, tokens, same);
  SlotTable& slots = *pool.tiers.device().slots;
  const auto token_count = static_cast<uint32_t>(tokens.size());
  const uint32_t first = std::max(lease.own_from, block_offset) - block_offset;
  for (uint32_t i = first; i < blocks_of(token_count); ++i) {
    ChainBlock& block = chain.blocks[i];
    const uint32_t length = std::min(kBlockTokens, token_count - i * kBlockTokens);
    const SlotIndex slot = lease.blocks[block_offset + i].slot;
    if (block.slots[kDevice] != kNoSlot || block.length != length) continue;
    slots.move(slot, SlotState::kFilling, SlotState::kResident);
    block.slots[kDevice] = slot;
    block.found_in = kDevice;
    block.is_exact = lease.is_exact;
  }
  pool.chains.advance_device(chain);
  pool.loader.end_if_idle(chain);
  chain.used_us = pool.now_us();  // for the policy the lookup was the use, not this
  pool.writer.queue(chain);
  return is_new;
}

/// Empties the chain for what the lease has, from its first block on.
void begin_anew(PoolState& pool, Chain& chain, const LeaseRecord& lease) REQUIRES(pool.mutex) {
  pool.chains.cut(chain, 0);
  chain.prefix = lease.prefix;
  chain.prefix_blocks = lease.prefix_blocks;
  chain.root = root_digest(pool.chains.version(lease.version).digest, lease.owner, lease.prefix);
  chain.versions_back = lease.versions_back;
}

Committed attach_user(PoolState& pool, LeaseRecord& lease, uint32_t keep) REQUIRES(pool.mutex) {
  const uint32_t prefix_tokens = lease.prefix_blocks * kBlockTokens;
  const auto tokens = std::span<const Token>(lease.tokens).first(keep).subspan(prefix_tokens);
  const uint32_t own_first = std::max(lease.own_from, lease.prefix_blocks) - lease.prefix_blocks;
  const ChainKeyView key{lease.version, false, lease.owner};
  Chain* chain = pool.chains.find(key);
  if (chain == nullptr) {
    if (own_first > 0) return Committed::kLost;  // what it stands on is gone
    chain = &pool.chains.make(key, lease.prefix, lease.prefix_blocks);
    chain->versions_back = lease.versions_back;
    lease.expected_seq = 0;
  }
  // Tokens inherited from an older version neither extend nor replace newer ones.
  if (lease.versions_back > chain->versions_back) return Committed::kLost;
  const bool is_first = chain->seq == lease.expected_seq;
  const bool is_nearer = lease.versions_back < chain->versions_back && own_first == 0;
  if (is_nearer && (is_first || common_prefix(chain->tokens, tokens) == chain->tokens.size())) {
    begin_anew(pool, *chain, lease);
  }
  if (chain->prefix_blocks != lease.prefix_blocks || chain->prefix != lease.prefix) {
    if (!is_first || own_first > 0) return Committed::kLost;
    begin_anew(pool, *chain, lease);
  }
  const uint32_t same = common_prefix(chain->tokens, tokens);
  const bool stands = chain->resident[kDevice] >= own_first && same >= own_first * kBlockTokens;
  // After another append had come first, what goes on where that one ended is still an append.
  const bool parts = same < std::min(chain->tokens.size(), tokens.size());
  if (!stands || (!is_first && parts)) return Committed::kLost;
  const bool is_new = attach_blocks(pool, lease, *chain, tokens, lease.prefix_blocks);
  pool.counts.commits_rematched += is_new && !is_first;
  return is_new ? Committed::kKept : Committed::kNothingNew;
}

}  // namespace

Committed PoolState::attach_locked(LeaseRecord& lease, uint32_t keep) {
  const std::span<const Token> tokens = std::span(lease.tokens).first(keep);
  const uint32_t prefix_tokens = lease.prefix_blocks * kBlockTokens;
  Committed result = Committed::kLost;
  bool is_prefix_new = false;
  if (!chains.version(lease.version).is_retired) {
    result = Committed::kNothingNew;
    const bool has_prefix = lease.prefix_blocks > lease.own_from && tokens.size() >= prefix_tokens;
    if (has_prefix && lease.versions_back == 0) {
      Chain* chain = chains.find_prefix(lease.version, lease.prefix);
      const ChainKeyView key{lease.version, true, owner_of(lease.prefix)};
      if (chain == nullptr) chain = &chains.make(key, Digest{}, 0);
      is_prefix_new = attach_blocks(*this, lease, *chain, tokens.first(prefix_tokens), 0);
    }
    if (tokens.size() > prefix_tokens && !lease.owner.empty())
      result = attach_user(*this, lease, keep);
    if (result == Committed::kNothingNew && is_prefix_new) result = Committed::kKept;
  }
  const uint32_t kept_end = blocks_of(keep);
  for (uint32_t i = lease.own_from; i < kept_end; ++i) {
    const SlotIndex slot = lease.blocks[i].slot;
    if (tiers.device().slots->view(slot).state == SlotState::kFilling) {
      tiers.free_slot(kDevice, slot, SlotState::kDraining);
    }
  }
  lease.own_from = std::max(lease.own_from, kept_end);
  return result;
}

}  // namespace tessera::kv
