// Tests which blocks of earlier versions a version may find. Each number names the version that
// made it; the oracle uses the history of calls alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "kv/pool.h"
#include "kv/sim_disk.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {
namespace succession_test {

struct Found {
  uint32_t matched = 0;
  uint32_t back = 0;
  uint32_t inherited = 0;
  Committed committed = Committed::kNothingNew;
  bool operator==(const Found& other) const {
    return matched == other.matched && back == other.back && inherited == other.inherited;
  }
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.matched << " tokens, " << found.inherited << " inherited, " << found.back
             << " versions back";
}

Found nothing() { return {}; }
Found own(uint32_t tokens) { return {.matched = tokens}; }
Found inherited(uint32_t tokens, uint32_t back, uint32_t prefix = 0) {
  return {.matched = prefix + tokens, .back = back, .inherited = tokens};
}

struct Asked {
  uint32_t version = 0;
  std::string user;
  std::vector<Token> tokens;
  uint32_t prefix_tokens = 0;
  bool wants_exact = false;
};

/// A pool in which version i follows version i - 1.
class Line {
 public:
  Line(uint32_t versions, uint32_t versions_back_max, SimDisk* disk = nullptr)
      : count_(versions), versions_back_max_(versions_back_max), disk_(disk) {
    open();
  }

  void open() {
    pool_.reset();
    PoolOptions options;
    options.block_bytes = kTestBlockBytes;
    options.device_blocks = 256;
    options.read_threads = 0;
    options.store_retry_us = 0;
    options.versions_back_max = versions_back_max_;
    if (disk_ != nullptr) options.store = disk_->open();
    pool_ = Pool::open(std::move(options)).value();
    versions_.clear();
    for (uint32_t i = 0; i < count_; ++i) {
      versions_.push_back(pool_->add_version(identity(i)).value());
      if (i > 0) pool_->succeed(versions_[i], identity(i - 1));
    }
  }

  static Identity identity(uint32_t version) {
    return test_identity("m" + std::to_string(version));
  }
  Pool& pool() { return *pool_; }
  Version number(uint32_t version) const { return versions_[version]; }

  Query query(const Asked& asked) const {
    return {.version = versions_[asked.version],
            .user = asked.user,
            .tokens = asked.tokens,
            .prefix_tokens = asked.prefix_tokens,
            .wants_exact = asked.wants_exact};
  }

  Lease look(const Asked& asked) { return pool_->lookup(query(asked)).value(); }

  /// Computes and keeps what is asked, as its version would, and checks every number.
  Found finish(Lease& lease, const Asked& asked) {
    Found found{
        .matched = lease.matched(), .back = lease.versions_back(), .inherited = lease.inherited()};
    const auto size = static_cast<uint32_t>(asked.tokens.size());
    EXPECT_TRUE(pool_->extend(lease, size).is_ok());
    forward_marked(static_cast<uint8_t>(asked.version), asked.tokens, found.matched,
                   lease.blocks());
    check(lease, asked, found.back);
    found.committed = pool_->commit(lease, size);
    expect_sound();
    return found;
  }

  Found serve(const Asked& asked) {
    Lease lease = look(asked);
    return finish(lease, asked);
  }

  /// Checks that each number is of this text, and of a version that may have computed it.
  static void check(const Lease& lease, const Asked& asked, uint32_t back) {
    uint64_t text = 0;
    for (uint32_t i = 0; i < asked.tokens.size(); ++i) {
      text = marked_number(text, asked.tokens[i], 0);
      const uint64_t held = number_at(lease.blocks(), i);
      ASSERT_EQ(text_of(held), text_of(text)) << "position " << i;
      ASSERT_LE(maker_of(held), asked.version) << "position " << i;
      ASSERT_GE(oldest_of(held) + back, asked.version) << "position " << i;
    }
  }

  void work() {
    PoolWork work(*pool_);
    LoadJob load;
    StoreJob store;
    for (bool any = true; any;) {
      any = work.begin_load(load);
      if (any) {
        work.perform(load);
        work.finish(load);
      }
      if (!work.begin_store(store)) continue;
      work.perform(store);
      work.finish(store);
      any = true;
    }
  }

