// Pools that share one store: continuity from one to another, appends of both sides, faults,
// damaged values, erasures and late writers. Every fault ends in a miss, never in another answer.
// The long form: kv_sharing_test --seeds=N.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "base/test_count.h"
#include "kv/audit.h"
#include "kv/linked_store.h"
#include "kv/sharing.h"
#include "kv/sim_server.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv {
namespace sharing_test {

constexpr TierIndex kShared = 3;
constexpr uint64_t kPatience = 20'000'000;
constexpr uint64_t kShortUs = 20'000;  // of a call to a store that may hide it
constexpr uint64_t kBlockBytes = 4096;

/// One process: a pool with a link to the server, and a clock that can be moved on.
class Node {
 public:
  explicit Node(SimServer& server, uint32_t device_blocks = 64, uint32_t versions_back = 0,
                uint64_t limit_us = kPatience)
      : server_(server), link_(server.connect(erased_until, limit_us)) {
    PoolOptions options;
    options.block_bytes = kBlockBytes;
    options.device_blocks = device_blocks;
    options.store_retry_us = 0;
    options.versions_back_max = versions_back;
    options.now_us = [this] { return now_us_.fetch_add(1); };
    options.more_tiers.push_back(
        {.name = "shared", .store = std::make_unique<LinkedStore>(link_, 4096)});
    pool_ = Pool::open(std::move(options)).value();
    version_ = pool_->add_version(test_identity("model", kBlockBytes)).value();
  }
  ~Node() {
    pool_.reset();
    server_.disconnect(link_);
  }

  Pool& pool() { return *pool_; }
  Version version() const { return version_; }

  TestRequest request(const std::string& user, std::vector<Token> tokens) const {
    return {
        .version = version_, .salt = 5, .user = user, .tokens = std::move(tokens), .scene = {1, 2}};
  }
  TestAnswer ask(const TestRequest& request, uint64_t wait_us = kPatience) {
    Prefetch prefetch = pool_->prefetch(request.version, request.user, kChainTokensMax);
    prefetch.wait(wait_us);
    prefetch.cut_off();
    const TestAnswer answer = serve(*pool_, request);
    if (answer.status.is_ok()) {
      EXPECT_EQ(answer.value, expected_answer(request)) << request.user;
    }
    return answer;
  }
  /// Looks are worth it again.
  void let_time_pass() { now_us_ += kLookAgainUs + 1; }
  void settle() { ASSERT_TRUE(pool_->flush(kPatience).is_ok()); }

  std::atomic<uint64_t> erased_until{0};

