// The pool opened, closed and counted.
#include "kv/pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

constexpr uint64_t kBlockBytesMax = uint64_t{1} << 30;
constexpr uint64_t kBlockBytesUnit = 64;

Status invalid(std::string message) { return {Code::kKvPoolInvalid, std::move(message)}; }

uint64_t steady_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

Status check(const PoolOptions& options) {
  const uint64_t bytes = options.block_bytes;
  if (bytes == 0 || bytes > kBlockBytesMax || bytes % kBlockBytesUnit != 0) {
    return invalid("block_bytes: expected a multiple of 64 up to 2^30, got " +
                   std::to_string(bytes));
  }
  if (options.disk_blocks >= kNoSlot) {
    return invalid("disk_blocks: expected less than 2^32 - 1, got " +
                   std::to_string(options.disk_blocks));
  }
  if (options.disk_blocks > 0 && options.store == nullptr && options.disk_folder.empty()) {
    return invalid("disk_folder: a disk tier needs one");
  }
  if (options.codec != nullptr &&
      (options.codec->name().empty() || options.codec->encoded_bytes() == 0)) {
    return invalid("codec: expected a name and at least one byte for a block");
  }
  if (options.versions_back_max > kVersionsBackMax) {
    return invalid("versions_back_max: expected at most " + std::to_string(kVersionsBackMax) +
                   ", got " + std::to_string(options.versions_back_max));
  }
  if (options.store_queue_max == 0 || options.prefetch_queue_max < 2) {
    return invalid("store_queue_max and prefetch_queue_max: expected at least 1 and 2");
  }
  return Status::ok();
}

/// Claims a head's slots; false if one is missing or belongs to another head.
bool adopt_slots(SlotTable& slots, const HeadRecord& head) {
  uint64_t taken = 0;
  while (taken < head.blocks.size() && slots.adopt(head.blocks[taken].slot)) ++taken;
  if (taken == head.blocks.size()) return true;
  for (uint64_t i = 0; i < taken; ++i) slots.leave(head.blocks[i].slot, SlotState::kAborted);
  return false;
}

void adopt_head(PoolState& pool, HeadRecord&& head) REQUIRES(pool.mutex) {
  pool.chains.note_seq(head.seq);
  const uint32_t version = pool.chains.version_of(head.key.version);
  const ChainKeyView key{version, head.key.is_prefix, head.key.owner};
  if (pool.chains.find(key) != nullptr || head.blocks.empty() || head.seq == 0 ||
      !adopt_slots(*pool.tiers[pool.tiers.headed()].slots, head)) {
    ++pool.counts.heads_corrupt;
    pool.writer.add_dangling(std::move(head.key));
    return;
  }
  Chain& chain = pool.chains.make(key, head.prefix, head.prefix_blocks);
  chain.seq = head.seq;
  chain.versions_back = head.versions_back;
  chain.root = head.root;
  pool.chains.append(chain, head.tokens);
  chain.durable.seq = head.seq;
  chain.durable.version = version;
  chain.durable.length = static_cast<uint32_t>(chain.tokens.size());
  const TierIndex headed = pool.tiers.headed();
  for (uint32_t i = 0; i < chain.blocks.size(); ++i) {
    chain.blocks[i].slots[headed] = head.blocks[i].slot;
    chain.blocks[i].checksum = head.blocks[i].checksum;
    chain.durable.slots.push_back(head.blocks[i].slot);
  }
  chain.resident[headed] = static_cast<uint32_t>(chain.blocks.size());
}

