// Adoption: a chain that a shared store has becomes findable. Its blocks count as lying in that
// tier, to be loaded as from any other.
//
// Of the process's own chain and the head that was found, the longer goes on where one continues
// the other. Where they part, the found one replaces what this process has put there before, or
// what is shorter; what they have in common stays where it is.
#include <algorithm>
#include <utility>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// The head, if it is of this chain and may be used.
std::optional<HeadRecord> decode_found(PoolState& pool, const HeadKey& key, const FoundHead& found)
    REQUIRES(pool.mutex) {
  Result<HeadRecord> decoded = decode(found.head);
  if (decoded.is_ok() && decoded.value().key == key) {
    if (decoded.value().tokens.empty()) return std::nullopt;  // all its blocks were lost
    return std::move(decoded).value();
  }
  ++pool.counts.heads_refused;
  return std::nullopt;
}

/// The chain stands on something else, or was computed by another version: nothing is in common.
bool stands_elsewhere(const Chain& chain, const HeadRecord& head) {
  return chain.prefix_blocks != head.prefix_blocks || chain.prefix != head.prefix ||
         chain.root != head.root || chain.versions_back != head.versions_back;
}

void stand_on(PoolState& pool, Chain& chain, const HeadRecord& head) REQUIRES(pool.mutex) {
  pool.chains.cut(chain, 0);
  chain.prefix = head.prefix;
  chain.prefix_blocks = head.prefix_blocks;
  chain.versions_back = head.versions_back;
  chain.root = head.root;
}

/// Gives slots to the blocks that chain and head have in common; those count as there.
void note_blocks(PoolState& pool, Chain& chain, TierIndex which, uint32_t head_blocks)
    REQUIRES(pool.mutex) {
  SlotTable& slots = *pool.tiers[which].slots;
  uint32_t count = chain.resident[which];
  while (count < head_blocks) {
    const SlotIndex slot = pool.chains.reserve(which, &chain);
    if (slot == kNoSlot) break;
    slots.move(slot, SlotState::kReserved, SlotState::kFilling);
    slots.move(slot, SlotState::kFilling, SlotState::kResident);
    chain.blocks[count++].slots[which] = slot;
  }
  pool.chains.set_resident(chain, which, count);
}

/// The blocks of the store's head, by their names.
std::vector<Digest> keys_of(const HeadRecord& head) {
  std::vector<Digest> keys;
  Digest before = head.root;
  std::span<const Token> left = head.tokens;
  for (const HeadBlock& block : head.blocks) {
    before = block_digest(before, left.first(block.length));
    left = left.subspan(block.length);
    keys.push_back(before);
  }
  return keys;
}

/// Blocks at the front that the chain and the store name alike.
uint32_t named_alike(const Chain& chain, const std::vector<Digest>& keys) {
  uint32_t count = 0;
  while (count < keys.size() && count < chain.blocks.size() &&
         chain.blocks[count].key == keys[count]) {
    ++count;
  }
  return count;
}

/// True if the head is to replace what the chain has behind their common part.
bool is_better(const Chain& chain, const HeadRecord& head, uint32_t same, bool was_put) {
  if (same == head.tokens.size()) return false;  // nothing new
  if (same == chain.tokens.size()) return true;
  return was_put || head.tokens.size() > chain.tokens.size();
}

}  // namespace

Chain* PoolState::adopt_locked(TierIndex which, uint32_t version, const HeadKey& key,
                               const FoundHead& found) {
  PoolState& pool = *this;
  pool.mutex.assert_held();
  Chain* chain = chains.find({version, key.is_prefix, key.owner});
  const auto head = found.head.empty() ? std::nullopt : decode_found(pool, key, found);
  const bool is_usable = head.has_value() && head->versions_back <= options.versions_back_max;
  if (chain == nullptr && !is_usable) return nullptr;
  if (chain == nullptr) {
    chain = &chains.make({version, key.is_prefix, key.owner}, head->prefix, head->prefix_blocks);
    stand_on(pool, *chain, *head);
  }
  SharedCopy& known = sharing.copy(*chain, which);
  if (is_usable && known.revision != found.revision) {
    const bool was_put = known.seq == chain->seq;
    const bool is_apart = stands_elsewhere(*chain, *head);
    const uint32_t same = is_apart ? 0 : common_prefix(chain->tokens, head->tokens);
    if (is_better(*chain, *head, same, was_put)) {
      if (is_apart) stand_on(pool, *chain, *head);
      chains.rewrite(*chain, head->tokens, same);
      loader.end_if_idle(*chain);
    }
  }
  known.revision = found.revision;
  known.keys = head.has_value() ? keys_of(*head) : std::vector<Digest>();
  known.looked_us = now_us();
  known.is_known = true;
  const uint32_t alike = named_alike(*chain, known.keys);
  for (uint32_t i = alike; i < chain->resident[which]; ++i) {
    chains.drop_slot(*chain, i, which, SlotState::kOrphan);  // no head names them there
  }
  chains.set_resident(*chain, which, std::min(chain->resident[which], alike));
  note_blocks(pool, *chain, which, alike);
  const bool is_same = alike == chain->blocks.size() && alike == known.keys.size();
  known.seq = is_same ? chain->seq : 0;
  if (!is_same) writer.queue(*chain);
  return chain;
}

}  // namespace tessera::kv
