// Lookups: the longest common prefix, found and pinned under one lock.
#include <algorithm>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// Takes the first `tokens` tokens of a chain as far as they are on the device; false where the
/// match ends inside it.
void match_chain(PoolState& pool, LeaseRecord& lease, Chain& chain, uint32_t tokens)
    REQUIRES(pool.mutex) {
  const uint32_t resident = tokens_in(chain, chain.resident[kDevice]);
  uint32_t left = std::min(tokens, resident);
  BlockMemory& memory = pool.tiers.memory();
  for (uint32_t i = 0; left > 0; ++i) {
    ChainBlock& block = chain.blocks[i];
    const SlotIndex slot = block.slots[kDevice];
    if (!pool.tiers.device().slots->pin(slot)) break;
    const uint32_t taken = std::min(left, block.length);
    lease.blocks.push_back({slot, memory.address(slot)});
    lease.matched += taken;
    lease.matched_by_tier[block.found_in] += taken;
    lease.is_exact = lease.is_exact && block.is_exact;
    if (!block.is_exact) pool.counts.inexact_tokens += taken;
    block.found_in = kDevice;
    left -= taken;
  }
}

/// Tokens of `tokens` that a prefetch could put behind what the device has.
uint32_t loadable_tokens(const Chain& chain, uint32_t tokens) {
  const uint32_t on_device = tokens_in(chain, chain.resident[kDevice]);
  const uint32_t reachable = std::min(tokens, tokens_in(chain, reachable_blocks(chain)));
  return reachable > on_device ? reachable - on_device : 0;
}

/// Finds at most the first `most` tokens.
void match_committed(PoolState& pool, LeaseRecord& lease, uint32_t most) REQUIRES(pool.mutex) {
  const std::span<const Token> tokens = lease.tokens;
  const uint32_t prefix_tokens = lease.prefix_blocks * kBlockTokens;
  Chain* prefix = nullptr;
  if (prefix_tokens > 0) {
    prefix = pool.chains.find_prefix(lease.version, lease.prefix);
    if (prefix != nullptr && common_prefix(prefix->tokens, tokens) < prefix_tokens) {
      prefix = nullptr;  // two texts with one digest: the tokens decide
    }
    if (prefix != nullptr && most >= prefix_tokens) {
      match_chain(pool, lease, *prefix, prefix_tokens);
      lease.loadable += loadable_tokens(*prefix, prefix_tokens);
    }
  }
  Chain* chain =
      lease.owner.empty() ? nullptr : pool.chains.find({lease.version, false, lease.owner});
  const bool stands = lease.matched == prefix_tokens;
  if (stands && !lease.owner.empty() && !lease.wants_exact) {
    chain = pool.inherit_locked(lease, chain);
  }
  if (chain != nullptr) {
    lease.expected_seq = chain->seq;
    const bool is_near = pool.chains.is_near(*chain, lease.wants_exact);
    if (is_near && chain->prefix_blocks == lease.prefix_blocks && chain->prefix == lease.prefix) {
      const uint32_t same = std::min(common_prefix(chain->tokens, tokens.subspan(prefix_tokens)),
                                     most - std::min(most, prefix_tokens));
      if (stands) match_chain(pool, lease, *chain, same);
      if (lease.matched > prefix_tokens && chain->versions_back > 0) {
        lease.versions_back = chain->versions_back;
        lease.inherited = lease.matched - prefix_tokens;
        pool.counts.inherited_tokens += lease.inherited;
      }
      if (stands || lease.loadable > 0) lease.loadable += loadable_tokens(*chain, same);
    }
    pool.chains.touch(*chain);
  }
  if (prefix != nullptr) pool.chains.touch(*prefix);  // the head last: it is evicted last
}

