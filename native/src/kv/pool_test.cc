// The pool's promises, one by one, on a model that is its own oracle.
#include "kv/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "kv/audit.h"
#include "kv/pool_state.h"
#include "kv/test_model.h"

namespace tessera::kv {
namespace pool_test {

std::unique_ptr<Pool> open_pool(uint32_t device_blocks, uint32_t host_blocks = 0,
                                uint32_t store_queue_max = 1024) {
  PoolOptions options;
  options.block_bytes = kTestBlockBytes;
  options.device_blocks = device_blocks;
  options.host_blocks = host_blocks;
  options.store_queue_max = store_queue_max;
  options.read_threads = 0;
  Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(options));
  EXPECT_TRUE(pool.is_ok()) << pool.status().message();
  return std::move(pool).value();
}

Version add(Pool& pool, const std::string& model) {
  return pool.add_version(test_identity(model)).value();
}

TestRequest request_of(Version version, const std::string& user, std::vector<Token> tokens,
                       uint32_t prefix_tokens = 0) {
  return {.version = version,
          .salt = 1000 + version,
          .user = user,
          .tokens = std::move(tokens),
          .scene = {7, 8, 9},
          .prefix_tokens = prefix_tokens};
}

void expect_sound(Pool& pool) {
  const IntegrityReport report = pool.check_integrity();
  EXPECT_TRUE(report.faults.empty()) << report.faults.front();
}

uint64_t used(Pool& pool, const char* tier) { return pool.metrics().tier(tier).used_blocks; }

/// Runs the transfers that wait, on this thread.
void work(Pool& pool) {
  PoolWork work(pool);
  LoadJob load;
  StoreJob store;
  bool any = true;
  while (any) {
    any = false;
    while (work.begin_load(load)) {
      work.perform(load);
      work.finish(load);
      any = true;
    }
    while (work.begin_store(store)) {
      work.perform(store);
      work.finish(store);
      any = true;
    }
  }
}

TEST(Pool, AReturningUserComputesOnlyWhatIsNew) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  for (const uint32_t length : {31u, 32u, 33u, 63u, 64u, 65u, 100u}) {
    const std::string user = "user" + std::to_string(length);
    const auto tokens = random_tokens(length, length + 5);
    const std::vector<Token> before(tokens.begin(), tokens.end() - 5);
    const TestRequest first = request_of(version, user, before);
    EXPECT_EQ(serve(*pool, first).value, expected_answer(first));
    const TestRequest second = request_of(version, user, tokens);
    const TestAnswer answer = serve(*pool, second);
    EXPECT_EQ(answer.matched, length);
    EXPECT_EQ(answer.value, expected_answer(second));
    const TestAnswer third = serve(*pool, second);
    EXPECT_EQ(third.matched, length + 5);
    EXPECT_EQ(third.value, expected_answer(second));
    expect_sound(*pool);
  }
}

TEST(Pool, ADivergingHistoryKeepsTheLongestCommonPrefix) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 100);
  serve(*pool, request_of(version, "u", tokens));
  auto other = tokens;
  other[70] += 1;
  const TestRequest diverging = request_of(version, "u", other);
  const TestAnswer answer = serve(*pool, diverging);
  EXPECT_EQ(answer.matched, 70u);
  EXPECT_EQ(answer.value, expected_answer(diverging));
  EXPECT_EQ(answer.committed, Committed::kKept);
  EXPECT_EQ(serve(*pool, diverging).matched, 100u);
  expect_sound(*pool);
}

TEST(Pool, AShorterPromptFindsItsTokensAndShrinksNothing) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 100);
  serve(*pool, request_of(version, "u", tokens));
  const TestRequest shorter =
      request_of(version, "u", std::vector<Token>(tokens.begin(), tokens.begin() + 45));
  const TestAnswer answer = serve(*pool, shorter);
  EXPECT_EQ(answer.matched, 45u);
  EXPECT_EQ(answer.value, expected_answer(shorter));
  EXPECT_EQ(answer.committed, Committed::kNothingNew);
  EXPECT_EQ(pool->inspect("u").at(0).tokens, 100u);
  expect_sound(*pool);
}

