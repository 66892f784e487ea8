// Requests with adapters in the engine: each is answered as if it were alone, keys and values are
// found under the adapter that made them, and an adapter lives as long as its last request.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace adapter_test {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures";
constexpr lora::Limits kLimits{ops::kRankMax, 1e3};

std::vector<uint32_t> bits_of(const Completion& completion) {
  std::vector<uint32_t> bits = completion.answer.item_ordinals;
  for (const float score : completion.answer.path_scores)
    bits.push_back(std::bit_cast<uint32_t>(score));
  return bits;
}

class AdapterTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void open(model::ComputeType type, uint32_t batch_requests_max, uint32_t versions_back_max = 0) {
    EngineOptions options = fixture_options(kFixtures / "parity/qwen3-tied");
    options.compute_type = type;
    options.thread_count = 2;
    options.batch_requests_max = batch_requests_max;
    options.adapter_bytes_max = 64u << 20;
    options.kv.is_enabled = true;
    options.kv.versions_back_max = versions_back_max;
    engine_.reset();
    auto engine = open_fixture_engine(options, sink_);
    ASSERT_TRUE(engine.is_ok()) << engine.status().message();
    engine_ = std::move(engine).value();
    fixture_ = read_cases(kFixtures / "parity/qwen3-tied").back();
    binding_ = bind_fixture(engine_->model().config,
                            open_fixture_catalogue(kFixtures / "parity/qwen3-tied"), fixture_);
  }

  std::shared_ptr<const lora::Adapter> load(const std::string& name) {
    auto loaded = engine_->load_adapter((kFixtures / "adapters" / name).string(), kLimits);
    EXPECT_TRUE(loaded.is_ok()) << loaded.status().message();
    return loaded.is_ok() ? loaded.value() : nullptr;
  }

  /// All of one user and nearly one prompt, so that whoever mixes them up is seen.
  Request request(uint32_t ticket, std::shared_ptr<const lora::Adapter> adapter, uint32_t last) {
    Request request = make_request(ticket, binding_, fixture_);
    request.norm = static_cast<beam::ScoreNorm>(last % 3);
    request.prompt.back() = static_cast<int32_t>(3 + last);
    const std::string digest = adapter == nullptr ? "" : adapter->summary().digest;
    request.kv.version = engine_->add_version("template", "codebook", digest).value();
    request.kv.user = "user";
    request.kv.keep_tokens = static_cast<uint32_t>(request.prompt.size());
    request.adapter = std::move(adapter);
    return request;
  }

  std::map<uint32_t, Completion> answers(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }

  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  FixtureCase fixture_;
  std::shared_ptr<const Binding> binding_;
};

const std::vector<std::string> kAdapters = {"all-linear", "patterns-rslora", "tokens-tied",
                                            "modules-head-tied"};

TEST_F(AdapterTest, RequestsBesideOthersAreAnsweredAsAloneAndFindTheirOwnKeysAndValues) {
  for (const auto type :
       {model::ComputeType::kF32, model::ComputeType::kBf16, model::ComputeType::kW8A8}) {
    SCOPED_TRACE(std::string(model::compute_type_name(type)));
    constexpr uint32_t kRequests = 15;
    std::map<uint32_t, std::vector<uint32_t>> alone;
    for (uint32_t i = 0; i < kRequests; ++i) {  // an engine each: nothing is kept from another
      open(type, 1);
      const auto adapter = i % 5 == 0 ? nullptr : load(kAdapters[i % 5 - 1]);
      std::vector<Request> one;
      one.push_back(request(i, adapter, i / 5));
      alone[i] = bits_of(answers(std::move(one)).at(i));
    }
    EXPECT_NE(alone[0], alone[1]);
    EXPECT_NE(alone[1], alone[2]);
    open(type, 8);
    std::vector<std::shared_ptr<const lora::Adapter>> adapters{nullptr};
    for (const std::string& name : kAdapters) adapters.push_back(load(name));
    for (int round = 0; round < 2; ++round) {
      std::vector<Request> requests;
      for (uint32_t i = 0; i < kRequests; ++i)
        requests.push_back(request(i, adapters[i % 5], i / 5));
      const auto found = answers(std::move(requests));
      for (uint32_t i = 0; i < kRequests; ++i) {
        ASSERT_TRUE(found.at(i).status.is_ok()) << found.at(i).status.message();
        EXPECT_EQ(bits_of(found.at(i)), alone[i]) << "request " << i << " round " << round;
        if (round == 0) continue;
        EXPECT_GT(found.at(i).kv_tokens[0], 0u) << "request " << i;
      }
    }
  }
}