Status check_query(const PoolState& pool, const Query& query) REQUIRES(pool.mutex) {
  const auto invalid = [](const std::string& what) {
    return Status(Code::kRequestInvalid, "kv lookup: " + what);
  };
  if (query.version >= pool.chains.version_count() && !query.tokens.empty()) {
    return invalid("unknown version");
  }
  if (query.user.size() > kOwnerBytesMax) {
    return invalid("user: expected up to " + std::to_string(kOwnerBytesMax) + " bytes, got " +
                   std::to_string(query.user.size()));
  }
  if (query.tokens.size() > kChainTokensMax) {
    return invalid("tokens: expected at most " + std::to_string(kChainTokensMax) + ", got " +
                   std::to_string(query.tokens.size()));
  }
  if (query.prefix_tokens > query.tokens.size()) {
    return invalid("prefix_tokens: expected at most the tokens' number");
  }
  return Status::ok();
}

}  // namespace

Result<Lease> Pool::lookup(const Query& query) {
  PoolState& pool = *state_;
  Digest held;
  const std::string_view owner = owner_of_user(query.user, held);
  const MutexLock lock(pool.mutex);
  TESSERA_RETURN_IF_ERROR(check_query(pool, query));
  if (!owner.empty() && pool.erasures.is_erased_since(owner, query.erasures_seen)) {
    return Status(Code::kCancelled, "the user was erased while the request waited");
  }
  LeaseRecord& lease = pool.leases.take();
  lease.version = query.version;
  lease.owner = owner;
  lease.tokens.assign(query.tokens.begin(), query.tokens.end());
  lease.prefix_blocks = query.prefix_tokens / kBlockTokens;
  lease.prefix = Digest{};
  if (lease.prefix_blocks > 0) {
    lease.prefix = prefix_digest(pool.chains.version(query.version).digest,
                                 query.tokens.first(lease.prefix_blocks * kBlockTokens));
  }
  lease.wants_exact = query.wants_exact;
  if (!query.tokens.empty() && !pool.chains.version(query.version).is_retired) {
    match_committed(pool, lease, query.match_max);
  }
  lease.own_from = static_cast<uint32_t>(lease.blocks.size());
  if (query.is_state) return Lease(state_.get(), &lease);
  ++pool.counts.lookups;
  pool.counts.asked_tokens += query.tokens.size();
  for (const TierIndex which : pool.tiers.all()) {
    pool.tiers[which].metrics.hit_tokens += lease.matched_by_tier[which];
  }
  return Lease(state_.get(), &lease);
}

PerTier<uint32_t> Pool::whereabouts(Version version, std::string_view user) const {
  PoolState& pool = *state_;
  Digest held;
  const std::string_view owner = owner_of_user(user, held);
  const MutexLock lock(pool.mutex);
  PerTier<uint32_t> tokens{};
  if (version >= pool.chains.version_count() || pool.chains.version(version).is_retired)
    return tokens;
  const Chain* chain = pool.chains.nearest(version, owner);
  if (chain == nullptr) return tokens;
  const uint32_t reachable = reachable_blocks(*chain);
  for (uint32_t i = 0; i < reachable; ++i) {
    const ChainBlock& block = chain->blocks[i];
    tokens[i < chain->resident[kDevice] ? kDevice : block.nearest_below()] += block.length;
  }
  return tokens;
}

std::optional<Token> Pool::first_token(Version version, std::string_view user) const {
  PoolState& pool = *state_;
  Digest held;
  const std::string_view owner = owner_of_user(user, held);
  const MutexLock lock(pool.mutex);
  const Chain* chain = pool.chains.find({version, false, owner});
  if (chain == nullptr || chain->tokens.empty()) return std::nullopt;
  return chain->tokens.front();
}

bool Pool::holds(std::string_view user) const {
  PoolState& pool = *state_;
  Digest held;
  const std::string_view owner = owner_of_user(user, held);
  const MutexLock lock(pool.mutex);
  const std::vector<bool> is_heritable = pool.chains.heritable();
  for (uint32_t version = 0; version < pool.chains.version_count(); ++version) {
    if (pool.chains.version(version).is_retired && !is_heritable[version]) continue;
    if (pool.chains.find({version, false, owner}) != nullptr) return true;
  }
  return false;
}

}  // namespace tessera::kv
