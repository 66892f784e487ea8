// A request that began before its user was dropped keeps nothing, in the order of events.
#include "kv/erasures.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kv/pool.h"
#include "kv/test_model.h"

namespace tessera::kv {
namespace erasures_test {

std::unique_ptr<Pool> open_pool() {
  PoolOptions options;
  options.block_bytes = kTestBlockBytes;
  options.device_blocks = 64;
  options.read_threads = 0;
  Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(options));
  EXPECT_TRUE(pool.is_ok()) << pool.status().message();
  return std::move(pool).value();
}

TEST(Erasures, AreToldApartByUserAndNumber) {
  Erasures erasures;
  const uint64_t before = erasures.last();
  erasures.note("a");
  EXPECT_TRUE(erasures.is_erased_since("a", before));
  EXPECT_FALSE(erasures.is_erased_since("b", before));
  EXPECT_FALSE(erasures.is_erased_since("a", erasures.last()));
  EXPECT_FALSE(erasures.is_erased_since("a", UINT64_MAX));
}

TEST(Erasures, TakeEveryUserForErasedSinceATimeThatIsForgotten) {
  Erasures erasures;
  for (uint64_t i = 0; i <= Erasures::kRemembered; ++i) erasures.note(std::to_string(i));
  EXPECT_TRUE(erasures.is_erased_since("never", 0));
  EXPECT_FALSE(erasures.is_erased_since("never", 1));
  EXPECT_TRUE(erasures.is_erased_since("1", 1));
  EXPECT_FALSE(erasures.is_erased_since("0", 1));
}

TEST(Erasures, RefuseALookupThatBeganBefore) {
  auto pool = open_pool();
  const Version version = pool->add_version(test_identity("a")).value();
  const std::vector<Token> tokens(40, 7);
  const auto look = [&](const char* user, uint64_t seen) {
    return pool->lookup(
        {.version = version, .user = user, .tokens = tokens, .erasures_seen = seen});
  };
  const uint64_t before = pool->erasures();
  ASSERT_TRUE(pool->drop_user("u", 0).is_ok());
  EXPECT_EQ(look("u", before).status().code(), Code::kCancelled);
  EXPECT_TRUE(look("other", before).is_ok());
  EXPECT_TRUE(look("", before).is_ok());
  EXPECT_TRUE(look("u", pool->erasures()).is_ok());
  EXPECT_EQ(pool->metrics().leases, 0u);
}

/// Requests that begin, look up and commit while users are dropped, in a random order of steps.
TEST(Erasures, LeaveNothingOfWhatBeganBeforeWhateverTheOrder) {
  const uint32_t seed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  auto pool = open_pool();
  const Version version = pool->add_version(test_identity("a")).value();
  struct Run {
    uint32_t user;
    uint64_t seen;
    uint32_t began;
    bool has_looked;
    Lease lease;
  };
  std::vector<Run> runs;
  std::vector<uint32_t> erased_at(4, 0);  // by user, the step of the newest
  uint32_t kept = 0;
  for (uint32_t step = 1; step < 20'000; ++step) {
    const uint32_t user = below(4);
    const std::string name = std::to_string(user);
    if (below(5) == 0) {
      ASSERT_TRUE(pool->drop_user(name, 0).is_ok());
      erased_at[user] = step;
      ASSERT_TRUE(pool->inspect(name).empty());
    } else if (runs.size() < 6 && below(2) == 0) {
      runs.push_back({user, pool->erasures(), step, false, {}});
    } else if (!runs.empty()) {
      const uint32_t which = below(static_cast<uint32_t>(runs.size()));
      Run& run = runs[which];
      const std::string of = std::to_string(run.user);
      const bool is_stale = erased_at[run.user] > run.began;
      if (!run.has_looked) {
        // The tokens name the step at which the history was read.
        const std::vector<Token> tokens(33, static_cast<Token>(run.began));
        auto found = pool->lookup(
            {.version = version, .user = of, .tokens = tokens, .erasures_seen = run.seen});
        ASSERT_EQ(found.is_ok(), !is_stale);
        run.has_looked = true;
        if (found.is_ok()) {
          run.lease = std::move(found).value();
          ASSERT_TRUE(pool->extend(run.lease, 33).is_ok());
          continue;
        }
      } else {
        ASSERT_EQ(run.lease.is_revoked(), is_stale);
        const uint32_t committed = pool->commit(run.lease, 33) == Committed::kKept;
        ASSERT_TRUE(committed == 0 || !is_stale);
        kept += committed;
      }
      runs.erase(runs.begin() + which);
    }
  }
  EXPECT_GT(kept, 500u);
}

}  // namespace erasures_test
}  // namespace tessera::kv
