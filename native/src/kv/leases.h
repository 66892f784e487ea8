// The leases of the pool: which device blocks each request holds, and which of those only it holds.
// At its end a lease returns its blocks; committed ones belong to a chain by then, others are
// freed.
//
// Thread-safety: under the lock of the pool, but for what LeaseRecord says. Owner: PoolState.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "kv/pool.h"
#include "kv/tiers.h"

namespace tessera::kv {

enum class LeasePhase : uint8_t { kFree, kOpen, kCommitted, kRevoked };

/// The findings of a lookup.
struct LeaseMatch {
  uint32_t matched = 0;
  PerTier<uint32_t> matched_by_tier{};
  bool is_exact = true;        // what is matched, and with it what is computed on it
  uint32_t versions_back = 0;  // as is_exact
  uint32_t inherited = 0;      // tokens
  uint32_t loadable = 0;
};

struct LeaseRecord : LeaseMatch {
  static constexpr uint32_t kAllWritten = UINT32_MAX;
  LeasePhase phase = LeasePhase::kFree;
  std::atomic<bool> is_revoked{false};
  uint32_t version = 0;
  std::string owner;  // owner_of_user()
  std::vector<Token> tokens;
  Digest prefix;
  uint32_t prefix_blocks = 0;
  uint64_t expected_seq = 0;  // of the user's chain at lookup; 0: there was none
  bool wants_exact = false;
  std::vector<BlockRef> blocks;  // each with one reference of this lease
  uint32_t own_from = 0;         // blocks from here on are this lease's own until attached
  // Positions from here on are as extend() left them. By the lease's owner; read under the lock.
  std::atomic<uint32_t> written_end{kAllWritten};
};

class Leases {
 public:
  explicit Leases(Tiers& tiers) : tiers_(tiers) {}

  /// An open one that holds nothing. It is used again after end().
  LeaseRecord& take();
  /// Takes what an open lease has computed away from it; it keeps its references.
  void revoke(LeaseRecord& lease);
  /// Gives back all that it holds.
  void end(LeaseRecord& lease);
  /// All that ever were, those that ended among them.
  const std::vector<std::unique_ptr<LeaseRecord>>& all() const { return all_; }
  uint64_t open_count() const { return all_.size() - free_.size(); }

 private:
  Tiers& tiers_;
  std::vector<std::unique_ptr<LeaseRecord>> all_;
  std::vector<LeaseRecord*> free_;
};

}  // namespace tessera::kv
