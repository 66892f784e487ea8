// Cache transparency (docs/internals/kv-pool.md): whatever the pool holds, wherever it lies and
// however it came and went, an answer is the bits of the same request computed from nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "base/test_count.h"
#include "engine/engine.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace kv_transparency_test {

namespace fs = std::filesystem;

std::vector<uint32_t> bits_of(const Completion& completion) {
  std::vector<uint32_t> bits = completion.answer.item_ordinals;
  for (const float score : completion.answer.path_scores)
    bits.push_back(std::bit_cast<uint32_t>(score));
  return bits;
}

fs::path model_folder(const std::string& name) {
  return fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity" / name;
}

/// A folder of its own, removed at the end.
class DiskFolder {
 public:
  DiskFolder() : path_(fs::temp_directory_path() / ("tessera-kv-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
  }
  ~DiskFolder() { fs::remove_all(path_); }
  DiskFolder(const DiskFolder&) = delete;
  DiskFolder& operator=(const DiskFolder&) = delete;
  std::string string() const { return path_.string(); }

 private:
  fs::path path_;
};

/// An engine with the recorded model, opened again at will.
class Service {
 public:
  explicit Service(EngineOptions options) : options_(std::move(options)) { open(); }

  void restart() {
    engine_->drain(std::chrono::seconds(30));
    engine_->close();
    open();
  }

  Engine& engine() { return *engine_; }
  kv::Version version() const { return version_; }

  Request request(uint32_t ticket, std::vector<int32_t> prompt) const {
    Request request = make_request(ticket, binding_, fixture_);
    request.prompt = std::move(prompt);
    request.widths = {4};
    request.result_count = 64;
    request.kv.version = version_;
    return request;
  }
  std::map<uint32_t, Completion> answers(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }

 private:
  void open() {
    engine_.reset();
    auto engine = open_fixture_engine(options_, sink_);
    if (!engine.is_ok()) throw std::runtime_error(engine.status().message());
    engine_ = std::move(engine).value();
    version_ = engine_->add_version("template", "codebook").value();
    if (snapshot_ == nullptr) {
      fixture_ = read_cases(options_.model_path).front();
      snapshot_ = open_fixture_catalogue(options_.model_path);
    }
    binding_ = bind_fixture(engine_->model().config, snapshot_, fixture_);
  }

  const EngineOptions options_;
  CollectingSink sink_;
  FixtureCase fixture_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::unique_ptr<Engine> engine_;
  kv::Version version_ = 0;
  std::shared_ptr<const Binding> binding_;
};

constexpr uint32_t kPromptMax = 105;
constexpr uint32_t kUsers = 4;

/// Users whose histories grow, are cut, diverge and become alike.
class Users {
 public:
  Users(uint32_t seed, uint32_t vocab) : random_(seed), vocab_(vocab) {
    prefix_ = fresh(pick({0, 20, 32, 33, 40}));
  }

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  Request next(const Service& service, uint32_t ticket) {
    const uint32_t user = below(kUsers + 1);  // the last one has no name
    change(histories_[user]);
    std::vector<int32_t> prompt = prefix_;
    prompt.insert(prompt.end(), histories_[user].begin(), histories_[user].end());
    const auto keep = static_cast<uint32_t>(prompt.size());
    const std::vector<int32_t> scene = fresh(1 + below(18));
    prompt.insert(prompt.end(), scene.begin(), scene.end());
    Request request = service.request(ticket, std::move(prompt));
    if (user < kUsers) request.kv.user = "user " + std::to_string(user);
    request.kv.prefix_tokens = static_cast<uint32_t>(prefix_.size());
    request.kv.keep_tokens = user < kUsers ? keep : static_cast<uint32_t>(prefix_.size());
    return request;
  }

 private:
  uint32_t pick(std::initializer_list<uint32_t> values) {
    return *(values.begin() + below(static_cast<uint32_t>(values.size())));
  }
  std::vector<int32_t> fresh(uint32_t count) {
    std::vector<int32_t> tokens(count);
    for (int32_t& token : tokens) token = static_cast<int32_t>(below(vocab_));
    return tokens;
  }

