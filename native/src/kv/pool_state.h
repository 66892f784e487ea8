// The inside of the pool: one lock, the index of chains, tiers, leases and queues.
// Functions whose name ends in _locked are called with `mutex` held, which clang checks. No file or
// device is touched under the lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "kv/chain.h"
#include "kv/erasures.h"
#include "kv/io_threads.h"
#include "kv/pool.h"
#include "kv/tiers.h"
#include "kv/work.h"

namespace tessera::kv {

struct ChainKeyView {
  uint32_t version;
  bool is_prefix;
  std::string_view owner;
  bool operator==(const ChainKeyView&) const = default;
};

struct ChainKey {
  uint32_t version;
  bool is_prefix;
  std::string owner;
  operator ChainKeyView() const { return {version, is_prefix, owner}; }  // NOLINT: a view of it
};

struct ChainKeyHash {
  using is_transparent = void;
  size_t operator()(const ChainKeyView& key) const {
    return std::hash<std::string_view>()(key.owner) * 31 + key.version * 2 + key.is_prefix;
  }
};
struct ChainKeyEqual {
  using is_transparent = void;
  bool operator()(const ChainKeyView& a, const ChainKeyView& b) const { return a == b; }
};

inline constexpr uint32_t kNoVersion = UINT32_MAX;

struct VersionRecord {
  Digest digest;
  bool is_retired = false;
  uint32_t predecessor = kNoVersion;  // whose chains may pass on to this one
  std::vector<Chain*> chains;
};

enum class LeasePhase : uint8_t { kFree, kOpen, kCommitted, kRevoked };

struct LeaseRecord {
  static constexpr uint32_t kAllWritten = UINT32_MAX;
  LeasePhase phase = LeasePhase::kFree;
  std::atomic<bool> is_revoked{false};
  uint32_t version = 0;
  std::string user;
  std::vector<Token> tokens;
  Digest prefix;
  uint32_t prefix_blocks = 0;
  uint64_t expected_seq = 0;  // of the user's chain at lookup; 0: there was none
  uint32_t matched = 0;
  PerTier<uint32_t> matched_by_tier{};
  bool is_exact = true;  // what is matched, and with it what is computed on it
  bool wants_exact = false;
  uint32_t versions_back = 0;  // as is_exact
  uint32_t inherited = 0;      // tokens
  uint32_t loadable = 0;
  std::vector<BlockRef> blocks;  // each with one reference of this lease
  uint32_t own_from = 0;         // blocks from here on are this lease's own until attached
  // Positions from here on are as extend() left them. By the lease's owner; read under the mutex.
  std::atomic<uint32_t> written_end{kAllWritten};
};

struct PrefetchRecord {
  Chain* chain = nullptr;
  Chain* prefix = nullptr;
};

class PoolState {
 public:
  Mutex mutex;

  PoolState() = default;
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;
  ~PoolState();

  uint64_t now_us() const { return options.now_us(); }
  bool is_lossy() const { return options.codec != nullptr && !options.codec->is_exact(); }
  /// Of an identity in this pool.
  Digest digest_of(Identity identity) const {
    identity.codec = options.codec == nullptr ? "" : options.codec->name();
    return version_digest(identity);
  }

  // chains (index.cc)
  Chain* find_locked(const ChainKeyView& key) REQUIRES(mutex);
  Chain& make_chain_locked(const ChainKeyView& key, const Digest& prefix, uint32_t prefix_blocks)
      REQUIRES(mutex);
  void bury_locked(Chain& chain, bool is_erasure) REQUIRES(mutex);
  void destroy_if_done_locked(Chain& chain) REQUIRES(mutex);
  /// A chain without blocks, heads and holds is forgotten.
  void forget_if_empty_locked(Chain& chain) REQUIRES(mutex);
  /// Ends a hold.
  void release_locked(Chain& chain) REQUIRES(mutex);
  void touch_locked(Chain& chain) REQUIRES(mutex);
  void set_resident_locked(Chain& chain, TierIndex which, uint32_t count) REQUIRES(mutex);
  /// Takes the block's slot out of the chain; its bytes go when the last reader has.
  void drop_slot_locked(Chain& chain, uint32_t index, TierIndex which, SlotState to)
      REQUIRES(mutex);
  /// Cuts the chain to `tokens` tokens; a block cut in its middle keeps its device slot alone.
  void cut_locked(Chain& chain, uint32_t tokens) REQUIRES(mutex);
  uint32_t version_index_locked(const Digest& digest) REQUIRES(mutex);
  void join_version_locked(Chain& chain) REQUIRES(mutex);
  void leave_version_locked(Chain& chain) REQUIRES(mutex);

