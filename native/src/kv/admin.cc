// Operations: versions retired, users dropped, waiting for the disk, reports.
#include <algorithm>
#include <chrono>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

bool is_erasing(const PoolState& pool, std::string_view owner) REQUIRES(pool.mutex) {
  return std::any_of(pool.chains.graves().begin(), pool.chains.graves().end(),
                     [&](const auto& grave) {
                       return !grave->is_prefix && grave->owner == owner && grave->durable.seq != 0;
                     });
}

bool is_storing(const PoolState& pool) REQUIRES(pool.mutex) {
  const auto& graves = pool.chains.graves();
  const bool any_grave = std::any_of(graves.begin(), graves.end(),
                                     [](const auto& grave) { return grave->durable.seq != 0; });
  return any_grave || !pool.writer.is_idle() || !pool.sharing.is_idle();
}

}  // namespace

void Pool::retire(Version version) {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  if (version >= pool.chains.version_count()) return;
  pool.chains.set_retired(version, true);
  pool.writer.ring();
}

uint64_t Pool::erasures() const { return state_->erasures.last(); }

Status Pool::drop_user(std::string_view user, uint64_t budget_us, uint64_t at) {
  PoolState& pool = *state_;
  const Digest digest = shared_owner(false, user);
  const std::string_view owner = owner_of(digest);
  MutexLock lock(pool.mutex);
  pool.erasures.note(owner);
  pool.sharing.erase(digest, at);
  for (const std::unique_ptr<LeaseRecord>& lease : pool.leases.all()) {
    if (lease->owner == owner) pool.leases.revoke(*lease);  // what it computed must not come back
  }
  for (uint32_t version = 0; version < pool.chains.version_count(); ++version) {
    Chain* chain = pool.chains.find({version, false, owner});
    if (chain != nullptr) pool.chains.bury(*chain, true);
  }
  pool.chains.erase_graves(owner);
  const auto is_over = [&]() REQUIRES(pool.mutex) {
    return pool.writer.is_broken() ||
           (!is_erasing(pool, owner) && !pool.sharing.is_erasing(digest));
  };
  const bool is_gone =
      lock.wait_for(pool.writer.stored, std::chrono::microseconds(budget_us), is_over);
  if (pool.writer.is_broken() && is_erasing(pool, owner)) {
    return {Code::kIoFailed, "the disk tier refuses writes: " + pool.counts.store_error};
  }
  if (is_gone) return Status::ok();
  if (!is_erasing(pool, owner)) {
    return {Code::kDeadlineExceeded,
            "the user's blocks are still being erased from a shared store"};
  }
  return {Code::kDeadlineExceeded, "the user's blocks are still being erased from disk"};
}

Status Pool::flush(uint64_t budget_us) {
  PoolState& pool = *state_;
  MutexLock lock(pool.mutex);
  const auto is_held_back = [&]() REQUIRES(pool.mutex) { return pool.writer.is_held_back(); };
  pool.writer.ring();
  const auto is_over = [&]() REQUIRES(pool.mutex) { return is_held_back() || !is_storing(pool); };
  const bool is_done =
      lock.wait_for(pool.writer.stored, std::chrono::microseconds(budget_us), is_over);
  if (is_held_back()) {
    return {Code::kIoFailed, "the disk tier refuses writes: " + pool.counts.store_error};
  }
  if (is_done) return Status::ok();
  return {Code::kDeadlineExceeded, "blocks still wait to be stored"};
}

std::vector<ChainReport> Pool::inspect(std::string_view user) const {
  PoolState& pool = *state_;
  Digest held;
  const std::string_view owner = owner_of_user(user, held);
  const MutexLock lock(pool.mutex);
  std::vector<ChainReport> reports;
  for (uint32_t version = 0; version < pool.chains.version_count(); ++version) {
    const Chain* chain = pool.chains.find({version, false, owner});
    if (chain == nullptr) continue;
    ChainReport report{.version = pool.chains.version(version).digest,
                       .is_retired = pool.chains.version(version).is_retired,
                       .seq = chain->seq,
                       .versions_back = chain->versions_back,
                       .tokens = static_cast<uint32_t>(chain->tokens.size()),
                       .prefix_tokens = chain->prefix_blocks * kBlockTokens,
                       .tier_tokens = {},
                       .durable_tokens = chain->durable.length,
                       .durable_seq = chain->durable.seq,
                       .unused_us = pool.now_us() - chain->used_us};
    for (const TierIndex which : pool.tiers.all()) {
      report.tier_tokens[which] = tokens_in(*chain, chain->resident[which]);
    }
    reports.push_back(report);
  }
  return reports;
}

}  // namespace tessera::kv