/// Chains of the heads on disk, those changed last as the most recently used ones.
Status recover(PoolState& pool) {
  const TierIndex headed = pool.tiers.headed();
  HeadLog& log = pool.tiers.heads();
  std::vector<HeadRecord> heads;
  Result<uint64_t> corrupt =
      log.recover([&](HeadRecord&& head) { heads.push_back(std::move(head)); });
  if (!corrupt.is_ok()) return corrupt.status();
  const MutexLock lock(pool.mutex);
  pool.counts.heads_corrupt = corrupt.value();
  pool.counts.store_error = log.dropped();
  pool.counts.indexes_dropped = pool.counts.store_error.empty() ? 0 : 1;
  std::sort(heads.begin(), heads.end(),
            [](const HeadRecord& a, const HeadRecord& b) { return a.seq < b.seq; });
  // Newest first: where two heads claim one slot the older one goes.
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) adopt_head(pool, std::move(*head));
  pool.tiers[headed].slots->adopt_end();
  std::vector<Chain*> adopted;
  for (const auto& [key, chain] : pool.chains.all()) adopted.push_back(chain.get());
  std::sort(adopted.begin(), adopted.end(),
            [](const Chain* a, const Chain* b) { return a->seq < b->seq; });
  for (Chain* chain : adopted) {
    pool.chains.set_resident(*chain, headed, chain->resident[headed]);
  }
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<Pool>> Pool::open(PoolOptions options) {
  TESSERA_RETURN_IF_ERROR(check(options));
  auto state = std::make_unique<PoolState>();
  state->options = std::move(options);
  PoolOptions& kept = state->options;
  if (!kept.now_us) kept.now_us = steady_us;
  TESSERA_RETURN_IF_ERROR(state->tiers.open(kept));
  {
    const MutexLock lock(state->mutex);
    state->sharing.open();
  }
  if (state->tiers.has_heads()) TESSERA_RETURN_IF_ERROR(recover(*state));
  if (kept.read_threads > 0) {
    state->threads = std::make_unique<IoThreads>(*state, kept.read_threads);
  }
  return std::unique_ptr<Pool>(new Pool(std::move(state)));
}

Pool::Pool(std::unique_ptr<PoolState> state) : state_(std::move(state)) {}

Pool::~Pool() = default;

uint64_t Pool::block_bytes() const { return state_->options.block_bytes; }

uint64_t Pool::stored_block_bytes() const { return state_->tiers.stored_bytes(); }

std::span<const std::string> Pool::tier_names() const { return state_->tiers.names(); }

PoolState::~PoolState() {
  threads.reset();
  for (const TierIndex which : tiers.shared()) tiers[which].shared->close();
  TESSERA_CHECK(leases.open_count() == 0);  // leases end before their pool
  TESSERA_CHECK(loader.open_count() == 0);  // and so do prefetches
}

void PoolState::drop(Chain& chain) {
  mutex.assert_held();
  loader.drop(chain);
  writer.drop(chain);
}

void PoolState::note_grave() {
  mutex.assert_held();
  writer.ring();
}

Result<Version> Pool::add_version(const Identity& identity) {
  if (identity.block_bytes != state_->options.block_bytes) {
    return invalid("the model's blocks have " + std::to_string(identity.block_bytes) +
                   " bytes, the pool's have " + std::to_string(state_->options.block_bytes));
  }
  const MutexLock lock(state_->mutex);
  const uint32_t version = state_->chains.version_of(state_->digest_of(identity));
  state_->chains.set_retired(version, false);
  return version;
}

std::optional<Version> Pool::find_version(std::string_view digest) const {
  const MutexLock lock(state_->mutex);
  for (Version version = 0; version < state_->chains.version_count(); ++version) {
    if (to_text(state_->chains.version(version).digest) == digest) return version;
  }
  return std::nullopt;
}

PoolMetrics Pool::metrics() const {
  PoolState& pool = *state_;
  const MutexLock lock(pool.mutex);
  PoolMetrics metrics = pool.counts;
  metrics.tiers = pool.tiers.metrics();
  metrics.chains = pool.chains.all().size();
  metrics.chain_tokens = pool.chains.token_count();
  metrics.graves = pool.chains.graves().size();
  metrics.leases = pool.leases.open_count();
  metrics.prefetching = pool.loader.open_count();
  metrics.store_queue = pool.writer.size();
  metrics.is_storing = !pool.writer.is_held_back();
  return metrics;
}

}  // namespace tessera::kv