TEST_F(AdapterTest, AnAdapterThatIsGivenUpServesItsRequestsAndThenIsGone) {
  open(model::ComputeType::kF32, 4);
  auto adapter = load("all-linear");
  const std::string digest = adapter->summary().digest;
  EXPECT_EQ(engine_->adapter_arena().adapters, 1u);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 6; ++i) requests.push_back(request(i, adapter, i));
  adapter.reset();
  const auto found = answers(std::move(requests));
  for (const auto& [ticket, completion] : found) EXPECT_TRUE(completion.status.is_ok());
  engine_->drain(std::chrono::seconds(30));
  EXPECT_EQ(engine_->adapter_arena().adapters, 0u);
  EXPECT_EQ(engine_->adapter_arena().used_bytes, 0u);
}

TEST_F(AdapterTest, WeightsAreNotChangedUnderAdaptersThatAreOfTheOldOnes) {
  open(model::ComputeType::kF32, 4);
  const std::string folder = (kFixtures / "parity/qwen3-tied").string();
  auto adapter = load("modules-head-tied");
  const auto refused = engine_->update_weights(folder, std::chrono::seconds(5));
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kModelInvalid);
  EXPECT_NE(refused.status().message().find("adapters"), std::string::npos);
  adapter.reset();
  EXPECT_TRUE(engine_->update_weights(folder, std::chrono::seconds(5)).is_ok());
  EXPECT_NE(load("modules-head-tied"), nullptr);
}

TEST_F(AdapterTest, KeysAndValuesOfAVersionThatWasDroppedAreNotFound) {
  open(model::ComputeType::kF32, 4);
  const auto adapter = load("all-linear");
  const auto found_tokens = [&](Request asked) {
    std::vector<Request> one;
    one.push_back(std::move(asked));
    return answers(std::move(one)).at(1).kv_tokens[0];
  };
  Request late = request(1, adapter, 0);
  EXPECT_EQ(found_tokens(request(1, adapter, 0)), 0u);
  EXPECT_GT(found_tokens(request(1, adapter, 0)), 0u);
  engine_->drop_version(late.kv.version);
  EXPECT_EQ(found_tokens(std::move(late)), 0u);
}

/// Requests of one user whose prompt is several blocks long.
class SuccessionTest : public AdapterTest {
 protected:
  static constexpr uint32_t kPromptTokens = 80;

  void open_pair(uint32_t versions_back_max) {
    older_.reset();
    newer_.reset();
    open(model::ComputeType::kF32, 4, versions_back_max);
    older_ = load("all-linear");
    newer_ = load("patterns-rslora");
    engine_->succeed(newer_->summary().digest, older_->summary().digest);
  }

  Request visit(uint32_t ticket, const std::shared_ptr<const lora::Adapter>& adapter,
                bool wants_exact = false) {
    Request asked = request(ticket, adapter, 0);
    const std::vector<int32_t> part = asked.prompt;
    while (asked.prompt.size() < kPromptTokens)
      asked.prompt.insert(asked.prompt.end(), part.begin(), part.end());
    asked.prompt.resize(kPromptTokens);
    asked.kv.keep_tokens = static_cast<uint32_t>(asked.prompt.size()) - 1;
    asked.kv.wants_exact = wants_exact;
    return asked;
  }

  Completion answer(Request asked) {
    const uint32_t ticket = asked.ticket;
    std::vector<Request> one;
    one.push_back(std::move(asked));
    Completion completion = answers(std::move(one)).at(ticket);
    EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
    return completion;
  }

  /// The answer of each, computed from nothing.
  void answer_both_alone() {
    open_pair(0);
    older_bits_ = bits_of(answer(visit(1, older_)));
    newer_bits_ = bits_of(answer(visit(2, newer_)));
    EXPECT_NE(older_bits_, newer_bits_);
  }

  std::shared_ptr<const lora::Adapter> older_, newer_;
  std::vector<uint32_t> older_bits_, newer_bits_;
};

TEST_F(SuccessionTest, ANewVersionGoesOnWithItsPredecessorsKeysAndValuesOnlyWhereAllowedAndSaysSo) {
  answer_both_alone();
  open_pair(0);
  answer(visit(1, older_));
  const Completion strict = answer(visit(2, newer_));
  EXPECT_EQ(strict.kv_tokens[0], 0u);
  EXPECT_EQ(strict.kv_versions_back, 0u);
  EXPECT_EQ(bits_of(strict), newer_bits_);

  open_pair(1);
  answer(visit(1, older_));
  const Completion heir = answer(visit(2, newer_));
  EXPECT_EQ(heir.kv_inherited_tokens, kPromptTokens - 1);
  EXPECT_EQ(heir.kv_inherited_tokens, heir.kv_tokens[0]);
  EXPECT_EQ(heir.kv_versions_back, 1u);
  EXPECT_NE(bits_of(heir), newer_bits_);
  EXPECT_EQ(answer(visit(3, newer_)).kv_versions_back, 1u);
}