TEST(Pool, FindsNoMoreTokensThanItMay) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 100);
  serve(*pool, request_of(version, "u", tokens, 64));
  EXPECT_EQ(pool->first_token(version, "u"), tokens[64]);
  EXPECT_EQ(pool->first_token(version, "v"), std::nullopt);
  Query query{.version = version, .user = "u", .tokens = tokens, .prefix_tokens = 64};
  const auto matched = [&](uint32_t most) {
    query.match_max = most;
    Lease lease = pool->lookup(query).value();
    EXPECT_TRUE(pool->extend(lease, 100).is_ok());
    return lease.matched();
  };
  EXPECT_EQ(matched(UINT32_MAX), 100u);
  EXPECT_EQ(matched(99), 99u);
  EXPECT_EQ(matched(64), 64u);
  EXPECT_EQ(matched(63), 0u);
  EXPECT_EQ(matched(0), 0u);
  expect_sound(*pool);
}

TEST(Pool, UsersAndVersionsNeverSeeEachOther) {
  auto pool = open_pool(64);
  const Version a = add(*pool, "a");
  const Version b = add(*pool, "b");
  const auto tokens = random_tokens(1, 64);
  serve(*pool, request_of(a, "u", tokens));
  EXPECT_EQ(serve(*pool, request_of(a, "v", tokens)).matched, 0u);
  const TestRequest other = request_of(b, "u", tokens);
  const TestAnswer answer = serve(*pool, other);
  EXPECT_EQ(answer.matched, 0u);
  EXPECT_EQ(answer.value, expected_answer(other));
}

TEST(Pool, AStaticPrefixIsComputedOnceForAllUsers) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto prefix = random_tokens(9, 70);  // two whole blocks and six tokens
  auto mine = prefix;
  const auto tail = random_tokens(10, 50);
  mine.insert(mine.end(), tail.begin(), tail.end());
  auto yours = prefix;
  yours.insert(yours.end(), tail.rbegin(), tail.rend());
  serve(*pool, request_of(version, "me", mine, 70));
  const TestRequest second = request_of(version, "you", yours, 70);
  const TestAnswer answer = serve(*pool, second);
  EXPECT_EQ(answer.matched, 64u);
  EXPECT_EQ(answer.value, expected_answer(second));
  EXPECT_EQ(serve(*pool, second).matched, yours.size());
  // 2 shared blocks and 2 private ones of each user: the second user's shared ones are not kept.
  EXPECT_EQ(used(*pool, "device"), 6u);
  expect_sound(*pool);
}

TEST(Pool, ARequestOfNobodyKeepsTheStaticPrefixAlone) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 100);
  serve(*pool, request_of(version, "", tokens, 70));
  EXPECT_EQ(serve(*pool, request_of(version, "", tokens, 70)).matched, 64u);
  EXPECT_EQ(serve(*pool, request_of(version, "u", tokens, 70)).matched, 64u);
  EXPECT_EQ(pool->metrics().chains, 2u);
  expect_sound(*pool);
}

TEST(Pool, WhoGoesOnBesideALeaderHoldsItsBlocksAndCommitsBehindIt) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 100);
  const Query query{.version = version, .user = "u", .tokens = tokens};
  Lease leader = pool->lookup(query).value();
  ASSERT_TRUE(pool->extend(leader, 110).is_ok());
  Lease follower = pool->lookup(query).value();
  ASSERT_TRUE(pool->extend_beside(follower, leader, 2, 110).is_ok());
  EXPECT_EQ(follower.blocks()[1].address, leader.blocks()[1].address);
  EXPECT_NE(follower.blocks()[2].address, leader.blocks()[2].address);
  EXPECT_EQ(used(*pool, "device"), 6u);
  const uint64_t value = forward(1, tokens, 0, leader.blocks());
  EXPECT_EQ(forward(1, tokens, 64, follower.blocks()), value);
  // The leader gives up; what the follower stands on belongs to nobody who could commit it.
  leader.reset();
  expect_sound(*pool);
  EXPECT_EQ(forward(1, tokens, 99, follower.blocks()), value);
  EXPECT_EQ(pool->commit(follower, 100), Committed::kLost);
  follower.reset();
  EXPECT_EQ(used(*pool, "device"), 0u);
  expect_sound(*pool);
}

