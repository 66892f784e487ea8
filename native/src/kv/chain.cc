#include "kv/chain.h"

#include <algorithm>
#include <cstring>

namespace tessera::kv {

uint32_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const uint64_t count = std::min(a.size(), b.size());
  if (count == 0) return 0;
  if (std::memcmp(a.data(), b.data(), count * sizeof(Token)) == 0) {
    return static_cast<uint32_t>(count);
  }
  const auto differs = std::mismatch(a.begin(), a.begin() + static_cast<int64_t>(count), b.begin());
  return static_cast<uint32_t>(differs.first - a.begin());
}

ChainName shared_name(const Chain& chain, const Digest& version) {
  return {store_owner(chain.is_prefix, chain.owner), version};
}

uint32_t tokens_in(const Chain& chain, uint32_t blocks) {
  if (blocks == 0) return 0;
  return (blocks - 1) * kBlockTokens + chain.blocks[blocks - 1].length;
}

uint32_t reachable_blocks(const Chain& chain) {
  uint32_t count = chain.resident[kDevice];
  while (count < chain.blocks.size() && chain.blocks[count].nearest_below() != kNoTier) ++count;
  return count;
}

TierIndex ChainBlock::nearest_below() const {
  for (const TierIndex tier : TierRange(kDevice + 1, kTiersMax)) {
    if (slots[tier] != kNoSlot) return tier;
  }
  return kNoTier;
}

TierIndex Chain::nearest(uint32_t index) const {
  for (const TierIndex tier : TierRange(kDevice, kTiersMax)) {
    if (index < resident[tier]) return tier;
  }
  return kNoTier;
}

void set_block_key(Chain& chain, uint32_t index) {
  const Digest& before = index == 0 ? chain.root : chain.blocks[index - 1].key;
  const uint64_t begin = uint64_t{index} * kBlockTokens;
  const uint64_t length = std::min<uint64_t>(kBlockTokens, chain.tokens.size() - begin);
  chain.blocks[index].length = static_cast<uint32_t>(length);
  chain.blocks[index].key = block_digest(before, std::span(chain.tokens).subspan(begin, length));
}

}  // namespace tessera::kv
