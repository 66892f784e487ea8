// The inside of the pool: one lock, the index of chains, tiers, leases and queues.
// Functions whose name ends in _locked are called with `mutex` held. No file or device is touched
// under the lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  Chain* find_locked(const ChainKeyView& key);
  Chain& make_chain_locked(const ChainKeyView& key, const Digest& prefix, uint32_t prefix_blocks);
  void bury_locked(Chain& chain, bool is_erasure);
  void destroy_if_done_locked(Chain& chain);
  /// A chain without blocks, heads and holds is forgotten.
  void forget_if_empty_locked(Chain& chain);
  void release_locked(Chain& chain);  // ends a hold
  void touch_locked(Chain& chain);
  void set_resident_locked(Chain& chain, TierIndex which, uint32_t count);
  /// Takes the block's slot out of the chain; its bytes go when the last reader has.
  void drop_slot_locked(Chain& chain, uint32_t index, TierIndex which, SlotState to);
  /// Cuts the chain to `tokens` tokens; a block cut in its middle keeps its device slot alone.
  void cut_locked(Chain& chain, uint32_t tokens);
  uint32_t version_index_locked(const Digest& digest);
  void join_version_locked(Chain& chain);
  void leave_version_locked(Chain& chain);

  // succession (succession.cc)
  /// Whether what the chain holds may be found under its version, and by such a query.
  bool is_near(const Chain& chain, bool wants_exact) const {
    return chain.versions_back <= (wants_exact ? 0 : options.versions_back_max);
  }
  /// The user's chain that a prefetch for the version brings up: its own, or one that would pass
  /// on to it; null when there is none.
  Chain* nearest_chain_locked(uint32_t version, std::string_view user);
  /// The version's chain of the static text that the chain, its own or a predecessor's, stands on.
  Chain* prefix_under_locked(uint32_t version, const Chain& chain);
  /// Passes a predecessor's chain on to the lease's version where it has at least a block more of
  /// the query on the device than `own` has anywhere; gives the chain that is the version's then.
  Chain* inherit_locked(const LeaseRecord& lease, Chain* own);
  /// By version: whether one that is not retired may inherit of it.
  std::vector<bool> heritable_locked() const;

  // slots (eviction_step.cc)
  SlotIndex reserve_locked(TierIndex which, const Chain* spared);
  Chain* victim_locked(TierIndex which, const Chain* spared);
  bool evict_one_locked(TierIndex which, const Chain* spared);
  void free_slot_locked(TierIndex which, SlotIndex slot, SlotState to);
  void unpin_locked(TierIndex which, SlotIndex slot);
  void io_end_locked(TierIndex which, SlotIndex slot);

  // leases (lookup.cc, lease.cc, attach.cc)
  LeaseRecord* take_lease_locked();
  void end_lease(LeaseRecord& lease);
  /// Takes what an open lease has computed away from it; it keeps its references.
  void revoke_locked(LeaseRecord& lease);
  /// The first `keep` tokens of the lease become part of chains.
  Committed attach_locked(LeaseRecord& lease, uint32_t keep);
  Committed attach_user_locked(LeaseRecord& lease, uint32_t keep);
  /// Empties the chain for what the lease has, from its first block on.
  void begin_anew_locked(Chain& chain, const LeaseRecord& lease);
  void advance_device_locked(Chain& chain);
  bool attach_blocks_locked(LeaseRecord& lease, Chain& chain, std::span<const Token> tokens,
                            uint32_t block_offset);

  // transfers (load.cc, store.cc)
  void queue_load_locked(Chain& chain, uint32_t end);
  void end_load_if_idle_locked(Chain& chain);
  /// The tier has not got what the chain has there from block `index` on.
  void give_up_locked(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot);
  void queue_store_locked(Chain& chain);
  void publish_locked(StoreJob& job);

  std::mutex mutex;
  std::condition_variable load_ready, store_ready, landed, stored;
  PoolOptions options;
  Tiers tiers;
  std::unordered_map<ChainKey, std::unique_ptr<Chain>, ChainKeyHash, ChainKeyEqual> chains;
  std::vector<std::unique_ptr<Chain>> graves;
  std::vector<VersionRecord> versions;
  std::vector<std::unique_ptr<LeaseRecord>> leases;  // all ever made
  std::vector<LeaseRecord*> free_leases;
  uint64_t last_seq = 0;
  Erasures erasures;
  std::vector<std::unique_ptr<PrefetchRecord>> prefetches;
  std::vector<PrefetchRecord*> free_prefetches;
  std::vector<Chain*> load_queue;
  std::vector<Chain*> store_queue;
  std::vector<Chain*> renaming;  // passed on; a head on disk may lie under the older version's name
  std::vector<HeadKey> dangling_heads;  // found at opening, of no use: to be erased
  bool is_store_busy = false;
  bool is_store_broken = false;  // the outcome of a commit is not known: no stores until reopened
  uint64_t stores_rest_until_us = 0;
  bool is_stopping = false;
  PoolMetrics counts;  // tiers and gauges are filled in by metrics()
  std::unique_ptr<IoThreads> threads;
};

}  // namespace tessera::kv