TEST(Pool, ACommittedBlockIsNeverWrittenAgain) {
  for (const uint32_t length : {31u, 32u, 33u, 40u, 63u, 64u, 65u}) {
    SCOPED_TRACE(length);
    auto pool = open_pool(64);
    const Version version = add(*pool, "a");
    const auto tokens = random_tokens(1, 80);
    const std::vector<Token> first(tokens.begin(), tokens.begin() + length);
    serve(*pool, request_of(version, "u", first));
    Lease reader = pool->lookup({.version = version, .user = "u", .tokens = first}).value();
    ASSERT_EQ(reader.matched(), length);
    std::vector<std::byte> before;
    for (const BlockRef& block : reader.blocks()) {
      before.insert(before.end(), block.address, block.address + kTestBlockBytes);
    }
    serve(*pool, request_of(version, "u", tokens));
    for (uint64_t i = 0; i < reader.blocks().size(); ++i) {
      const std::byte* const was = before.data() + i * kTestBlockBytes;
      EXPECT_EQ(std::memcmp(was, reader.blocks()[i].address, kTestBlockBytes), 0);
    }
    expect_sound(*pool);
    reader.reset();
    expect_sound(*pool);
    EXPECT_EQ(used(*pool, "device"), 3u);
  }
}

TEST(Pool, OfTwoAppendsOnOneHeadExactlyOneWins) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 60);
  serve(*pool, request_of(version, "u", std::vector<Token>(tokens.begin(), tokens.begin() + 40)));
  std::vector<Lease> leases;
  for (int i = 0; i < 2; ++i) {
    auto mine = tokens;
    mine.back() += i;
    leases.push_back(pool->lookup({.version = version, .user = "u", .tokens = mine}).value());
    ASSERT_TRUE(pool->extend(leases.back(), 60).is_ok());
    forward(1000 + version, mine, 40, leases.back().blocks());
  }
  EXPECT_EQ(pool->commit(leases[0], 60), Committed::kKept);
  EXPECT_EQ(pool->commit(leases[1], 60), Committed::kLost);
  leases.clear();
  const TestRequest first = request_of(version, "u", tokens);
  const TestAnswer answer = serve(*pool, first);
  EXPECT_EQ(answer.matched, 60u);
  EXPECT_EQ(answer.value, expected_answer(first));
  expect_sound(*pool);
}

/// The tokens kept of a user after an append, by the simplest rule: of several appends to one head,
/// the first replaces the tokens it differs in, later ones may only extend.
std::vector<Token> kept_after(const std::vector<Token>& kept, const std::vector<Token>& append,
                              bool is_first) {
  const uint64_t same = common_prefix(kept, append);
  if (same == append.size()) return kept;
  return is_first || same == kept.size() ? append : kept;
}