  void bring_up(uint32_t version, const std::string& user) {
    Prefetch prefetch = pool_->prefetch(versions_[version], user, 1000);
    work();
  }

  void expect_sound() {
    const IntegrityReport report = pool_->check_integrity();
    EXPECT_TRUE(report.faults.empty()) << report.faults.front();
    EXPECT_EQ(report.corrupt_disk_blocks, 0u);
  }

  uint64_t used() { return pool_->metrics().tier("device").used_blocks; }

 private:
  const uint32_t count_, versions_back_max_;
  SimDisk* disk_;
  std::unique_ptr<Pool> pool_;
  std::vector<Version> versions_;
};

std::vector<Token> cut(std::vector<Token> tokens, uint64_t length) {
  tokens.resize(length);
  return tokens;
}

const std::vector<Token> kHistory = random_tokens(1, 200);

TEST(Succession, AUserIsFoundWithWhatTheVersionBeforeHasOfHimWithoutACopy) {
  Line line(2, 1);
  const Asked first{.version = 0, .user = "u", .tokens = cut(kHistory, 100)};
  Lease before = line.look(first);
  line.finish(before, first);
  const Lease after = line.look({.version = 1, .user = "u", .tokens = kHistory});
  EXPECT_EQ(after.matched(), 100u);
  EXPECT_EQ(after.inherited(), 100u);
  EXPECT_EQ(after.versions_back(), 1u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(after.blocks()[i].address, before.blocks()[i].address);
  EXPECT_EQ(line.used(), 4u);
  const PoolMetrics metrics = line.pool().metrics();
  EXPECT_EQ(metrics.inherited_tokens, 100u);
  EXPECT_EQ(metrics.inherited_chains, 1u);
  EXPECT_EQ(metrics.chains, 1u);
  line.expect_sound();
}

TEST(Succession, NothingIsInheritedUnlessItIsAllowed) {
  Line line(2, 0);
  line.serve({.version = 0, .user = "u", .tokens = kHistory});
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), nothing());
  EXPECT_EQ(line.serve({.version = 0, .user = "u", .tokens = kHistory}), own(200));
}

TEST(Succession, TheOldestThatHadAPartCountsAndBeyondTheBoundAllIsComputedAnew) {
  Line line(5, 2);
  const auto ask = [&](uint32_t version, uint32_t length) {
    return line.serve({.version = version, .user = "u", .tokens = cut(kHistory, length)});
  };
  EXPECT_EQ(ask(0, 50), nothing());
  EXPECT_EQ(ask(1, 90), inherited(50, 1));
  EXPECT_EQ(ask(2, 130), inherited(90, 2));
  EXPECT_EQ(ask(3, 170), nothing());
  EXPECT_EQ(ask(3, 170), own(170));
  EXPECT_EQ(ask(4, 200), inherited(170, 1));
  // One who has not come for two versions.
  const auto other = [&](uint32_t version) {
    return line.serve({.version = version, .user = "v", .tokens = kHistory});
  };
  EXPECT_EQ(other(1), nothing());
  EXPECT_EQ(other(3), inherited(200, 2));
  EXPECT_EQ(other(4), nothing());
}

TEST(Succession, AfterARollbackTheOlderVersionFindsNothingThatTheNewerOneHadAPartIn) {
  Line line(2, 1);
  const Asked old{.version = 0, .user = "u", .tokens = cut(kHistory, 100)};
  line.serve(old);
  line.serve({.version = 1, .user = "u", .tokens = kHistory});
  line.pool().retire(line.number(1));
  EXPECT_EQ(line.serve(old), nothing());
  EXPECT_EQ(line.serve(old), own(100));
  line.work();
  EXPECT_EQ(line.used(), 4u);
}

TEST(Succession, WhoHasTheUserKeepsHisOwnUnlessABlockIsToBeGained) {
  Line line(2, 1);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 131)});
  line.serve({.version = 1, .user = "u", .tokens = cut(kHistory, 100), .wants_exact = true});
  EXPECT_EQ(line.look({.version = 1, .user = "u", .tokens = kHistory}).matched(), 100u);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 132)});
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), inherited(132, 1));
}