  // succession (succession.cc)
  /// Whether what the chain holds may be found under its version, and by such a query.
  bool is_near(const Chain& chain, bool wants_exact) const {
    return chain.versions_back <= (wants_exact ? 0 : options.versions_back_max);
  }
  /// The user's chain that a prefetch for the version brings up: its own, or one that would pass
  /// on to it; null when there is none.
  Chain* nearest_chain_locked(uint32_t version, std::string_view user) REQUIRES(mutex);
  /// The version's chain of the static text that the chain, its own or a predecessor's, stands on.
  Chain* prefix_under_locked(uint32_t version, const Chain& chain) REQUIRES(mutex);
  /// Passes a predecessor's chain on to the lease's version where it has at least a block more of
  /// the query on the device than `own` has anywhere; gives the chain that is the version's then.
  Chain* inherit_locked(const LeaseRecord& lease, Chain* own) REQUIRES(mutex);
  /// By version: whether one that is not retired may inherit of it.
  std::vector<bool> heritable_locked() const REQUIRES(mutex);

  // slots (eviction_step.cc)
  SlotIndex reserve_locked(TierIndex which, const Chain* spared) REQUIRES(mutex);
  Chain* victim_locked(TierIndex which, const Chain* spared) REQUIRES(mutex);
  bool evict_one_locked(TierIndex which, const Chain* spared) REQUIRES(mutex);
  void free_slot_locked(TierIndex which, SlotIndex slot, SlotState to) REQUIRES(mutex);
  void unpin_locked(TierIndex which, SlotIndex slot) REQUIRES(mutex);
  void io_end_locked(TierIndex which, SlotIndex slot) REQUIRES(mutex);

  // leases (lookup.cc, lease.cc, attach.cc)
  LeaseRecord* take_lease_locked() REQUIRES(mutex);
  void end_lease(LeaseRecord& lease);
  /// Takes what an open lease has computed away from it; it keeps its references.
  void revoke_locked(LeaseRecord& lease) REQUIRES(mutex);
  /// The first `keep` tokens of the lease become part of chains.
  Committed attach_locked(LeaseRecord& lease, uint32_t keep) REQUIRES(mutex);
  Committed attach_user_locked(LeaseRecord& lease, uint32_t keep) REQUIRES(mutex);
  /// Empties the chain for what the lease has, from its first block on.
  void begin_anew_locked(Chain& chain, const LeaseRecord& lease) REQUIRES(mutex);
  void advance_device_locked(Chain& chain) REQUIRES(mutex);
  bool attach_blocks_locked(LeaseRecord& lease, Chain& chain, std::span<const Token> tokens,
                            uint32_t block_offset) REQUIRES(mutex);

  // transfers (load.cc, store.cc)
  void queue_load_locked(Chain& chain, uint32_t end) REQUIRES(mutex);
  void end_load_if_idle_locked(Chain& chain) REQUIRES(mutex);
  /// The tier has not got what the chain has there from block `index` on.
  void give_up_locked(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot)
      REQUIRES(mutex);
  void queue_store_locked(Chain& chain) REQUIRES(mutex);
  void publish_locked(StoreJob& job) REQUIRES(mutex);

  std::condition_variable load_ready, store_ready, landed, stored;
  PoolOptions options;
  Tiers tiers;
  std::unordered_map<ChainKey, std::unique_ptr<Chain>, ChainKeyHash, ChainKeyEqual> chains
      GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Chain>> graves GUARDED_BY(mutex);
  std::vector<VersionRecord> versions GUARDED_BY(mutex);
  std::vector<std::unique_ptr<LeaseRecord>> leases GUARDED_BY(mutex);  // all ever made
  std::vector<LeaseRecord*> free_leases GUARDED_BY(mutex);
  uint64_t last_seq GUARDED_BY(mutex) = 0;
  Erasures erasures;
  std::vector<std::unique_ptr<PrefetchRecord>> prefetches GUARDED_BY(mutex);
  std::vector<PrefetchRecord*> free_prefetches GUARDED_BY(mutex);
  std::vector<Chain*> load_queue GUARDED_BY(mutex);
  std::vector<Chain*> store_queue GUARDED_BY(mutex);
  /// Passed on; a head on disk may lie under the older version's name.
  std::vector<Chain*> renaming GUARDED_BY(mutex);
  /// Found at opening, of no use: to be erased.
  std::vector<HeadKey> dangling_heads GUARDED_BY(mutex);
  bool is_store_busy GUARDED_BY(mutex) = false;
  /// The outcome of a commit is not known: no stores until reopened.
  bool is_store_broken GUARDED_BY(mutex) = false;
  uint64_t stores_rest_until_us GUARDED_BY(mutex) = 0;
  bool is_stopping GUARDED_BY(mutex) = false;
  PoolMetrics counts GUARDED_BY(mutex);  // tiers and gauges are filled in by metrics()
  std::unique_ptr<IoThreads> threads;
};

}  // namespace tessera::kv