TEST(Pool, OfAppendsAtOnceNoneThatGoesOnIsLost) {
  constexpr uint64_t kSeeds = 300;
  uint64_t rematched = 0;
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    auto pool = open_pool(64);
    const Version version = add(*pool, "a");
    const auto history = random_tokens(seed, 140);
    const auto had = static_cast<ptrdiff_t>(random() % 70);  // 0: the user is new
    std::vector<Token> kept(history.begin(), history.begin() + had);
    serve(*pool, request_of(version, "u", kept));
    std::vector<std::vector<Token>> appends(2 + random() % 3);
    std::vector<Lease> leases;
    for (std::vector<Token>& mine : appends) {
      mine.assign(history.begin(), history.begin() + 1 + static_cast<int64_t>(random() % 139));
      if (random() % 4 == 0) mine[random() % mine.size()] += 1;
      leases.push_back(pool->lookup({.version = version, .user = "u", .tokens = mine}).value());
      Lease& lease = leases.back();
      const auto size = static_cast<uint32_t>(mine.size());
      ASSERT_TRUE(pool->extend(lease, size).is_ok());
      forward(1000 + version, mine, lease.matched(), lease.blocks());
    }
    bool is_first = true;
    for (uint64_t i = 0; i < appends.size(); ++i) {
      pool->commit(leases[i], static_cast<uint32_t>(appends[i].size()));
      const auto after = kept_after(kept, appends[i], is_first);
      is_first = is_first && after == kept;
      kept = after;
      expect_sound(*pool);
    }
    leases.clear();
    const TestRequest again = request_of(version, "u", kept);
    const TestAnswer answer = serve(*pool, again);
    EXPECT_EQ(answer.matched, kept.size());
    EXPECT_EQ(answer.value, expected_answer(again));
    EXPECT_EQ(pool->inspect("u").at(0).tokens, kept.size());
    rematched += pool->metrics().commits_rematched;
  }
  EXPECT_GT(rematched, 0u);
}

TEST(Pool, WhatStandsOnAnotherStaticTextIsNotFound) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto history = random_tokens(1, 50);
  const auto behind = [&](uint64_t text) {
    auto tokens = random_tokens(text, 64);
    tokens.insert(tokens.end(), history.begin(), history.end());
    return tokens;
  };
  serve(*pool, request_of(version, "u", behind(8), 64));
  serve(*pool, request_of(version, "", behind(9), 64));  // the other text is there, for all users
  const TestRequest other = request_of(version, "u", behind(9), 64);
  const TestAnswer answer = serve(*pool, other);
  EXPECT_EQ(answer.matched, 64u);
  EXPECT_EQ(answer.value, expected_answer(other));
  expect_sound(*pool);
}

TEST(Pool, HoldsAUserWhileAnythingOfHisIsKept) {
  auto pool = open_pool(4);
  const Version a = add(*pool, "a");
  const Version b = add(*pool, "b");
  EXPECT_FALSE(pool->holds("u"));
  serve(*pool, request_of(a, "u", random_tokens(1, 20)));
  serve(*pool, request_of(b, "u", random_tokens(1, 20)));
  EXPECT_TRUE(pool->holds("u"));
  EXPECT_FALSE(pool->holds("v"));
  pool->retire(a);
  EXPECT_TRUE(pool->holds("u"));
  pool->retire(b);
  EXPECT_FALSE(pool->holds("u"));
  EXPECT_EQ(add(*pool, "b"), b);
  EXPECT_TRUE(pool->holds("u"));
  serve(*pool, request_of(a, "v", random_tokens(2, 120)));  // takes the place of that user
  EXPECT_FALSE(pool->holds("u"));
}

TEST(Pool, BlocksOfALeaseThatCameToNothingAreZeroedBeforeTheirNextUse) {
  auto pool = open_pool(2);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 40);
  for (int round = 0; round < 2; ++round) {
    Lease lease = pool->lookup({.version = version, .user = "u", .tokens = tokens}).value();
    ASSERT_TRUE(pool->extend(lease, 40).is_ok());
    for (const BlockRef& block : lease.blocks()) {
      const std::vector<std::byte> zeros(kTestBlockBytes);
      EXPECT_EQ(std::memcmp(block.address, zeros.data(), kTestBlockBytes), 0);
      std::memset(block.address, 0xff, kTestBlockBytes);
    }
  }
  expect_sound(*pool);
}