TEST(Succession, WhatIsAskedForExactlyIsComputedAndReplacesWhatWasInherited) {
  Line line(2, 1);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 100)});
  const Asked exact{.version = 1, .user = "u", .tokens = cut(kHistory, 90), .wants_exact = true};
  EXPECT_EQ(line.serve(exact), nothing());
  EXPECT_EQ(line.serve({.version = 0, .user = "u", .tokens = kHistory}), own(100));
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), inherited(200, 1));
  EXPECT_EQ(line.serve(exact), nothing());
  EXPECT_EQ(line.serve(exact), own(90));
}

TEST(Succession, WhatWasComputedOnInheritedTokensNeitherExtendsNorReplacesExactOnes) {
  Line line(2, 1);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 100)});
  const Asked longer{.version = 1, .user = "u", .tokens = kHistory};
  Lease heir = line.look(longer);
  line.serve({.version = 1, .user = "u", .tokens = cut(kHistory, 100), .wants_exact = true});
  EXPECT_EQ(line.finish(heir, longer).committed, Committed::kLost);
  EXPECT_EQ(line.serve(longer), own(100));
}

TEST(Succession, WhoGoesOnBesideAnHeirIsAsOldAsHe) {
  Line line(2, 1);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 100)});
  Lease heir = line.look({.version = 1, .user = "u", .tokens = kHistory});
  ASSERT_TRUE(line.pool().extend(heir, 200).is_ok());
  Lease beside = line.look({.version = 1, .user = "", .tokens = kHistory});
  ASSERT_TRUE(line.pool().extend_beside(beside, heir, 3, 200).is_ok());
  EXPECT_EQ(beside.versions_back(), 1u);
  EXPECT_EQ(beside.inherited(), 0u);
}

TEST(Succession, TheStaticTextIsEachVersionsOwn) {
  Line line(2, 1);
  const Asked old{.version = 0, .user = "u", .tokens = kHistory, .prefix_tokens = 70};
  const Asked next{.version = 1, .user = "u", .tokens = kHistory, .prefix_tokens = 70};
  line.serve(old);
  EXPECT_EQ(line.serve({.version = 1, .user = "v", .tokens = kHistory, .prefix_tokens = 70}),
            nothing());
  EXPECT_EQ(line.serve(next), inherited(136, 1, 64));
  EXPECT_EQ(line.serve(old), own(64));
}

TEST(Succession, WhoStillWorksUnderTheVersionBeforeEndsUndisturbed) {
  Line line(2, 1);
  const Asked old{.version = 0, .user = "u", .tokens = cut(kHistory, 100)};
  line.serve(old);
  const Asked longer{.version = 0, .user = "u", .tokens = kHistory};
  Lease late = line.look(longer);
  line.serve({.version = 1, .user = "u", .tokens = kHistory});
  EXPECT_EQ(line.finish(late, longer).committed, Committed::kLost);
  EXPECT_EQ(line.serve(old), nothing());
}

TEST(Succession, WhatMayBeInheritedOutlivesItsVersionAndGoesWithTheLastHeir) {
  Line line(4, 2);
  line.serve({.version = 0, .user = "u", .tokens = kHistory});
  line.serve({.version = 0, .user = "v", .tokens = kHistory});
  line.pool().retire(line.number(0));
  line.pool().retire(line.number(1));
  line.work();
  EXPECT_EQ(line.look({.version = 0, .user = "u", .tokens = kHistory}).matched(), 0u);
  EXPECT_TRUE(line.pool().holds("v"));
  EXPECT_EQ(line.serve({.version = 2, .user = "u", .tokens = kHistory}), inherited(200, 2));
  line.pool().retire(line.number(2));
  line.work();
  EXPECT_FALSE(line.pool().holds("v"));
  EXPECT_TRUE(line.pool().holds("u"));  // but the fourth version may have none of it
  EXPECT_EQ(line.serve({.version = 3, .user = "u", .tokens = kHistory}), nothing());
}

TEST(Succession, AVersionThatIsNotThereYetMayComeBeforeOneAndNoneBeforeItself) {
  Line line(2, 2);
  line.pool().succeed(line.number(0), Line::identity(9));
  const Version nine = line.pool().add_version(Line::identity(9)).value();
  line.pool().succeed(nine, Line::identity(1));  // 1, 0, 9, and 1 again: not so
  line.serve({.version = 1, .user = "u", .tokens = kHistory});
  const Lease lease =
      line.pool().lookup({.version = nine, .user = "u", .tokens = kHistory}).value();
  EXPECT_EQ(lease.matched(), 0u);
}