 private:
  SimServer& server_;
  std::shared_ptr<StoreLink> link_;
  std::atomic<uint64_t> now_us_{1};
  std::unique_ptr<Pool> pool_;
  Version version_ = 0;
};

std::vector<Token> longer(std::vector<Token> tokens, uint64_t seed, uint32_t by) {
  const auto more = random_tokens(seed, by);
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

TEST(Shared, AnotherProcessGoesOnWhereOneEnded) {
  SimServer server(1);
  const auto tokens = random_tokens(7, 200);
  {
    Node first(server);
    EXPECT_EQ(first.ask(first.request("u", tokens)).matched, 0u);
    first.settle();
  }
  Node second(server);
  const TestAnswer answer = second.ask(second.request("u", longer(tokens, 8, 10)));
  EXPECT_EQ(answer.matched, 200u);
  EXPECT_EQ(answer.matched_by_tier[kShared], 200u);
  EXPECT_EQ(second.pool().metrics().looks_found, 1u);
}

TEST(Shared, TheStaticTextIsFoundAsWell) {
  SimServer server(1);
  const auto tokens = random_tokens(7, 200);
  Node first(server), second(server);
  for (Node* node : {&first, &second}) {
    auto request = node->request("u", tokens);
    request.prefix_tokens = 96;
    EXPECT_EQ(node->ask(request).matched, node == &first ? 0u : 200u);
    node->settle();
  }
}

TEST(Shared, AppendsOfBothGoOn) {
  SimServer server(1);
  Node first(server), second(server);
  auto tokens = random_tokens(7, 70);
  for (int turn = 0; turn < 8; ++turn) {
    Node& node = turn % 2 == 0 ? first : second;
    node.let_time_pass();
    const TestAnswer answer = node.ask(node.request("u", tokens));
    EXPECT_EQ(answer.matched, turn == 0 ? 0 : tokens.size() - 20) << turn;
    node.settle();
    tokens = longer(tokens, 100 + turn, 20);
  }
}

TEST(Shared, OfTwoAppendsThatPartTheLongerStays) {
  SimServer server(1);
  const auto common = random_tokens(7, 64);
  Node first(server), second(server);
  first.ask(first.request("u", common));
  first.settle();
  second.ask(second.request("u", common));
  second.settle();
  const auto one = longer(common, 1, 40), other = longer(common, 2, 90);
  first.ask(first.request("u", one));
  second.ask(second.request("u", other));
  first.settle();
  second.settle();
  first.settle();
  Node third(server);
  EXPECT_EQ(third.ask(third.request("u", other)).matched, 154u);
}

TEST(Shared, AStoreThatHasForgottenIsWrittenAnew) {
  SimServer server(1);
  const auto tokens = random_tokens(7, 200);
  Node first(server);
  first.ask(first.request("u", tokens));
  first.settle();
  server.forget();
  Node second(server);
  EXPECT_EQ(second.ask(second.request("u", tokens)).matched, 0u);
  second.settle();
  Node third(server);
  EXPECT_EQ(third.ask(third.request("u", tokens)).matched, 200u);
}

TEST(Shared, DamagedValuesAreRefusedAndReplaced) {
  SimServer server(3);
  for (uint64_t round = 0; round < 50; ++round) {
    const std::string user = "u" + std::to_string(round);
    const auto tokens = random_tokens(round, 150);
    Node first(server);
    first.ask(first.request(user, tokens));
    first.settle();
    server.damage();
    Node second(server);
    second.ask(second.request(user, tokens));  // judges the answer
    second.settle();
    Node third(server);
    EXPECT_EQ(third.ask(third.request(user, tokens)).matched, 150u) << round;
  }
}

TEST(Shared, AStoreThatDoesNotAnswerCostsTheBudgetAlone) {
  SimServer server(1);
  Node node(server);
  server.set_faults({.hides = 1000});
  const auto begun = std::chrono::steady_clock::now();
  const auto request = node.request("u", random_tokens(7, 100));
  EXPECT_EQ(node.ask(request, 1000).matched, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST(Shared, AnErasedUserLeavesNothing) {
  SimServer server(1);
  Node first(server), second(server);
  const auto tokens = random_tokens(7, 200);
  const Digest owner = shared_owner(false, "u");
  first.ask(first.request("u", tokens));
  first.settle();
  second.ask(second.request("u", tokens));
  second.settle();
  ASSERT_GT(server.kept_of(owner), 0u);
  ASSERT_TRUE(first.pool().drop_user("u", kPatience, 9).is_ok());
  EXPECT_EQ(server.kept_of(owner), 0u);
  // The second has not applied it: whatever it puts is refused.
  second.ask(second.request("u", longer(tokens, 8, 40)));
  second.settle();
  EXPECT_EQ(server.kept_of(owner), 0u);
  EXPECT_EQ(second.pool().metrics().puts_erased, 1u);
  ASSERT_TRUE(second.pool().drop_user("u", kPatience, 9).is_ok());
  second.erased_until = 9;
  second.ask(second.request("u", tokens));
  second.settle();
  EXPECT_GT(server.kept_of(owner), 0u);
}

TEST(Shared, AnErasureWaitsForItsStore) {
  SimServer server(1);
  Node node(server);
  node.ask(node.request("u", random_tokens(7, 200)));
  node.settle();
  server.set_faults({.fails = 1000});
  EXPECT_EQ(node.pool().drop_user("u", 10'000, 1).code(), Code::kDeadlineExceeded);
  server.set_faults({});
  node.settle();
  EXPECT_EQ(server.kept_of(shared_owner(false, "u")), 0u);
}

TEST(Shared, ANewVersionInheritsWhatTheStoreHasOfTheOneBefore) {
  SimServer server(1);
  const auto tokens = random_tokens(7, 200);
  {
    Node first(server, 64, 2);
    first.ask(first.request("u", tokens));
    first.settle();
  }
  Node second(server, 64, 2);
  const Version next = second.pool().add_version(test_identity("next", kBlockBytes)).value();
  (void)second.pool().succeed(next, test_identity("model", kBlockBytes));
  auto request = second.request("u", tokens);
  request.version = next;
  EXPECT_EQ(second.ask(request).matched, 200u);
  second.settle();
}

/// Three processes, six users, appends that go on or part, erasures, and a store with faults.
void disturb(uint64_t seed) {
  SimServer server(seed);
  std::mt19937_64 random(seed * 77);
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 3; ++i) nodes.push_back(std::make_unique<Node>(server, 24, 0, kShortUs));
  std::map<std::string, std::vector<Token>> histories;
  uint64_t erasures = 0;
  for (int step = 0; step < 120; ++step) {
    const std::string user = "user" + std::to_string(random() % 6);
    auto& node = nodes[random() % 3];
    auto& history = histories[user];
    switch (random() % 12) {
      case 0:
        server.set_faults({.fails = static_cast<uint32_t>(random() % 300),
                           .forgets = static_cast<uint32_t>(random() % 100),
                           .alters = static_cast<uint32_t>(random() % 200),
                           .cuts = static_cast<uint32_t>(random() % 100),
                           .hides = static_cast<uint32_t>(random() % 20),
                           .loses_answer = static_cast<uint32_t>(random() % 100)});
        break;
      case 1: node->let_time_pass(); break;
      case 2:
        node = std::make_unique<Node>(server, 24, 0, kShortUs);  // the old one is lost
        node->erased_until = erasures;
        break;
      case 3:
        history.clear();
        ++erasures;
        for (const auto& one : nodes) {
          (void)one->pool().drop_user(user, 0, erasures);
          one->erased_until = erasures;
        }
        break;
      case 4:
        if (!history.empty()) history.resize(random() % history.size());
        [[fallthrough]];
      default:
        history = longer(std::move(history), random(), 1 + static_cast<uint32_t>(random() % 60));
        if (history.size() > 300) history.erase(history.begin(), history.begin() + 150);
        node->ask(node->request(user, history), random() % 3 * 2000);
    }
    if (step % 10 == 0) {
      EXPECT_EQ(PoolWork(node->pool()).audit(), std::vector<std::string>{});
    }
  }
  server.set_faults({});
  for (const auto& node : nodes) node->settle();
  for (const auto& node : nodes) {
    EXPECT_EQ(PoolWork(node->pool()).audit(), std::vector<std::string>{});
  }
  for (const auto& [user, history] : histories) {
    ++erasures;
    for (const auto& node : nodes) {
      EXPECT_TRUE(node->pool().drop_user(user, kPatience, erasures).is_ok());
      node->erased_until = erasures;
    }
    EXPECT_EQ(server.kept_of(shared_owner(false, user)), 0u) << user;
  }
}

TEST(Shared, FaultsNeverGiveAnotherAnswer) {
  const uint64_t seeds = test_count("SEEDS", 24);
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    disturb(seed);
  }
}

/// Two processes write a user while a third erases: in whatever order that happens, nothing is left
/// once all have applied the erasure.
TEST(Shared, ErasuresThatRaceWithWritersLeaveNothing) {
  const uint64_t races = test_count("SEEDS", 10) * 10;
  SimServer server(9);
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 3; ++i) nodes.push_back(std::make_unique<Node>(server, 64));
  for (uint64_t race = 1; race <= races; ++race) {
    const std::string user = "user" + std::to_string(race);
    const auto tokens = random_tokens(race, static_cast<uint32_t>(20 + race % 90));
    const auto apply = [&](Node& node) {
      EXPECT_TRUE(node.pool().drop_user(user, kPatience, race).is_ok());
      node.erased_until = race;
    };
    std::vector<std::thread> writers;
    for (int i = 0; i < 2; ++i) {
      writers.emplace_back([&, i] {
        Node& node = *nodes[i];
        for (uint32_t length = 10; length <= tokens.size(); length += 10) {
          node.ask(node.request(user, {tokens.begin(), tokens.begin() + length}), 0);
        }
        apply(node);
      });
    }
    apply(*nodes[2]);
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(server.kept_of(shared_owner(false, user)), 0u) << user;
  }
}

}  // namespace sharing_test
}  // namespace tessera::kv