TEST(Pool, OnlyBlocksThatMayHaveBeenWrittenAreZeroedAfterALeaseThatCameToNothing) {
  auto pool = open_pool(3);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(1, 90);
  const Query query = {.version = version, .user = "u", .tokens = tokens};
  {
    Lease lease = pool->lookup(query).value();
    ASSERT_TRUE(pool->extend(lease, 90).is_ok());
    for (const uint32_t end : {20, 33, 1}) lease.note_written(end);
    for (const BlockRef& block : lease.blocks()) {
      std::memset(block.address, 0xff, kTestBlockBytes);
    }
  }
  Lease lease = pool->lookup(query).value();
  ASSERT_TRUE(pool->extend(lease, 90).is_ok());
  uint32_t zeroed = 0;
  for (const BlockRef& block : lease.blocks()) zeroed += *block.address == std::byte{0};
  EXPECT_EQ(zeroed, 2u);  // positions 0 to 31, and 32 to 63
  expect_sound(*pool);
}

TEST(Eviction, TakesTailsOfTheLeastRecentlyUsedAndKeepsPrefixes) {
  auto pool = open_pool(8);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 2; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
  }
  serve(*pool, request_of(version, "u2", random_tokens(2, 90)));
  EXPECT_EQ(pool->inspect("u0").at(0).tier_tokens[0], 64u);
  EXPECT_EQ(pool->inspect("u1").at(0).tier_tokens[0], 90u);
  const TestRequest again = request_of(version, "u0", random_tokens(0, 90));
  const TestAnswer answer = serve(*pool, again);
  EXPECT_EQ(answer.matched, 64u);
  EXPECT_EQ(answer.value, expected_answer(again));
  expect_sound(*pool);
}

TEST(Eviction, APinnedBlockStaysAndARefusalLeavesTheLeaseAsItWas) {
  auto pool = open_pool(4);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(0, 90);
  serve(*pool, request_of(version, "u", tokens));
  Lease lease = pool->lookup({.version = version, .user = "u", .tokens = tokens}).value();
  Lease other = pool->lookup({.version = version, .user = "v", .tokens = tokens}).value();
  EXPECT_EQ(pool->extend(other, 64).code(), Code::kEngineOverloaded);
  EXPECT_TRUE(other.blocks().empty());
  EXPECT_EQ(pool->extend(other, 161).code(), Code::kRequestInvalid);
  EXPECT_TRUE(pool->extend(other, 32).is_ok());
}

TEST(Eviction, LookingWithoutReadingKeepsNobodyInThePool) {
  auto pool = open_pool(8);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 2; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
  }
  for (int i = 0; i < 100; ++i) {
    (void)pool->whereabouts(version, "u0");
    (void)pool->inspect("u0");
    EXPECT_FALSE(pool->prefetch(version, "u0", 90));
  }
  serve(*pool, request_of(version, "u2", random_tokens(2, 90)));
  EXPECT_EQ(pool->inspect("u0").at(0).tier_tokens[0], 64u);
  EXPECT_EQ(pool->inspect("u1").at(0).tier_tokens[0], 90u);
}

TEST(Eviction, TakesWhatALowerTierHasBeforeWhatIsNowhereElse) {
  auto pool = open_pool(8, 32, 1);
  const Version version = add(*pool, "a");
  const TestRequest saved = request_of(version, "saved", random_tokens(0, 90));
  serve(*pool, saved);  // takes the one place in the queue of stores
  serve(*pool, request_of(version, "unsaved", random_tokens(1, 90)));
  work(*pool);
  serve(*pool, saved);  // now the unsaved one is the colder
  serve(*pool, request_of(version, "new", random_tokens(2, 90)));
  EXPECT_EQ(pool->inspect("saved").at(0).tier_tokens[0], 64u);
  EXPECT_EQ(pool->inspect("unsaved").at(0).tier_tokens[0], 90u);
  EXPECT_EQ(pool->metrics().tier("device").evicted_dirty_blocks, 0u);
  expect_sound(*pool);
}

