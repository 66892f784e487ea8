// Versions that follow one another: a user's chain passes on to the version after the one
// that computed it, in place. Its blocks keep their slots and their keys in every tier; what
// changes is the name under which the chain is found, and how many versions back its numbers come
// from.
#include <algorithm>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

struct Predecessor {
  Chain* chain = nullptr;
  uint32_t distance = 0;  // versions back
};

/// The user's chain of each version before one, nearest first: those that are near enough to pass
/// on.
std::vector<Predecessor> predecessors(PoolState& pool, uint32_t version, std::string_view user)
    REQUIRES(pool.mutex) {
  std::vector<Predecessor> found;
  const uint32_t most = pool.options.versions_back_max;
  for (uint32_t distance = 1; distance <= most; ++distance) {
    version = pool.versions[version].predecessor;
    if (version == kNoVersion) break;
    Chain* chain = pool.find_locked({version, false, user});
    if (chain == nullptr || chain->versions_back + distance > most) continue;
    found.push_back({chain, distance});
  }
  return found;
}

/// Whether the chain stands on the query's static text, by the digest that it has there.
bool has_prefix(const PoolState& pool, const Chain& chain, const LeaseRecord& lease)
    REQUIRES(pool.mutex) {
  if (chain.prefix_blocks != lease.prefix_blocks) return false;
  const auto text = std::span<const Token>(lease.tokens).first(lease.prefix_blocks * kBlockTokens);
  return text.empty() || chain.prefix == prefix_digest(pool.versions[chain.version].digest, text);
}

Chain* prefix_chain(PoolState& pool, uint32_t version, const Digest& prefix) REQUIRES(pool.mutex) {
  const auto* owner = reinterpret_cast<const char*>(prefix.bytes.data());
  return pool.find_locked({version, true, {owner, prefix.bytes.size()}});
}

void pass_on(PoolState& pool, Chain& chain, uint32_t version, uint32_t distance,
             const Digest& prefix) REQUIRES(pool.mutex) {
  pool.leave_version_locked(chain);
  auto entry =
      pool.chains.extract(pool.chains.find(ChainKeyView{chain.version, false, chain.owner}));
  entry.key().version = version;
  TESSERA_CHECK(pool.chains.insert(std::move(entry)).inserted);
  chain.version = version;
  chain.versions_back += distance;
  chain.prefix = prefix;
  chain.seq = ++pool.last_seq;
  pool.join_version_locked(chain);
  if (!chain.is_renaming && pool.tiers.has_heads()) {
    chain.is_renaming = true;
    pool.renaming.push_back(&chain);
  }
  pool.queue_store_locked(chain);
  ++pool.counts.inherited_chains;
}

}  // namespace

Version Pool::succeed(Version version, const Identity& predecessor) {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  TESSERA_CHECK(version < pool.versions.size());
  const auto known = static_cast<uint32_t>(pool.versions.size());
  const uint32_t before = pool.version_index_locked(pool.digest_of(predecessor));
  // One that nobody has added serves nobody.
  if (before == known) pool.versions[before].is_retired = true;
  for (uint32_t at = before; at != kNoVersion; at = pool.versions[at].predecessor) {
    if (at == version) return before;
  }
  pool.versions[version].predecessor = before;
  pool.store_ready.notify_one();
  return before;
}

std::vector<bool> PoolState::heritable_locked() const {
  std::vector<bool> is_heritable(versions.size());
  for (const VersionRecord& version : versions) {
    if (version.is_retired) continue;
    uint32_t at = version.predecessor;
    for (uint32_t i = 0; i < options.versions_back_max && at != kNoVersion; ++i) {
      is_heritable[at] = true;
      at = versions[at].predecessor;
    }
  }
  return is_heritable;
}

Chain* PoolState::prefix_under_locked(uint32_t version, const Chain& chain) {
  if (chain.prefix_blocks == 0) return nullptr;
  Chain* own = prefix_chain(*this, chain.version, chain.prefix);
  if (own == nullptr || chain.version == version) return own;
  return prefix_chain(*this, version, prefix_digest(versions[version].digest, own->tokens));
}

Chain* PoolState::nearest_chain_locked(uint32_t version, std::string_view user) {
  Chain* nearest = find_locked({version, false, user});
  if (nearest != nullptr && !is_near(*nearest, false)) nearest = nullptr;
  uint32_t best = nearest == nullptr ? 0 : tokens_in(*nearest, reachable_blocks(*nearest));
  for (const auto& [chain, distance] : predecessors(*this, version, user)) {
    const uint32_t tokens = tokens_in(*chain, reachable_blocks(*chain));
    if (tokens < best + kBlockTokens) continue;
    nearest = chain;
    best = tokens;
  }
  return nearest;
}

Chain* PoolState::inherit_locked(const LeaseRecord& lease, Chain* own) {
  if (versions[lease.version].predecessor == kNoVersion) return own;
  const auto tokens =
      std::span<const Token>(lease.tokens).subspan(lease.prefix_blocks * kBlockTokens);
  uint32_t best = 0;
  if (own != nullptr && is_near(*own, false) && own->prefix_blocks == lease.prefix_blocks &&
      own->prefix == lease.prefix) {
    best = std::min(common_prefix(own->tokens, tokens), tokens_in(*own, reachable_blocks(*own)));
  }
  Predecessor heritage;
  for (const Predecessor& before : predecessors(*this, lease.version, lease.user)) {
    const Chain& chain = *before.chain;
    const uint32_t resident = tokens_in(chain, chain.resident[kDevice]);
    const uint32_t found = std::min(common_prefix(chain.tokens, tokens), resident);
    if (found < best + kBlockTokens || !has_prefix(*this, chain, lease)) continue;
    heritage = before;
    best = found;
  }
  if (heritage.chain == nullptr) return own;
  if (own != nullptr) bury_locked(*own, false);
  pass_on(*this, *heritage.chain, lease.version, heritage.distance, lease.prefix);
  return heritage.chain;
}

}  // namespace tessera::kv