TEST(Succession, ADroppedUserIsForgottenUnderEveryVersion) {
  Line line(2, 1);
  line.serve({.version = 0, .user = "u", .tokens = kHistory});
  line.pool().retire(line.number(0));
  EXPECT_TRUE(line.pool().drop_user("u", 0).is_ok());
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), nothing());
}

TEST(Succession, BoundsOverTheLimitAreRefused) {
  PoolOptions options;
  options.block_bytes = kTestBlockBytes;
  options.versions_back_max = kVersionsBackMax + 1;
  EXPECT_EQ(Pool::open(std::move(options)).status().code(), Code::kKvPoolInvalid);
}

TEST(SuccessionOnDisk, APrefetchBringsUpWhatWillBeInherited) {
  SimDisk disk(64, kTestBlockBytes, 1);
  Line line(2, 1, &disk);
  line.serve({.version = 0, .user = "u", .tokens = kHistory});
  line.work();
  line.open();
  EXPECT_EQ(line.pool().whereabouts(line.number(1), "u")[kDisk], 200u);
  line.bring_up(1, "u");
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), inherited(200, 1));
}

TEST(SuccessionOnDisk, ARestartFindsAChainUnderTheVersionThatHasItAndHowOldItIs) {
  SimDisk disk(64, kTestBlockBytes, 1);
  Line line(3, 1, &disk);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 100)});
  line.work();
  line.serve({.version = 1, .user = "u", .tokens = kHistory});
  line.work();
  line.open();
  EXPECT_EQ(line.pool().metrics().heads_corrupt, 0u);
  EXPECT_EQ(line.pool().metrics().chains, 1u);
  line.bring_up(0, "u");
  EXPECT_EQ(line.look({.version = 0, .user = "u", .tokens = kHistory}).matched(), 0u);
  line.bring_up(2, "u");
  EXPECT_EQ(line.look({.version = 2, .user = "u", .tokens = kHistory}).matched(), 0u);
  line.bring_up(1, "u");
  EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), inherited(200, 1));
}

TEST(SuccessionOnDisk, AChainWhoseNewNameIsNotDurableIsFoundUnderItsOldOne) {
  SimDisk disk(64, kTestBlockBytes, 1);
  Line line(2, 1, &disk);
  line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 100)});
  line.work();
  line.serve({.version = 1, .user = "u", .tokens = kHistory});
  disk.crash();
  line.open();
  line.bring_up(0, "u");
  EXPECT_EQ(line.serve({.version = 0, .user = "u", .tokens = kHistory}), own(100));
}

TEST(SuccessionOnDisk, WritesThatFailForTheHeirCostTheOldVersionsNewChainNothing) {
  uint32_t kept = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimDisk disk(64, kTestBlockBytes, seed * 0x9E3779B97F4A7C15u);
    Line line(2, 1, &disk);
    const Asked old{.version = 0, .user = "u", .tokens = cut(kHistory, 20)};
    line.serve({.version = 0, .user = "u", .tokens = cut(kHistory, 64)});
    line.work();
    line.serve({.version = 1, .user = "u", .tokens = cut(kHistory, 96)});
    line.serve(old);
    disk.faults.write_error = 500;
    line.work();
    disk.faults = {};
    line.serve({.version = 1, .user = "u", .tokens = kHistory});
    line.work();
    uint32_t durable = 0;
    for (const ChainReport& report : line.pool().inspect("u")) {
      if (report.versions_back == 0) durable = report.durable_tokens;
    }
    line.open();
    line.bring_up(0, "u");
    EXPECT_EQ(line.look(old).matched(), durable);
    line.bring_up(1, "u");
    EXPECT_EQ(line.serve({.version = 1, .user = "u", .tokens = kHistory}), inherited(200, 1));
    EXPECT_EQ(disk.overwritten_heads, 0u);
    kept += durable > 0;
  }
  EXPECT_GT(kept, 0u);
}