  void change(std::vector<int32_t>& history) {
    const auto size = static_cast<uint32_t>(history.size());
    switch (below(8)) {
      case 0:  // trimmed at the front
        history.erase(history.begin(), history.begin() + below(size / 2 + 1));
        break;
      case 1:  // shorter at the end
        history.resize(size - below(size / 2 + 1));
        break;
      case 2:  // diverging somewhere
        if (size > 0) history[below(size)] = static_cast<int32_t>(below(vocab_));
        break;
      case 3:  // another user's
        history = histories_[below(kUsers)];
        break;
      default: break;  // as it was, and longer
    }
    // Around the edges of blocks more often than elsewhere.
    const auto total = static_cast<uint32_t>(prefix_.size() + history.size());
    const uint32_t to_edge = (kv::kBlockTokens - total % kv::kBlockTokens) % kv::kBlockTokens;
    const std::vector<int32_t> more =
        fresh(pick({1, 3, 8, 40, to_edge, to_edge + 1, to_edge + 31}));
    history.insert(history.end(), more.begin(), more.end());
    while (prefix_.size() + history.size() > kPromptMax) {
      history.erase(history.begin(), history.begin() + static_cast<ptrdiff_t>(history.size() / 2));
    }
  }

  std::mt19937 random_;
  const uint32_t vocab_;
  std::vector<int32_t> prefix_;
  std::array<std::vector<int32_t>, kUsers + 1> histories_;
};

/// Seeds of the short form; the long one is asked for with --seeds=N.
const auto seed_count = static_cast<uint32_t>(test_count("SEEDS", 6));

/// A decoder whose rows go through all weights, one whose rows choose experts, and two that have a
/// state.
class KvTransparency : public testing::TestWithParam<std::string> {
 protected:
  EngineOptions options(uint32_t seed) const {
    std::mt19937 random(seed);
    EngineOptions options = fixture_options(model_folder(GetParam()));
    options.prefill_chunk_tokens = 5 + static_cast<uint32_t>(random() % 90);
    options.batch_requests_max = 1 + static_cast<uint32_t>(random() % 4);
    options.kv.is_enabled = true;
    std::mt19937 states(seed);
    const auto room = [&](uint64_t blocks, uint64_t states_max) {
      return block_bytes_ * blocks + state_bytes_ * (states() % states_max);
    };
    options.kv.device_bytes = room(6 + random() % 30, 7);
    options.kv.host_bytes = random() % 3 == 0 ? 0 : room(random() % 12, 4);
    options.kv.disk_bytes = random() % 4 == 0 ? 0 : room(random() % 60, 8);
    options.kv.folder = folder_.string();
    options.kv.store_queue_max = 8;
    options.kv.prefetch_queue_max = 8;
    return options;
  }

  /// Waits until what the pool has of the user is on the device. A request that arrives sooner
  /// waits only while that is faster than computing anew: what it finds depends on the clock.
  static void bring_up(Service& service, const std::string& user) {
    kv::Pool& pool = *service.engine().pool();
    for (const kv::ChainReport& chain : pool.inspect(user)) {
      const kv::Version version = pool.find_version(kv::to_text(chain.version)).value();
      EXPECT_TRUE(pool.prefetch(version, user, kv::kChainTokensMax).wait(20'000'000));
    }
  }

  /// Refused when it is submitted, with its blocks on their way.
  static void expect_late(Service& service, Request request) {
    request.deadline = Clock::now();
    const uint32_t ticket = request.ticket;
    service.engine().prefetch(ticket, request.kv.version, request.kv.user);
    std::vector<Request> requests;
    requests.push_back(std::move(request));
    EXPECT_EQ(service.answers(std::move(requests)).at(ticket).status.code(),
              Code::kDeadlineExceeded);
  }

  const std::vector<uint32_t>& from_nothing(const Request& request) {
    std::vector<uint32_t>& bits = known_[request.prompt];
    if (bits.empty()) {
      Request alone = plain_.request(1, request.prompt);
      bits = bits_of(plain_.answers({std::move(alone)}).at(1));
    }
    return bits;
  }

