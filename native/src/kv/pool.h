// The user KV pool: finds keys and values that were computed for a user before, by content, to the
// exact token; it can never change an answer. A request uses it as follows:
//
//   Prefetch prefetch = pool.prefetch(...);      at arrival: blocks come up while features are made
//   prefetch.cut_off();                          what has landed contiguously is used
//   Lease lease = pool.lookup(query);            pins the longest common prefix, atomically
//   pool.extend(lease, positions);               writable blocks behind it, the shared tail copied
//   ... forward passes read and write lease.blocks() ...
//   pool.commit(lease, keep);                    the first tokens of it: visible to all, written
//   behind lease.reset();                               when the answer is out
//
// A committed block is never written again: a lease that extends a partial block has a copy of it.
// Unwritten positions of a block hold finite numbers too.
//
// Thread-safety: Pool from any thread; a Lease and a Prefetch from one thread at a time. Every call
// returns at once, without input or output, except Prefetch::wait and those under "Operations".
// The pool outlives its leases and prefetches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kv/block.h"
#include "kv/identity.h"
#include "kv/inspect.h"
#include "kv/metrics.h"
#include "kv/options.h"
#include "kv/tier.h"

namespace tessera::kv {

class PoolState;
struct LeaseRecord;
struct PrefetchRecord;

/// Index of an identity within one pool.
using Version = uint32_t;

struct Query {
  Version version = 0;
  std::string_view user = {};          // up to kOwnerBytesMax bytes; empty: only prefixes are kept
  std::span<const Token> tokens = {};  // the prompt as far as it may be kept, from its first token
  uint32_t prefix_tokens = 0;          // of them, the static text that is the same for all users
  bool wants_exact = false;            // nothing of versions before `version` (Pool::succeed)
  uint32_t match_max = UINT32_MAX;     // tokens that may be found, of the first ones
  /// Pool::erasures() when the request began: a lookup for a user who was dropped since is refused.
  uint64_t erasures_seen = UINT64_MAX;
  bool is_state = false;  // the tokens name a state, not a prompt: they are not counted
};

struct BlockRef {
  SlotIndex slot = kNoSlot;
  std::byte* address = nullptr;
};

/// One request's hold on blocks. Empty after reset() or a move.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  explicit operator bool() const { return record_ != nullptr; }
  /// Tokens of the query that need not be computed.
  uint32_t matched() const;
  /// Matched tokens by the tier where they lay: prefetched blocks count for the tier they came
  /// from.
  PerTier<uint32_t> matched_by_tier() const;
  /// True if the matched tokens' numbers are bit for bit those computed from nothing; false after a
  /// lossy codec (PoolOptions::codec).
  bool is_exact() const;
  /// Versions between the one that computed the oldest of the matched tokens and the query's, or
  /// of those that were copied from a leader (Pool::succeed); 0: all were computed under it.
  uint32_t versions_back() const;
  /// Tokens of the user's own among the matched where versions_back() is not 0.
  uint32_t inherited() const;
  /// Tokens of the query behind matched() that a prefetch could still bring to the device.
  uint32_t loadable() const;
  /// By logical position / kBlockTokens. Before extend() the matched blocks, read-only; afterwards
  /// all positions. Writable: positions from matched() on, until commit. Valid until the next
  /// extend() or reset().
  std::span<const BlockRef> blocks() const;
  /// Call before writing positions up to `end`: if the lease is given up, only blocks with such
  /// positions are zeroed before their next use. Without a call all of them are.
  void note_written(uint32_t end);
  /// The user was dropped since: its numbers are void and nothing is kept.
  bool is_revoked() const;
  /// Returns all blocks; uncommitted ones are freed.
  void reset();

 private:
  friend class Pool;
  Lease(PoolState* pool, LeaseRecord* record) : pool_(pool), record_(record) {}
  PoolState* pool_ = nullptr;
  LeaseRecord* record_ = nullptr;
};

/// Blocks on their way to the device.
class Prefetch {
 public:
  Prefetch() = default;
  Prefetch(Prefetch&& other) noexcept;
  Prefetch& operator=(Prefetch&& other) noexcept;
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  ~Prefetch();

  explicit operator bool() const { return record_ != nullptr; }
  bool is_done() const;
  /// It is not yet known what stores of other processes have of the user.
  bool is_looking() const;
  /// Waits until it is done; false when `budget_us` of real time passed before.
  bool wait(uint64_t budget_us) const;
  /// Begins no more transfers. Those under way still end, for later requests.
  void cut_off();

 private:
  friend class Pool;
  Prefetch(PoolState* pool, PrefetchRecord* record) : pool_(pool), record_(record) {}
  PoolState* pool_ = nullptr;
  PrefetchRecord* record_ = nullptr;
};

/// The outcome of a commit.
enum class Committed : uint8_t {
  kKept,        // a head advanced
  kNothingNew,  // all tokens were there already
  kLost         // it parts from an append that was first, or user or version was dropped
};