TEST(Eviction, AStaticPrefixGoesLast) {
  auto pool = open_pool(10);
  const Version version = add(*pool, "a");
  const auto prefix = random_tokens(9, 64);
  const auto asked_of = [&](int user) {
    auto tokens = prefix;
    const auto own = random_tokens(user, 90);
    tokens.insert(tokens.end(), own.begin(), own.end());
    return request_of(version, "u" + std::to_string(user), tokens, 64);
  };
  serve(*pool, asked_of(0));
  // Users without the prefix make it the coldest chain of all.
  for (int i = 1; i < 5; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
  }
  const TestAnswer answer = serve(*pool, asked_of(7));
  EXPECT_EQ(answer.matched, 64u);
  EXPECT_EQ(answer.value, expected_answer(asked_of(7)));
  expect_sound(*pool);
}

TEST(Eviction, TakesNoMoreThanIsMissing) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 8; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 240)));
  }
  EXPECT_EQ(used(*pool, "device"), 64u);
  const auto evicted = [&] { return pool->metrics().tiers[0].evicted_blocks; };
  const uint64_t before = evicted();
  Lease lease = pool->lookup({.version = version, .user = "v", .tokens = {}}).value();
  ASSERT_TRUE(pool->extend(lease, 3 * kBlockTokens).is_ok());
  EXPECT_EQ(evicted() - before, 3u);
}

TEST(Versions, ARetiredVersionIsNotFoundAndItsBlocksAreFreedWhenLeasesEnd) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(0, 90);
  serve(*pool, request_of(version, "u", tokens));
  Lease held = pool->lookup({.version = version, .user = "u", .tokens = tokens}).value();
  auto longer = tokens;
  longer.push_back(1);
  Lease writer = pool->lookup({.version = version, .user = "u", .tokens = longer}).value();
  ASSERT_TRUE(pool->extend(writer, 91).is_ok());
  pool->retire(version);
  EXPECT_EQ(pool->lookup({.version = version, .user = "u", .tokens = tokens}).value().matched(),
            0u);
  EXPECT_EQ(pool->commit(writer, 91), Committed::kLost);
  work(*pool);
  EXPECT_EQ(oracle(1000 + version, tokens), forward(1000 + version, tokens, 89, held.blocks()));
  expect_sound(*pool);
  held.reset();
  writer.reset();
  EXPECT_EQ(used(*pool, "device"), 0u);
  EXPECT_EQ(pool->metrics().chains, 0u);
}

TEST(Users, ADroppedUserDoesNotComeBackThroughAnAppendUnderWay) {
  auto pool = open_pool(64);
  const Version version = add(*pool, "a");
  const auto tokens = random_tokens(0, 90);
  Lease lease = pool->lookup({.version = version, .user = "u", .tokens = tokens}).value();
  ASSERT_TRUE(pool->extend(lease, 90).is_ok());
  EXPECT_TRUE(pool->drop_user("u", 0).is_ok());
  EXPECT_TRUE(lease.is_revoked());
  EXPECT_EQ(pool->commit(lease, 90), Committed::kLost);
  EXPECT_TRUE(pool->inspect("u").empty());
  lease.reset();
  EXPECT_EQ(used(*pool, "device"), 0u);
}

TEST(Host, WhatTheDeviceEvictsComesBackFromTheHost) {
  auto pool = open_pool(8, 32);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
    work(*pool);
  }
  const TestRequest again = request_of(version, "u0", random_tokens(0, 90));
  {
    const Lease lease =
        pool->lookup({.version = version, .user = "u0", .tokens = again.tokens}).value();
    EXPECT_EQ(lease.matched() + lease.loadable(), 90u);
    EXPECT_LT(lease.matched(), 90u);
  }
  Prefetch prefetch = pool->prefetch(version, "u0", 1000);
  EXPECT_FALSE(prefetch.is_done());
  work(*pool);
  EXPECT_TRUE(prefetch.is_done());
  prefetch.cut_off();
  const TestAnswer answer = serve(*pool, again);
  EXPECT_EQ(answer.matched, 90u);
  EXPECT_GT(answer.matched_by_tier[kHost], 0u);
  EXPECT_EQ(answer.value, expected_answer(again));
  expect_sound(*pool);
}

