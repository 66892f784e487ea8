// Versions that follow one another: a user's chain passes on to the version after the one
// that computed it, in place. Its blocks keep their slots and their keys in every tier; what
// changes is the name under which the chain is found, and how many versions back its numbers come
// from.
#include <algorithm>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

/// True if the chain begins with the query's static text; compares its digest at that place.
bool has_prefix(const PoolState& pool, const Chain& chain, const LeaseRecord& lease)
    REQUIRES(pool.mutex) {
  if (chain.prefix_blocks != lease.prefix_blocks) return false;
  const auto text = std::span<const Token>(lease.tokens).first(lease.prefix_blocks * kBlockTokens);
  return text.empty() ||
         chain.prefix == prefix_digest(pool.chains.version(chain.version).digest, text);
}

/// Other processes find the chain under the older version's name alone.
void forget_copies(PoolState& pool, Chain& chain) REQUIRES(pool.mutex) {
  pool.sharing.drop(chain);
  for (const TierIndex which : pool.tiers.shared()) {
    for (uint32_t i = 0; i < chain.resident[which]; ++i) {
      pool.chains.drop_slot(chain, i, which, SlotState::kOrphan);
    }
    pool.chains.set_resident(chain, which, 0);
    pool.sharing.copy(chain, which) = {};
  }
}

void pass_on(PoolState& pool, Chain& chain, uint32_t version, uint32_t distance,
             const Digest& prefix) REQUIRES(pool.mutex) {
  forget_copies(pool, chain);
  pool.chains.rename(chain, version);
  chain.versions_back += distance;
  chain.prefix = prefix;
  chain.seq = pool.chains.next_seq();
  pool.writer.queue_renaming(chain);
  pool.writer.queue(chain);
  ++pool.counts.inherited_chains;
}

}  // namespace

Version Pool::succeed(Version version, const Identity& predecessor) {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  TESSERA_CHECK(version < pool.chains.version_count());
  const uint32_t known = pool.chains.version_count();
  const uint32_t before = pool.chains.version_of(pool.digest_of(predecessor));
  // A version that was never added serves no request.
  if (before == known) pool.chains.set_retired(before, true);
  if (pool.chains.follow(version, before)) pool.writer.ring();
  return before;
}

uint32_t Chains::version_of(const Digest& digest) {
  for (uint32_t i = 0; i < versions_.size(); ++i) {
    if (versions_[i].digest == digest) return i;
  }
  versions_.push_back(
      {.digest = digest, .is_retired = false, .predecessor = kNoVersion, .chains = {}});
  return static_cast<uint32_t>(versions_.size() - 1);
}

bool Chains::follow(uint32_t version, uint32_t predecessor) {
  for (uint32_t at = predecessor; at != kNoVersion; at = versions_[at].predecessor) {
    if (at == version) return false;
  }
  versions_[version].predecessor = predecessor;
  return true;
}

std::vector<bool> Chains::heritable() const {
  std::vector<bool> is_heritable(versions_.size());
  for (const VersionRecord& version : versions_) {
    if (version.is_retired) continue;
    uint32_t at = version.predecessor;
    for (uint32_t i = 0; i < options_.versions_back_max && at != kNoVersion; ++i) {
      is_heritable[at] = true;
      at = versions_[at].predecessor;
    }
  }
  return is_heritable;
}

bool Chains::is_near(const Chain& chain, bool wants_exact) const {
  return chain.versions_back <= (wants_exact ? 0 : options_.versions_back_max);
}

std::vector<Predecessor> Chains::predecessors(uint32_t version, std::string_view owner) {
  std::vector<Predecessor> found;
  const uint32_t most = options_.versions_back_max;
  for (uint32_t distance = 1; distance <= most; ++distance) {
    version = versions_[version].predecessor;
    if (version == kNoVersion) break;
    Chain* chain = find({version, false, owner});
    if (chain == nullptr || chain->versions_back + distance > most) continue;
    found.push_back({chain, distance});
  }
  return found;
}

Chain* Chains::prefix_under(uint32_t version, const Chain& chain) {
  if (chain.prefix_blocks == 0) return nullptr;
  Chain* own = find_prefix(chain.version, chain.prefix);
  if (own == nullptr || chain.version == version) return own;
  return find_prefix(version, prefix_digest(versions_[version].digest, own->tokens));
}

Chain* Chains::nearest(uint32_t version, std::string_view owner) {
  Chain* nearest = find({version, false, owner});
  if (nearest != nullptr && !is_near(*nearest, false)) nearest = nullptr;
  uint32_t best = nearest == nullptr ? 0 : tokens_in(*nearest, reachable_blocks(*nearest));
  for (const auto& [chain, distance] : predecessors(version, owner)) {
    const uint32_t tokens = tokens_in(*chain, reachable_blocks(*chain));
    if (tokens < best + kBlockTokens) continue;
    nearest = chain;
    best = tokens;
  }
  return nearest;
}

Chain* PoolState::inherit_locked(const LeaseRecord& lease, Chain* own) {
  if (chains.version(lease.version).predecessor == kNoVersion) return own;
  const auto tokens =
      std::span<const Token>(lease.tokens).subspan(lease.prefix_blocks * kBlockTokens);
  uint32_t best = 0;
  if (own != nullptr && chains.is_near(*own, false) && own->prefix_blocks == lease.prefix_blocks &&
      own->prefix == lease.prefix) {
    best = std::min(common_prefix(own->tokens, tokens), tokens_in(*own, reachable_blocks(*own)));
  }
  Predecessor heritage;
  for (const Predecessor& before : chains.predecessors(lease.version, lease.owner)) {
    const Chain& chain = *before.chain;
    const uint32_t resident = tokens_in(chain, chain.resident[kDevice]);
    const uint32_t found = std::min(common_prefix(chain.tokens, tokens), resident);
    if (found < best + kBlockTokens || !has_prefix(*this, chain, lease)) continue;
    heritage = before;
    best = found;
  }
  if (heritage.chain == nullptr) return own;
  if (own != nullptr) chains.bury(*own, false);
  pass_on(*this, *heritage.chain, lease.version, heritage.distance, lease.prefix);
  return heritage.chain;
}

}  // namespace tessera::kv