class Pool {
 public:
  /// Errors: KV_POOL_INVALID for capacities that do not fit the machine or a block size that cannot
  /// be; KV_STORE_INVALID for a folder that is locked, not writable or of another layout;
  /// KV_STORE_CORRUPT for an index that cannot be read; IO_FAILED.
  static Result<std::unique_ptr<Pool>> open(PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uint64_t block_bytes() const;
  /// Bytes of a block in the tiers below the device: other than block_bytes() with a codec.
  uint64_t stored_block_bytes() const;
  /// Names of the tiers, in the order of every list by tier. As long as the pool.
  std::span<const std::string> tier_names() const;
  /// The identity's index: the same for the same content, also after a restart or a retirement.
  /// Errors: KV_POOL_INVALID when its block size is not the pool's.
  Result<Version> add_version(const Identity& identity);

  /// The version whose digest has this text (identity.h); none when the pool has never seen it.
  std::optional<Version> find_version(std::string_view digest) const;

  /// Lets `version` inherit chains of `predecessor`, and of the versions before that one, up to
  /// PoolOptions::versions_back_max. A lookup for a user of whom `version` has nothing, or at least
  /// a block less, moves the user's older chain to `version` without copying a byte; the older
  /// version no longer has it and computes anew. Inherited tokens, and tokens computed on top of
  /// them, count as those of the oldest version involved. The newest declaration holds; one that
  /// would make a version precede itself is ignored. Lasts until the pool is closed; moved chains
  /// stay where they are. Returns the predecessor's number. REQUIRES: add_version() or succeed()
  /// gave the number.
  Version succeed(Version version, const Identity& predecessor);

  /// Pins the longest prefix of the query that is on the device. Errors: REQUEST_INVALID for a
  /// user, version or length out of bounds; CANCELLED for a user who was dropped since.
  Result<Lease> lookup(const Query& query);
  /// Makes the lease hold blocks for `positions` positions, all or nothing. Errors:
  /// ENGINE_OVERLOADED when the device has no such blocks now, REQUEST_INVALID when it can never
  /// have them.
  Status extend(Lease& lease, uint32_t positions);
  /// As extend(), for a lease that continues `leader`'s work; call it once, before anything else.
  /// Of the blocks before `shared_blocks`, those without matched tokens are the leader's own, if it
  /// still has them. A write into such a block is a write for both leases, and none may follow once
  /// either has committed it. REQUIRES: fewer blocks than the leader has.
  Status extend_beside(Lease& lease, const Lease& leader, uint32_t shared_blocks,
                       uint32_t positions);

  /// Copies a block whole. REQUIRES: a lease holds each, and nobody else writes `to`. Errors: what
  /// the device says.
  Status copy(const BlockRef& to, const BlockRef& from);

  /// The lease's first `keep` tokens of the query are in its blocks: they become visible to all.
  /// Its blocks are read-only from then on. REQUIRES: extend() covered them, not committed before.
  Committed commit(Lease& lease, uint32_t keep);

  /// Starts to bring the user's blocks to the device, up to `tokens_max` of their tokens; an empty
  /// Prefetch when nothing is to be brought or too many wait.
  Prefetch prefetch(Version version, std::string_view user, uint32_t tokens_max);
  /// The user's tokens by the tier that a prefetch would bring them from.
  PerTier<uint32_t> whereabouts(Version version, std::string_view user) const;
  /// The first token of the user's chain, wherever it lies; none where there is no chain.
  std::optional<Token> first_token(Version version, std::string_view user) const;
  /// True if the pool keeps anything of the user under a version that is not retired, or for one.
  bool holds(std::string_view user) const;

  // Operations.

  /// Lookups find nothing under the version from now on. Its blocks are freed in the background, in
  /// steps of bounded length, as their leases end, except those that a version in use may inherit.
  void retire(Version version);
  /// Number of the newest drop_user() that has begun. Any thread, without the lock.
  uint64_t erasures() const;
  /// Forgets the user everywhere and makes the user's bytes on disk unreadable: nothing that began
  /// before, by the number that its query bears, is kept afterwards. Waits up to `budget_us` for
  /// that to be durable. Errors: DEADLINE_EXCEEDED; what was begun goes on.
  /// `at`: the erasure's offset in the log of the cluster, where there is one: stores that other
  /// processes use take nothing of the user from a process that has not applied it.
  Status drop_user(std::string_view user, uint64_t budget_us, uint64_t at = 0);
  /// Waits until what is committed is durable, as far as the disk tier has room. Errors:
  /// DEADLINE_EXCEEDED, IO_FAILED when stores are held back.
  Status flush(uint64_t budget_us);
  std::vector<ChainReport> inspect(std::string_view user) const;
  /// Compares counts with a fresh scan of all chains, and reads every block on disk against its
  /// checksum. Blocks that fail are given up.
  /// In bursts, with the cores and the disk left to others between them.
  IntegrityReport check_integrity(const CheckPace& pace = {});
  PoolMetrics metrics() const;

 private:
  friend class PoolWork;
  explicit Pool(std::unique_ptr<PoolState> state);
  Status extend_record(LeaseRecord& lease, const LeaseRecord* leader, uint32_t shared_blocks,
                       uint32_t positions);
  std::unique_ptr<PoolState> state_;
};

}  // namespace tessera::kv
