// Operations: versions retired, users dropped, waiting for the disk, reports.
#include <algorithm>
#include <chrono>

#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

bool is_erasing(const PoolState& pool, std::string_view user) REQUIRES(pool.mutex) {
  return std::any_of(pool.graves.begin(), pool.graves.end(), [&](const auto& grave) {
    return !grave->is_prefix && grave->owner == user && grave->durable.seq != 0;
  });
}

bool is_storing(const PoolState& pool) REQUIRES(pool.mutex) {
  const bool any_grave = std::any_of(pool.graves.begin(), pool.graves.end(),
                                     [](const auto& grave) { return grave->durable.seq != 0; });
  return pool.is_store_busy || any_grave || !pool.store_queue.empty();
}

}  // namespace

void Pool::retire(Version version) {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  if (version >= pool.versions.size()) return;
  pool.versions[version].is_retired = true;
  pool.store_ready.notify_one();
}

uint64_t Pool::erasures() const { return state_->erasures.last(); }

Status Pool::drop_user(std::string_view user, uint64_t budget_us) {
  PoolState& pool = *state_;
  MutexLock lock(pool.mutex);
  pool.erasures.note(user);
  for (const std::unique_ptr<LeaseRecord>& lease : pool.leases) {
    if (lease->user == user) pool.revoke_locked(*lease);  // what it computed must not come back
  }
  for (uint32_t version = 0; version < pool.versions.size(); ++version) {
    Chain* chain = pool.find_locked({version, false, user});
    if (chain != nullptr) pool.bury_locked(*chain, true);
  }
  for (const std::unique_ptr<Chain>& grave : pool.graves) {
    if (!grave->is_prefix && grave->owner == user) grave->is_erasure = true;
  }
  const auto is_over = [&]() REQUIRES(pool.mutex) {
    return pool.is_store_broken || !is_erasing(pool, user);
  };
  const bool is_gone = lock.wait_for(pool.stored, std::chrono::microseconds(budget_us), is_over);
  if (pool.is_store_broken && is_erasing(pool, user)) {
    return {Code::kIoFailed, "the disk tier takes no changes: " + pool.counts.store_error};
  }
  if (is_gone) return Status::ok();
  return {Code::kDeadlineExceeded, "the user's blocks are still being erased from disk"};
}

Status Pool::flush(uint64_t budget_us) {
  PoolState& pool = *state_;
  MutexLock lock(pool.mutex);
  const auto is_held_back = [&]() REQUIRES(pool.mutex) {
    return pool.is_store_broken || pool.stores_rest_until_us > pool.now_us();
  };
  pool.store_ready.notify_one();
  const auto is_over = [&]() REQUIRES(pool.mutex) { return is_held_back() || !is_storing(pool); };
  const bool is_done = lock.wait_for(pool.stored, std::chrono::microseconds(budget_us), is_over);
  if (is_held_back()) {
    return {Code::kIoFailed, "the disk tier takes no changes: " + pool.counts.store_error};
  }
  if (is_done) return Status::ok();
  return {Code::kDeadlineExceeded, "blocks still wait to be stored"};
}

std::vector<ChainReport> Pool::inspect(std::string_view user) const {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  std::vector<ChainReport> reports;
  for (uint32_t version = 0; version < pool.versions.size(); ++version) {
    const Chain* chain = pool.find_locked({version, false, user});
    if (chain == nullptr) continue;
    ChainReport report{.version = pool.versions[version].digest,
                       .is_retired = pool.versions[version].is_retired,
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
