// The chains of the pool: what they are found under, what they hold, the versions they belong to,
// and which of them gives a block up where a tier is full.
//
// Thread-safety: under the lock of the pool. Owner: PoolState.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kv/chain.h"
#include "kv/options.h"
#include "kv/tiers.h"

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

/// A chain of a version before another one.
struct Predecessor {
  Chain* chain = nullptr;
  uint32_t distance = 0;  // versions between
};

class Chains {
 public:
  /// The holder of queues of chains.
  class Queues {
   public:
    virtual ~Queues() = default;
    /// The chain is given up: no queue may have it on return.
    virtual void drop(Chain& chain) = 0;
    /// There is a head to be erased.
    virtual void note_grave() = 0;
  };
  using Map = std::unordered_map<ChainKey, std::unique_ptr<Chain>, ChainKeyHash, ChainKeyEqual>;

  /// Its arguments outlive it.
  Chains(Tiers& tiers, const PoolOptions& options, Queues& queues)
      : tiers_(tiers), options_(options), queues_(queues) {}

  // By name (chains.cc).
  Chain* find(const ChainKeyView& key);
  /// That of a static prefix.
  Chain* find_prefix(uint32_t version, const Digest& prefix);
  Chain& make(const ChainKeyView& key, const Digest& prefix, uint32_t prefix_blocks);
  /// Puts the chain under another version, which has none of that owner.
  void rename(Chain& chain, uint32_t version);
  const Map& all() const { return all_; }
  /// Given up, but for a transfer or a head that is not yet gone.
  const std::vector<std::unique_ptr<Chain>>& graves() const { return graves_; }
  /// Tokens of all chains but the graves.
  uint64_t token_count() const { return token_count_; }
  uint64_t next_seq() { return ++last_seq_; }
  /// A number that was given before a restart.
  void note_seq(uint64_t seq) { last_seq_ = std::max(last_seq_, seq); }

  // The slots that they hold (chains.cc).
  /// Tokens behind those it has; their blocks are nowhere yet.
  void append(Chain& chain, std::span<const Token> tokens);
  /// Makes the chain hold exactly `tokens`, under a new number; its first `same` are these and stay
  /// where they are, but for a block that they share with later ones.
  void rewrite(Chain& chain, std::span<const Token> tokens, uint32_t same);
  /// Cuts the chain to `tokens` tokens; a block cut in its middle keeps its device slot alone.
  void cut(Chain& chain, uint32_t tokens);
  void set_resident(Chain& chain, TierIndex which, uint32_t count);
  /// Advances over the blocks that lie on the device without a hole.
  void advance_device(Chain& chain);
  /// Takes the block's slot out of the chain; its bytes go when the last reader has.
  void drop_slot(Chain& chain, uint32_t index, TierIndex which, SlotState to);
  /// The tier has not got what the chain has there from block `index` on. False when that block's
  /// slot is another one by now.
  bool give_up(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot);
  void touch(Chain& chain);

  // Their end (chains.cc).
  void bury(Chain& chain, bool is_erasure);
  /// A chain without blocks, heads and holds is forgotten.
  void forget_if_empty(Chain& chain);
  /// Ends a hold.
  void release(Chain& chain);
  /// Users whose bytes are to be made unreadable: graves of that name are erased as well.
  void erase_graves(std::string_view owner);

  // Versions (succession.cc).
  uint32_t version_of(const Digest& digest);
  uint32_t version_count() const { return static_cast<uint32_t>(versions_.size()); }
  const VersionRecord& version(uint32_t index) const { return versions_[index]; }
  void set_retired(uint32_t index, bool is_retired) { versions_[index].is_retired = is_retired; }
  /// False when that would make a version come before itself.
  bool follow(uint32_t version, uint32_t predecessor);
  /// True if a query of this kind may find the chain's blocks under its version.
  bool is_near(const Chain& chain, bool wants_exact) const;
  /// The user's chain of each version before one, nearest first: those that are near enough to
  /// pass on.
  std::vector<Predecessor> predecessors(uint32_t version, std::string_view owner);
  /// The user's chain that a prefetch for the version brings up: its own, or one that would pass
  /// on to it; null when there is none.
  Chain* nearest(uint32_t version, std::string_view owner);
  /// The version's chain of the static text that the chain, its own or a predecessor's, stands on.
  Chain* prefix_under(uint32_t version, const Chain& chain);
  /// Heritable flag by version: a chain of another version may inherit of it.
  std::vector<bool> heritable() const;

  // Room (eviction_step.cc).
  /// A free slot of the tier, by eviction if need be, but of no block of `spared`.
  SlotIndex reserve(TierIndex which, const Chain* spared);
  /// The chain that gives a block of the tier up; null when none can.
  Chain* victim(TierIndex which, const Chain* spared);

 private:
  void join_version(Chain& chain);
  void leave_version(Chain& chain);
  void destroy_if_done(Chain& chain);
  bool evict_one(TierIndex which, const Chain* spared);

  Tiers& tiers_;
  const PoolOptions& options_;
  Queues& queues_;
  Map all_;
  std::vector<std::unique_ptr<Chain>> graves_;
  std::vector<VersionRecord> versions_;
  uint64_t last_seq_ = 0;
  uint64_t token_count_ = 0;
};

}  // namespace tessera::kv
