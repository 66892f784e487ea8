// The inside of the pool: one lock, and what it guards: chains, leases, what waits to be brought up
// and what waits to be written. Functions whose name ends in _locked are called with the lock held,
// which clang checks. No file or device is touched under the lock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kv/chains.h"
#include "kv/erasures.h"
#include "kv/io_threads.h"
#include "kv/leases.h"
#include "kv/loader.h"
#include "kv/pool.h"
#include "kv/sharing.h"
#include "kv/tiers.h"
#include "kv/work.h"
#include "kv/writer.h"

namespace tessera::kv {

class PoolState final : private Chains::Queues {
 public:
  Mutex mutex;

  PoolState() = default;
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;
  ~PoolState() override;

  uint64_t now_us() const { return options.now_us(); }
  bool is_lossy() const { return options.codec != nullptr && !options.codec->is_exact(); }
  /// Digest of an identity in this pool.
  Digest digest_of(Identity identity) const {
    identity.codec = options.codec == nullptr ? "" : options.codec->name();
    return version_digest(identity);
  }

  /// Passes a predecessor's chain on to the lease's version where it has at least a block more of
  /// the query on the device than `own` has anywhere; gives the chain that is the version's then.
  Chain* inherit_locked(const LeaseRecord& lease, Chain* own) REQUIRES(mutex);
  /// The first `keep` tokens of the lease become part of chains.
  Committed attach_locked(LeaseRecord& lease, uint32_t keep) REQUIRES(mutex);
  /// The tier has not got what the chain has there from block `index` on: it is stored anew.
  void give_up_locked(Chain& chain, uint32_t index, TierIndex which, SlotIndex slot)
      REQUIRES(mutex);
  /// Makes what a shared store has of a chain findable under the key's version; the chain, or null
  /// where the head is not to be used (adopt.cc).
  Chain* adopt_locked(TierIndex which, uint32_t version, const HeadKey& key, const FoundHead& found)
      REQUIRES(mutex);
  /// Loads what the pool has of the look's user for the prefetch that waits.
  void load_locked(uint32_t version, std::string_view owner, uint32_t tokens_max,
                   PrefetchRecord& record) REQUIRES(mutex);
  /// A finished copy in the tier's slot becomes the chain's; false where the chain has gone on, and
  /// the slot is to be given up.
  bool publish_copy_locked(Chain& chain, const StoreTransfer& transfer, TierIndex which)
      REQUIRES(mutex);
  /// Makes the blocks that a job has written part of the chains.
  void publish_locked(StoreJob& job) REQUIRES(mutex);

  PoolOptions options;
  Tiers tiers;
  PoolMetrics counts GUARDED_BY(mutex);  // tiers and gauges are filled in by metrics()
  Chains chains GUARDED_BY(mutex){tiers, options, *this};
  Leases leases GUARDED_BY(mutex){tiers};
  Loader loader GUARDED_BY(mutex){chains, options};
  Sharing sharing GUARDED_BY(mutex){tiers, options, counts};
  Writer writer GUARDED_BY(mutex){tiers, options, counts, sharing};
  Erasures erasures;
  bool is_stopping GUARDED_BY(mutex) = false;
  std::unique_ptr<IoThreads> threads;

 private:
  void drop(Chain& chain) override;
  void note_grave() override;
};

}  // namespace tessera::kv