TEST(Host, ACutOffPrefetchLeavesWhatHasLandedContiguously) {
  auto pool = open_pool(8, 32);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 128)));
    work(*pool);
  }
  Prefetch prefetch = pool->prefetch(version, "u0", 1000);
  PoolWork steps(*pool);
  LoadJob first, second;
  ASSERT_TRUE(steps.begin_load(first));
  ASSERT_TRUE(steps.begin_load(second));
  prefetch.cut_off();
  steps.perform(second);
  steps.finish(second);
  EXPECT_EQ(pool->inspect("u0").at(0).tier_tokens[0], first.index * kBlockTokens);
  steps.perform(first);
  steps.finish(first);
  EXPECT_EQ(pool->inspect("u0").at(0).tier_tokens[0], (second.index + 1) * kBlockTokens);
  LoadJob none;
  EXPECT_FALSE(steps.begin_load(none));
  expect_sound(*pool);
}

TEST(Host, ALoadThatEndsAfterItsBlockWasCutIsGivenUp) {
  auto pool = open_pool(8, 32);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
    work(*pool);
  }
  Prefetch prefetch = pool->prefetch(version, "u0", 1000);
  PoolWork steps(*pool);
  std::vector<LoadJob> loads(3);
  uint32_t count = 0;
  while (count < 3 && steps.begin_load(loads[count])) steps.perform(loads[count++]);
  ASSERT_GT(count, 1u);
  auto tokens = random_tokens(0, 90);
  tokens[40] += 1;  // the second block is another one from here on
  tokens.resize(60);
  const TestRequest again = request_of(version, "u0", tokens);
  EXPECT_EQ(serve(*pool, again).committed, Committed::kKept);
  for (uint32_t i = 0; i < count; ++i) steps.finish(loads[i]);
  prefetch.cut_off();
  EXPECT_EQ(pool->inspect("u0").at(0).tier_tokens[0], 60u);
  expect_sound(*pool);
  EXPECT_EQ(serve(*pool, again).value, expected_answer(again));
}

TEST(Host, WhatIsBeingReadIsNotGivenToAnother) {
  auto pool = open_pool(8, 3);
  const Version version = add(*pool, "a");
  const TestRequest mine = request_of(version, "mine", random_tokens(0, 90));
  serve(*pool, mine);
  work(*pool);  // fills the host
  for (int i = 1; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
  }
  ASSERT_EQ(pool->inspect("mine").at(0).tier_tokens[0], 0u);
  Prefetch prefetch = pool->prefetch(version, "mine", 1000);
  PoolWork steps(*pool);
  std::vector<LoadJob> loads(3);
  for (LoadJob& load : loads) ASSERT_TRUE(steps.begin_load(load));
  StoreJob store;  // others want the host's slots, all of which are being read
  if (steps.begin_store(store)) {
    steps.perform(store);
    steps.finish(store);
  }
  for (LoadJob& load : loads) {
    steps.perform(load);
    steps.finish(load);
  }
  prefetch.cut_off();
  const TestAnswer answer = serve(*pool, mine);
  EXPECT_EQ(answer.matched, 90u);
  EXPECT_EQ(answer.value, expected_answer(mine));
  expect_sound(*pool);
}