/// The tokens that each version may find of each user, by the rules of docs/internals/kv-pool.md.
class Oracle {
 public:
  Oracle(uint32_t versions, uint32_t versions_back_max)
      : most_(versions_back_max), chains_(versions) {}

  Found serve(const Asked& asked) {
    Chain* chain = find(asked.version, asked.user);
    uint32_t best = chain == nullptr ? 0 : common(chain->tokens, asked.tokens);
    if (!asked.wants_exact) {
      uint32_t heritage = asked.version;
      const uint32_t reach = std::min(most_, asked.version);
      for (uint32_t distance = 1; distance <= reach; ++distance) {
        const Chain* other = find(asked.version - distance, asked.user);
        if (other == nullptr || other->back + distance > most_) continue;
        if (common(other->tokens, asked.tokens) < best + kBlockTokens) continue;
        best = common(other->tokens, asked.tokens);
        heritage = asked.version - distance;
      }
      if (heritage != asked.version) {
        Chain passed = chains_[heritage][asked.user];
        chains_[heritage].erase(asked.user);
        passed.back += asked.version - heritage;
        chains_[asked.version][asked.user] = passed;
      }
    }
    chain = find(asked.version, asked.user);
    const bool is_used = chain != nullptr && (chain->back == 0 || !asked.wants_exact);
    const uint32_t matched = is_used ? common(chain->tokens, asked.tokens) : 0;
    const uint32_t back = matched > 0 ? chain->back : 0;
    // A shorter prompt shrinks nothing; whoever took nothing begins anew where that is nearer.
    const bool begins = chain == nullptr || (matched < kBlockTokens && back < chain->back);
    Chain& kept = chains_[asked.version][asked.user];
    if (begins) kept = {asked.tokens, 0};
    if (common(kept.tokens, asked.tokens) < asked.tokens.size()) kept.tokens = asked.tokens;
    return {.matched = matched, .back = back, .inherited = back > 0 ? matched : 0};
  }

  void drop(const std::string& user) {
    for (auto& users : chains_) users.erase(user);
  }

 private:
  struct Chain {
    std::vector<Token> tokens;
    uint32_t back = 0;
  };

  static uint32_t common(const std::vector<Token>& a, const std::vector<Token>& b) {
    uint32_t count = 0;
    while (count < std::min(a.size(), b.size()) && a[count] == b[count]) ++count;
    return count;
  }
  Chain* find(uint32_t version, const std::string& user) {
    const auto found = chains_[version].find(user);
    return found == chains_[version].end() ? nullptr : &found->second;
  }

  const uint32_t most_;
  std::vector<std::map<std::string, Chain>> chains_;
};

TEST(Succession, WhatIsFoundUnderWhichVersionIsWhatTheCallsBeforeAllow) {
  constexpr uint32_t kVersions = 5;
  uint64_t heirs = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto most = static_cast<uint32_t>(random() % 4);
    Line line(kVersions, most);
    Oracle oracle(kVersions, most);
    std::map<std::string, std::vector<Token>> histories;
    for (uint32_t step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      const std::string user = "user" + std::to_string(random() % 3);
      if (random() % 25 == 0) {
        EXPECT_TRUE(line.pool().drop_user(user, 0).is_ok());
        oracle.drop(user);
        continue;
      }
      std::vector<Token>& history = histories[user];
      if (random() % 6 == 0 && !history.empty()) history[random() % history.size()] += 1;
      if (random() % 8 == 0) history.resize(history.size() / 2);
      if (random() % 2 == 0 || history.empty()) {
        for (uint64_t i = 1 + random() % 60; i > 0; --i) {
          history.push_back(static_cast<Token>(random() % 1000));
        }
      }
      if (history.size() > 300) history.resize(90);
      const Asked asked{.version = static_cast<uint32_t>(random() % kVersions),
                        .user = user,
                        .tokens = history,
                        .wants_exact = random() % 5 == 0};
      const Found found = line.serve(asked);
      EXPECT_EQ(found, oracle.serve(asked)) << "step " << step;
      heirs += found.inherited > 0;
    }
  }
  EXPECT_GT(heirs, 100u);
}

}  // namespace succession_test
}  // namespace tessera::kv