TEST_F(SuccessionTest, AfterARollbackTheEarlierAnswerIsBackToTheBit) {
  answer_both_alone();
  open_pair(1);
  const Completion before = answer(visit(1, older_));
  EXPECT_EQ(bits_of(before), older_bits_);
  EXPECT_EQ(answer(visit(2, newer_)).kv_versions_back, 1u);
  engine_->drop_version(visit(3, newer_).kv.version);
  const Completion restored = answer(visit(4, older_));
  EXPECT_EQ(restored.kv_versions_back, 0u);
  EXPECT_EQ(bits_of(restored), older_bits_);
}

TEST_F(SuccessionTest, WhatIsAskedForExactlyIsComputedBesideWhoIsNotAndIsFoundByWhoComesNext) {
  answer_both_alone();
  open_pair(1);
  answer(visit(1, older_));
  std::vector<Request> together;
  together.push_back(visit(2, newer_));
  together.push_back(visit(3, newer_, true));
  const auto found = answers(std::move(together));
  EXPECT_EQ(found.at(2).kv_versions_back, 1u);
  EXPECT_EQ(found.at(3).kv_versions_back, 0u);
  EXPECT_EQ(bits_of(found.at(3)), newer_bits_);

  answer(visit(4, newer_, true));
  const Completion next = answer(visit(5, newer_));
  EXPECT_EQ(next.kv_tokens[0], kPromptTokens - 1);
  EXPECT_EQ(next.kv_versions_back, 0u);
  EXPECT_EQ(bits_of(next), newer_bits_);
}

TEST_F(SuccessionTest, WhoSharesAPromptWithAnHeirIsToldSo) {
  open_pair(1);
  answer(visit(1, older_));
  std::vector<Request> together;
  together.push_back(visit(2, newer_));
  together.push_back(visit(3, newer_));
  together.back().kv.user = "another user";
  const auto found = answers(std::move(together));
  EXPECT_EQ(found.at(2).kv_versions_back, 1u);
  EXPECT_GT(found.at(3).prefix_reused_tokens, 0u);
  EXPECT_EQ(found.at(3).kv_versions_back, 1u);
  EXPECT_EQ(found.at(3).kv_inherited_tokens, 0u);
}

TEST_F(SuccessionTest, AVersionThatNobodyCameUnderIsCountedAndNoLineEndsInItself) {
  open_pair(2);
  const auto newest = load("tokens-tied");
  engine_->succeed(newest->summary().digest, newer_->summary().digest);
  engine_->succeed(older_->summary().digest, newest->summary().digest);
  answer(visit(1, older_));
  EXPECT_EQ(answer(visit(2, newest)).kv_versions_back, 2u);
  EXPECT_EQ(answer(visit(3, older_)).kv_tokens[0], 0u);
}

TEST_F(SuccessionTest, WhatADroppedVersionHadIsLeftToItsSuccessor) {
  open_pair(1);
  answer(visit(1, older_));
  Request heir = visit(3, newer_);  // known from here on, as the bridge makes whoever follows
  engine_->drop_version(visit(2, older_).kv.version);
  EXPECT_EQ(answer(std::move(heir)).kv_versions_back, 1u);
}

TEST_F(AdapterTest, AdaptersComeAndGoWhileRequestsRun) {
  open(model::ComputeType::kBf16, 8);
  const auto kept = load("all-linear");
  const auto ask = [&] {
    std::vector<Request> requests;
    for (uint32_t i = 0; i < 8; ++i) requests.push_back(request(i, i % 2 == 0 ? nullptr : kept, i));
    std::map<uint32_t, std::vector<uint32_t>> bits;
    for (const auto& [ticket, completion] : answers(std::move(requests)))
      bits[ticket] = bits_of(completion);
    return bits;
  };
  const auto expected = ask();
  std::thread pusher([&] {
    for (int push = 0; push < 12; ++push) {
      for (const std::string& name : kAdapters) EXPECT_NE(load(name), nullptr);
    }
  });
  for (int round = 0; round < 10; ++round) EXPECT_EQ(ask(), expected);
  pusher.join();
  EXPECT_EQ(engine_->adapter_arena().adapters, 1u);
}

TEST_F(AdapterTest, AnEngineWithoutMemoryForAdaptersRefusesThem) {
  EngineOptions options = fixture_options(kFixtures / "parity/qwen3-tied");
  auto engine = open_fixture_engine(options, sink_);
  ASSERT_TRUE(engine.is_ok());
  const auto loaded =
      engine.value()->load_adapter((kFixtures / "adapters/all-linear").string(), kLimits);
  ASSERT_FALSE(loaded.is_ok());
  EXPECT_EQ(loaded.status().code(), Code::kAdapterArenaFull);
}

}  // namespace adapter_test
}  // namespace tessera::engine