TEST(Host, ACopyThatEndsAfterAnAppendIsNotTakenForTheLongerBlock) {
  auto pool = open_pool(8, 32);
  const Version version = add(*pool, "a");
  serve(*pool, request_of(version, "mine", random_tokens(0, 60)));
  PoolWork steps(*pool);
  StoreJob store;
  ASSERT_TRUE(steps.begin_store(store));
  steps.perform(store);
  const TestRequest longer = request_of(version, "mine", random_tokens(0, 70));
  serve(*pool, longer);
  steps.finish(store);
  for (int i = 1; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
  }
  ASSERT_EQ(pool->inspect("mine").at(0).tier_tokens[0], 0u);
  Prefetch prefetch = pool->prefetch(version, "mine", 1000);
  LoadJob load;
  while (steps.begin_load(load)) {
    steps.perform(load);
    steps.finish(load);
  }
  prefetch.cut_off();
  const TestAnswer answer = serve(*pool, longer);
  EXPECT_EQ(answer.matched, 32u);
  EXPECT_EQ(answer.value, expected_answer(longer));
  expect_sound(*pool);
}

TEST(Host, AnEndedPrefetchHoldsNothing) {
  auto pool = open_pool(8, 32);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 4; ++i) {
    serve(*pool, request_of(version, "u" + std::to_string(i), random_tokens(i, 90)));
    work(*pool);
  }
  Prefetch prefetch = pool->prefetch(version, "u0", 1000);
  ASSERT_TRUE(prefetch);
  EXPECT_FALSE(prefetch.wait(1000));  // nobody works: the budget ends it
  prefetch.cut_off();
  work(*pool);
  EXPECT_TRUE(pool->drop_user("u0", 0).is_ok());
  EXPECT_EQ(pool->metrics().graves, 0u);
  expect_sound(*pool);
}

TEST(Host, AChainThatFoundTheQueueFullIsStoredWithItsNextAppend) {
  auto pool = open_pool(32, 32, 1);
  const Version version = add(*pool, "a");
  for (int i = 0; i < 2; ++i) {
    const TestRequest asked = request_of(version, "u" + std::to_string(i), random_tokens(i, 90));
    EXPECT_EQ(serve(*pool, asked).value, expected_answer(asked));  // forwards do not wait
  }
  EXPECT_EQ(pool->metrics().stores_dropped, 1u);
  work(*pool);
  EXPECT_EQ(pool->inspect("u1").at(0).tier_tokens[kHost], 0u);
  serve(*pool, request_of(version, "u1", random_tokens(1, 91)));
  work(*pool);
  EXPECT_EQ(pool->inspect("u1").at(0).tier_tokens[kHost], 91u);
}

TEST(Limits, EachHasAName) {
  PoolOptions options;
  options.block_bytes = 100;
  EXPECT_EQ(Pool::open(std::move(options)).status().code(), Code::kKvPoolInvalid);
  PoolOptions huge;
  huge.block_bytes = uint64_t{1} << 30;
  huge.device_blocks = 1 << 20;
  EXPECT_EQ(Pool::open(std::move(huge)).status().code(), Code::kKvPoolInvalid);
  PoolOptions nowhere;
  nowhere.block_bytes = 64;
  nowhere.disk_blocks = 1;
  EXPECT_EQ(Pool::open(std::move(nowhere)).status().code(), Code::kKvPoolInvalid);
  auto pool = open_pool(4);
  const Version version = add(*pool, "a");
  const std::string long_user(kOwnerBytesMax + 1, 'u');
  EXPECT_EQ(pool->lookup({.version = version, .user = long_user}).status().code(),
            Code::kRequestInvalid);
  const std::vector<Token> token{1};
  EXPECT_EQ(pool->lookup({.version = 9, .user = "u", .tokens = token}).status().code(),
            Code::kRequestInvalid);
  EXPECT_EQ(pool->add_version(test_identity("a", 64)).status().code(), Code::kKvPoolInvalid);
}

TEST(Limits, TiersOfSizeZeroAreLegal) {
  auto pool = open_pool(0);
  const Version version = add(*pool, "a");
  const TestRequest request = request_of(version, "u", random_tokens(0, 90));
  EXPECT_EQ(serve(*pool, request).status.code(), Code::kRequestInvalid);
  EXPECT_FALSE(pool->prefetch(version, "u", 10));
  expect_sound(*pool);
}

}  // namespace pool_test
}  // namespace tessera::kv
