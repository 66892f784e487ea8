// The check that operators ask for: the pool's books and every block on disk, in steps that hold
// the pool's lock for a fraction of a millisecond, so that no request feels it.
#include <algorithm>
#include <chrono>
#include <thread>

#include "kv/audit.h"
#include "kv/pool_state.h"

namespace tessera::kv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kHold = std::chrono::microseconds(100);  // of the lock, by one step
constexpr size_t kBucketsPerStep = 1024;
constexpr SlotIndex kSlotsPerStep = 8192;

/// One block of the tier with heads that is being compared with its checksum.
struct Check {
  Chain* chain;
  uint32_t index;
  StoredBlock block;
};

/// Works in bursts and leaves the machine to others between them.
class Pacer {
 public:
  explicit Pacer(const CheckPace& pace) : pace_(pace) {}

  bool is_cancelled() const { return pace_.is_cancelled != nullptr && pace_.is_cancelled(); }

  /// REQUIRES: nothing is locked.
  void rest() {
    if (pace_.rest_us == 0) return;
    const auto worked = Clock::now() - began_;
    if (worked < std::chrono::microseconds(pace_.burst_us)) return;
    // In proportion: to read one large block can take longer than a burst.
    std::this_thread::sleep_for(worked * pace_.rest_us / pace_.burst_us);
    began_ = Clock::now();
  }

 private:
  const CheckPace& pace_;
  Clock::time_point began_ = Clock::now();
};

std::vector<Check> begin_checks(PoolState& pool, const ChainKey& key) {
  const MutexLock lock(pool.mutex);
  std::vector<Check> checks;
  Chain* chain = pool.chains.find(key);
  if (chain == nullptr) return checks;
  const TierIndex headed = pool.tiers.headed();
  for (uint32_t i = 0; i < chain->resident[headed]; ++i) {
    checks.push_back({chain, i, chain->blocks[i].stored_in(headed)});
    pool.tiers[headed].slots->io_begin(checks.back().block.slot);
    ++chain->holds;
  }
  return checks;
}

void end_check(PoolState& pool, const Check& check, bool is_corrupt) {
  const MutexLock lock(pool.mutex);
  const TierIndex headed = pool.tiers.headed();
  pool.tiers.io_end(headed, check.block.slot);
  Chain& chain = *check.chain;
  const bool is_current = !chain.is_dead && check.index < chain.blocks.size() &&
                          chain.blocks[check.index].key == check.block.key;
  if (is_corrupt && is_current) pool.give_up_locked(chain, check.index, headed, check.block.slot);
  pool.chains.release(chain);
}

/// Names of the chains there are. Those that come while it gathers may be missing; one that is
/// renamed may stand there twice.
std::vector<ChainKey> gather_keys(PoolState& pool, Pacer& pacer) {
  std::vector<ChainKey> keys;
  size_t buckets = 0;
  for (size_t bucket = 0; !pacer.is_cancelled(); bucket += kBucketsPerStep) {
    {
      const MutexLock lock(pool.mutex);
      if (pool.chains.all().bucket_count() != buckets) {
        // The chains lie in other buckets now.
        buckets = pool.chains.all().bucket_count();
        bucket = 0;
        keys.clear();
      }
      if (bucket >= buckets) break;
      const size_t end = std::min(buckets, bucket + kBucketsPerStep);
      for (size_t b = bucket; b < end; ++b) {
        for (auto at = pool.chains.all().begin(b); at != pool.chains.all().end(b); ++at) {
          keys.push_back(at->first);
        }
      }
    }
    pacer.rest();
  }
  return keys;
}

/// Adds the chains of `keys` from `next` on, until the lock was held long enough.
size_t add_chains(PoolState& pool, std::span<const ChainKey> keys, size_t next, Audit& audit,
                  IntegrityReport& report) {
  const MutexLock lock(pool.mutex);
  const Clock::time_point until = Clock::now() + kHold;
  while (next < keys.size() && Clock::now() < until) {
    const Chain* chain = pool.chains.find(keys[next++]);
    if (chain == nullptr) continue;
    audit.add_chain(*chain);
    ++report.chains;
    report.blocks += chain->blocks.size();
  }
  return next;
}

void check_books(PoolState& pool, std::span<const ChainKey> keys, Pacer& pacer,
                 IntegrityReport& report) {
  Audit scan(pool);
  const auto step = [&](const auto& work) {
    {
      const MutexLock lock(pool.mutex);
      work();
    }
    pacer.rest();
  };
  step([&] { scan.add_graves(); });
  for (size_t next = 0; next < keys.size() && !pacer.is_cancelled();) {
    next = add_chains(pool, keys, next, scan, report);
    pacer.rest();
  }
  if (pacer.is_cancelled()) return;
  step([&] { scan.judge_leases(); });
  for (const TierIndex which : pool.tiers.all()) {
    const SlotIndex count = pool.tiers[which].slots->count();
    for (SlotIndex begin = 0; begin < count; begin += kSlotsPerStep) {
      const SlotIndex end = std::min(count, begin + kSlotsPerStep);
      step([&] { scan.judge_slots(which, begin, end); });
    }
  }
  step([&] { scan.judge_free_counts(); });
  report.faults = scan.faults();
  if (report.faults.empty() && !scan.suspicions().empty())
    step([&] { report.faults = audit(pool); });
}

}  // namespace

IntegrityReport Pool::check_integrity(const CheckPace& pace) {
  PoolState& pool = *state_;
  IntegrityReport report;
  Pacer pacer(pace);
  const std::vector<ChainKey> keys = gather_keys(pool, pacer);
  check_books(pool, keys, pacer, report);
  if (!pool.tiers.has_heads()) return report;
  BlockStore& store = *pool.tiers[pool.tiers.headed()].store;
  std::vector<std::byte> bytes(pool.tiers.stored_bytes());
  for (const ChainKey& key : keys) {
    if (pacer.is_cancelled()) break;
    for (const Check& check : begin_checks(pool, key)) {
      if (pacer.is_cancelled()) {
        end_check(pool, check, false);
        continue;
      }
      BlockTransfer transfer{.block = check.block, .to = bytes};
      const Status status = read_now(store, transfer);
      const bool is_corrupt = status.code() == Code::kKvStoreCorrupt;
      ++report.checked_disk_blocks;
      report.unreadable_disk_blocks += !status.is_ok() && !is_corrupt;
      report.corrupt_disk_blocks += is_corrupt;
      end_check(pool, check, is_corrupt);
      pacer.rest();
    }
  }
  return report;
}

}  // namespace tessera::kv