  DiskFolder folder_;
  Service plain_{fixture_options(model_folder(GetParam()))};
  const uint64_t block_bytes_ = plain_.engine().model().block_bytes;
  const uint64_t state_bytes_ = plain_.engine().model().state_bytes;
  std::map<std::vector<int32_t>, std::vector<uint32_t>> known_;
};

TEST_P(KvTransparency, AnyHistoryOfAppendsForksEvictionsAndRestartsAnswersAsFromNothing) {
  kv::PerTier<uint64_t> found{};
  uint64_t reused = 0, dropped = 0;
  for (uint32_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fs::remove_all(folder_.string());
    Service service(options(seed));
    Users users(seed, plain_.engine().model().config.vocab_size);
    // Stores and loads that are waited for: where the tokens lie does not depend on the clock.
    const bool is_paced = seed % 2 == 0;
    uint32_t ticket = 1;
    for (uint32_t step = 0; step < 24; ++step) {
      std::vector<Request> requests;
      std::map<uint32_t, std::vector<uint32_t>> expected;
      for (uint32_t i = 0; i <= users.below(4); ++i, ++ticket) {
        requests.push_back(users.next(service, ticket));
        expected[ticket] = from_nothing(requests.back());
        const KvUse& use = requests.back().kv;
        if (users.below(3) == 0) continue;
        service.engine().prefetch(ticket, use.version, use.user);
        if (is_paced) bring_up(service, use.user);
      }
      const std::string anyone = requests.front().kv.user;
      for (const auto& [answered, completion] : service.answers(std::move(requests))) {
        ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
        ASSERT_EQ(bits_of(completion), expected[answered]) << "step " << step;
        reused += completion.prefix_reused_tokens;
        for (uint32_t t = 0; t < kv::kTiersMax; ++t) found[t] += completion.kv_tokens[t];
      }
      const uint32_t event = users.below(10);
      // Seldom: what it fetches displaces what the others would find in memory.
      if (event == 2) expect_late(service, users.next(service, ticket++));
      if (is_paced) EXPECT_TRUE(service.engine().pool()->flush(10'000'000).is_ok());
      if (event == 0) service.restart();
      if (event == 1 && !anyone.empty()) {
        ASSERT_TRUE(service.engine().pool()->drop_user(anyone, 10'000'000).is_ok());
        EXPECT_TRUE(service.engine().pool()->inspect(anyone).empty());
        ++dropped;
      }
    }
    service.engine().drain(std::chrono::seconds(30));
    const kv::IntegrityReport report = service.engine().pool()->check_integrity();
    EXPECT_TRUE(report.faults.empty()) << report.faults.front();
    EXPECT_EQ(report.corrupt_disk_blocks + report.unreadable_disk_blocks, 0u);
    EXPECT_EQ(held_by(&service.engine()), std::vector<std::string>{});
  }
  std::printf("seeds 1..%u: tokens found on device %lu, host %lu, disk %lu, in flight %lu\n",
              seed_count, found[0], found[1], found[2], reused);
  EXPECT_GT(found[0], 1000u);
  EXPECT_GT(found[1], 0u);
  EXPECT_GT(found[2], 0u);
  EXPECT_EQ(reused > 0, state_bytes_ == 0);  // no prompt goes on from the middle of another's
  EXPECT_GT(dropped, 0u);
}

TEST_P(KvTransparency, AUserWhoComesBackIsFoundInTheTierBelow) {
  for (const bool is_on_disk : {false, true}) {
    SCOPED_TRACE(is_on_disk ? "disk" : "host");
    fs::remove_all(folder_.string());
    const uint64_t prompt_bytes = 6 * block_bytes_ + state_bytes_ * 3 / 2;
    EngineOptions wanted = options(1);
    wanted.kv.device_bytes = 2 * prompt_bytes;
    wanted.kv.host_bytes = is_on_disk ? 0 : 8 * prompt_bytes;
    wanted.kv.disk_bytes = is_on_disk ? 8 * prompt_bytes : 0;
    wanted.kv.store_queue_max = 1024;
    Service service(wanted);
    std::mt19937 random(7);
    const uint32_t vocab = plain_.engine().model().config.vocab_size;
    const auto visit = [&](const std::string& user, std::vector<int32_t> prompt, bool prefetches) {
      Request request = service.request(1, std::move(prompt));
      request.kv.user = user;
      request.kv.keep_tokens = static_cast<uint32_t>(request.prompt.size()) - 1;
      if (prefetches) {
        service.engine().prefetch(1, request.kv.version, user);
        bring_up(service, user);
      }
      Completion completion = std::move(service.answers({std::move(request)}).at(1));
      EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
      EXPECT_TRUE(service.engine().pool()->flush(10'000'000).is_ok());
      return completion;
    };
    std::vector<std::vector<int32_t>> prompts(4, std::vector<int32_t>(101));
    for (auto& prompt : prompts) {
      for (int32_t& token : prompt) token = static_cast<int32_t>(random() % vocab);
    }
    for (uint32_t user = 0; user < prompts.size(); ++user)
      visit("user " + std::to_string(user), prompts[user], false);
    std::vector<int32_t> longer = prompts[0];
    longer.back() = 1;
    longer.insert(longer.end(), {2, 3});
    const Completion back = visit("user 0", longer, true);
    EXPECT_EQ(back.kv_tokens[0] + back.kv_tokens[1] + back.kv_tokens[2], 100u);
    EXPECT_GT(back.kv_tokens[is_on_disk ? 2 : 1], 0u);
    EXPECT_EQ(bits_of(back), from_nothing(plain_.request(1, longer)));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, KvTransparency,
                         testing::ValuesIn(served_here({"qwen3-tied", "qwen2-moe-shared",
                                                        "qwen3-5-text", "qwen3-next-bf16"})));

/// Prompts of an encoder are found whole or not at all, whichever tier has them.
TEST(KvTransparency, AnEncodersPromptIsFoundByTheSameTokensAlone) {
  for (const char* name : {"t5-gated-untied", "t5-ends-bf16"}) {
    SCOPED_TRACE(name);
    const DiskFolder disk;
    EngineOptions options = fixture_options(model_folder(name));
    EngineOptions nothing = options;
    options.kv.is_enabled = true;
    options.kv.store_queue_max = options.kv.prefetch_queue_max = 8;
    options.kv.folder = disk.string();
    options.kv.disk_bytes = 64u << 20;
    options.thread_count = 2;
    Service service(options), from_nothing(nothing);
    const model::ModelConfig& config = service.engine().model().config;
    const auto start = static_cast<int32_t>(config.t5.start_token);
    std::mt19937 random(7);
    const auto token = [&] {
      return static_cast<int32_t>(start + 1 + random() % (config.vocab_size - start - 1));
    };
    std::vector<std::vector<int32_t>> histories(3);
    std::vector<std::vector<int32_t>> asked(3);  // the last prompt of each user
    std::vector<bool> was_here(3);               // since the last restart
    uint32_t ticket = 0, found_here = 0, found_on_disk = 0;
    for (uint32_t round = 0; round < 60; ++round) {
      if (round % 10 == 9) {
        service.restart();
        std::fill(was_here.begin(), was_here.end(), false);
      }
      const uint32_t user = random() % 3;
      std::vector<int32_t>& history = histories[user];
      if (history.empty() || random() % 2 == 0) {  // news at the end, less at the end or the front
        const uint32_t kind = random() % 4;
        if (kind == 0 && history.size() > 12) history.erase(history.begin(), history.begin() + 3);
        if (kind == 1 && history.size() > 12) history.resize(history.size() - 2);
        if (kind > 1 || history.size() < 12)
          for (uint32_t i = 0; i < 9; ++i) history.push_back(token());
      }
      std::vector<int32_t> prompt = history;
      prompt.push_back(start);
      Request mine = service.request(++ticket, prompt), alone = from_nothing.request(1, prompt);
      mine.kv.user = "user " + std::to_string(user);
      mine.kv.keep_tokens = 4;
      service.engine().prefetch(ticket, service.version(), mine.kv.user);
      const Completion got = std::move(service.answers({mine}).at(ticket));
      const Completion expected = std::move(from_nothing.answers({alone}).at(1));
      ASSERT_TRUE(got.status.is_ok()) << got.status.message();
      EXPECT_EQ(bits_of(got), bits_of(expected)) << "round " << round;
      const bool is_again = asked[user] == prompt;
      const uint32_t found = std::accumulate(got.kv_tokens.begin(), got.kv_tokens.end(), 0u);
      // Blocks below the device may be computed again where that is thought to be as quick.
      if (!is_again || was_here[user] || found > 0) {
        EXPECT_EQ(found, is_again ? history.size() : 0) << "round " << round;
      }
      (was_here[user] ? found_here : found_on_disk) += found > 0 ? 1 : 0;
      asked[user] = prompt;
      was_here[user] = true;
    }
    EXPECT_GT(found_here, 5u);
    EXPECT_GT(found_on_disk, 0u);
  }
}

}  // namespace kv_transparency_test
}  // namespace tessera::engine
