// The engine on a card, or on emulated threads: whatever a request asks for, its answer is, bit for
// bit, the one that it has alone, and the best of all items where it says so. The engine's own
// tests, on a card that stands in, are in engine/.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>
#include <set>

#include "beam/random_case.h"
#include "cuda/engine/open_on_card.h"
#include "cuda/model/test_decoders.h"
#include "engine/engine.h"
#include "engine/test_fixture.h"
#include "lora/test_adapter.h"

namespace tessera::engine::cuda {
namespace card_engine_test {

using device::cuda::Queue;

constexpr uint32_t kContext = 96, kWidth = 6, kPaths = 8, kPathsMax = 128;
constexpr uint64_t kSeed = 5;

/// Largest difference of a score between BF16 on a card and on the processor, which round at other
/// places.
constexpr float kTolerance = 0.1f;

class CardEngine : public testing::Test {
 protected:
  CardEngine() : random_(kSeed) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("tessera-card-engine-" + std::to_string(::getpid()));
    do {  // as deep as SIDs mostly are: each level is a pass, which takes a while here
      case_ = beam::random_case(random_, path);
      std::filesystem::remove(path);
    } while (case_.level_sizes.size() != 3 || paths().size() < 20 || paths().size() > kPathsMax);
    int32_t token = 3;
    for (const uint32_t size : case_.level_sizes) {
      level_tokens_.emplace_back(size);
      std::iota(level_tokens_.back().begin(), level_tokens_.back().end(), token);
      token += static_cast<int32_t>(size);
    }
    shape_.vocab = static_cast<uint32_t>(token);
    shape_.hidden = 40;
    shape_.layers = 1;
    shape_.heads = 2;
    shape_.kv_heads = 1;
    shape_.head_dim = 64;
    shape_.intermediate = 48;
    write(folder_, kSeed);
  }
  ~CardEngine() override {
    if (engine_ == nullptr) return;
    EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{});
    engine_->close();
  }

  void write(const model::TestFolder& folder, uint64_t seed) const {
    folder.write_model(shape_, model::test_tensors(shape_, tensor::DType::kBf16, seed));
  }
  EngineOptions options() const {
    EngineOptions options;
    options.model_path = folder_.path();
    options.compute_type = model::ComputeType::kBf16;
    options.queue_capacity = 64;
    options.batch_requests_max = 3;
    options.batch_rows_max = kPathsMax;
    options.prefill_chunk_tokens = 23;
    options.kv_bytes_max = 1u << 26;
    options.kv.device_bytes = 1u << 22;
    options.adapter_bytes_max = 1u << 22;
    options.prompt_tokens_max = kContext;
    options.width_max = kWidth;
    options.result_count_max = 64;
    options.score_items_max = kPathsMax;
    return options;
  }
  static CardQueues queues() {
    return {"emulated", model::cuda::open_queue(kSeed + 1), model::cuda::open_queue(kSeed + 2),
            model::cuda::open_queue(kSeed + 3), model::cuda::open_queue(kSeed + 4)};
  }
  void open(EngineOptions options) {
    auto parts = open_on_card(options, queues());
    ASSERT_TRUE(parts.is_ok()) << parts.status().message();
    engine_ = Engine::open(options, std::move(parts).value(), sink_);
    bind();
  }
  void bind() {
    const ServedModel model = engine_->model();
    binding_ = Binding::create(model.config, live_fixture(case_.snapshot), level_tokens_, {},
                               model.vocabulary)
                   .value();
    version_ = engine_->add_version("template", "codebook").value();
  }

  std::vector<int32_t> random_prompt(uint32_t length) {
    std::vector<int32_t> prompt(length);
    for (int32_t& token : prompt) token = static_cast<int32_t>(random_() % shape_.vocab);
    return prompt;
  }
  std::set<beam::Sid> paths() const { return {case_.sids.begin(), case_.sids.end()}; }
  /// A beam of kWidth, over all items.
  Request request(uint32_t ticket, std::vector<int32_t> prompt) const {
    Request request;
    request.ticket = ticket;
    request.binding = binding_;
    request.prompt = std::move(prompt);
    request.widths = {kWidth};
    request.result_count = kPaths;
    request.items_per_sid = 8;
    request.kv.version = version_;
    request.deadline = Clock::now() + std::chrono::hours(1);
    return request;
  }
  Request certified(uint32_t ticket, std::vector<int32_t> prompt) const {
    Request proved = request(ticket, std::move(prompt));
    proved.widths = {};
    proved.row_budget = 4096;
    proved.items_per_sid = 1;
    return proved;
  }
  /// Scores of the paths of the catalogue, which are few.
  Request scores(uint32_t ticket, const Request& of) const {
    Request asked = request(ticket, of.prompt);
    asked.task = &score_task();
    asked.adapter = of.adapter;
    asked.norm = of.norm;
    asked.widths = {};
    asked.sid_offsets = {0};
    for (const beam::Sid& sid : paths()) {
      asked.sid_codes.insert(asked.sid_codes.end(), sid.begin(), sid.end());
      asked.sid_offsets.push_back(static_cast<uint32_t>(asked.sid_codes.size()));
    }
    return asked;
  }
  std::map<uint32_t, Completion> serve(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }
  Completion serve_one(const Request& request) {
    return std::move(serve({request}).begin()->second);
  }

  static std::vector<uint32_t> bits_of(const Completion& completion) {
    EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
    std::vector<uint32_t> bits = completion.answer.item_ordinals;
    for (const uint32_t code : completion.answer.path_codes) bits.push_back(code);
    for (const float score : completion.answer.path_scores)
      bits.push_back(std::bit_cast<uint32_t>(score));
    for (const float score : completion.scores) bits.push_back(std::bit_cast<uint32_t>(score));
    EXPECT_GT(bits.size(), 0u);
    return bits;
  }

  std::mt19937_64 random_;
  beam::RandomCase case_;
  std::vector<std::vector<int32_t>> level_tokens_;
  model::TestShape shape_;
  model::TestFolder folder_;
  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const Binding> binding_;
  kv::Version version_ = 0;
};

TEST_F(CardEngine, EveryKindOfRequestHasItsBitsInAnyCompanyAndChunks) {
  open(options());
  const model::TestFolder adapter_folder;
  lora::TestAdapterShape lora;
  lora.ranks = {3, 0, 7};
  lora.embedding = {4, 9};
  lora.has_dora = true;
  lora::random_adapter(shape_, lora, kSeed).write(adapter_folder);
  const auto adapter = engine_->load_adapter(adapter_folder.path(), {ops::kRankMax, 1e3});
  ASSERT_TRUE(adapter.is_ok()) << adapter.status().message();
  std::vector<Request> requests;
  const auto prompt = random_prompt(40);
  for (uint32_t i = 0; i < 10; ++i) requests.push_back(request(i, prompt));
  requests[1].adapter = requests[3].adapter = adapter.value();
  requests[1].prompt = random_prompt(33);
  requests[2] = certified(2, prompt);
  requests[2].norm = beam::ScoreNorm::kAllowed;
  requests[3] = scores(3, requests[1]);
  requests[4].norm = beam::ScoreNorm::kLevel;
  requests[4].wants_tree = true;
  requests[5].reach = catalogue::Reach(binding_->reach().shared_view(),
                                       beam::random_eligibility(case_, random_, 2));
  requests[6] = certified(6, random_prompt(9));
  requests[6].explore.slots = 2;
  requests[6].explore.seed_low = 3;
  requests[6].norm = beam::ScoreNorm::kAllowed;
  requests[7].reach = binding_->reach();
  requests[7].watched_item = serve_one(requests[0]).answer.item_ordinals.front();
  requests[8].task = &relevance_task();
  requests[8].label_tokens = {5, 6};
  requests[8].widths = {};
  requests[9].widths = {2, kWidth};
  std::vector<std::vector<uint32_t>> alone;
  for (const Request& request : requests) alone.push_back(bits_of(serve_one(request)));
  EXPECT_NE(alone[0], alone[4]);
  const auto completions = serve(requests);
  for (uint32_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(bits_of(completions.at(i)), alone[i]) << i;
  EXPECT_NE(completions.at(7).explanation.verdict, beam::Verdict::kOpen);
  EXPECT_GT(completions.at(0).prefix_reused_tokens + completions.at(9).prefix_reused_tokens, 0u);
  engine_->close();
  EngineOptions narrow = options();
  narrow.prefill_chunk_tokens = 7;
  narrow.batch_requests_max = 1;
  open(narrow);
  for (Request& request : requests) {
    if (request.adapter != nullptr || request.reach.is_set()) continue;  // of the other engine
    request.binding = binding_;
    request.kv.version = version_;
    EXPECT_EQ(bits_of(serve_one(request)), alone[request.ticket]) << request.ticket;
  }
}

TEST_F(CardEngine, CertifiedAnswersAreTheBestOfAllPaths) {
  open(options());
  for (uint32_t round = 0; round < 6; ++round) {
    Request asked = certified(1, random_prompt(1 + 7 * round));
    asked.norm = static_cast<beam::ScoreNorm>(round % 3);
    const Completion proved = serve_one(asked);
    ASSERT_TRUE(proved.status.is_ok()) << proved.status.message();
    EXPECT_TRUE(proved.certificate.is_certified);
    const Completion all = serve_one(scores(2, asked));
    ASSERT_TRUE(all.status.is_ok()) << all.status.message();
    std::vector<float> best = all.scores;
    std::sort(best.begin(), best.end(), std::greater<>());
    best.erase(std::unique(best.begin(), best.end()), best.end());  // items of one SID
    ASSERT_LE(proved.answer.path_scores.size(), best.size());
    for (size_t i = 0; i < proved.answer.path_scores.size(); ++i)
      EXPECT_EQ(proved.answer.path_scores[i], best[i]) << i;
  }
}

TEST_F(CardEngine, ScoresAreNearThoseOfTheProcessor) {
  open(options());
  const Request asked = request(1, random_prompt(50));
  const std::vector<float> on_card = serve_one(scores(2, asked)).scores;
  engine_->close();
  engine_ = Engine::open(options(), sink_).value();
  bind();
  Request again = asked;
  again.binding = binding_;
  const std::vector<float> on_processor = serve_one(scores(2, again)).scores;
  ASSERT_EQ(on_card.size(), on_processor.size());
  ASSERT_GT(on_card.size(), 10u);
  for (size_t i = 0; i < on_card.size(); ++i)
    EXPECT_NEAR(on_card[i], on_processor[i], kTolerance) << i;
}

TEST_F(CardEngine, WhatThePoolKeepsIsFoundAndChangesNoAnswer) {
  EngineOptions made = options();
  made.kv.is_enabled = true;
  made.kv.device_bytes = 3 * 2 * 64 * 32 * sizeof(uint16_t);  // of the prompts below, one
  made.kv.host_bytes = 1u << 20;
  open(made);
  std::vector<std::vector<int32_t>> prompts;
  for (uint32_t user = 0; user < 2; ++user) prompts.push_back(random_prompt(40));
  const auto of_user = [&](uint32_t ticket, uint32_t user) {
    Request of = request(ticket, prompts[user]);
    of.kv.user = "user" + std::to_string(user);
    of.kv.keep_tokens = 39;
    return of;
  };
  std::vector<std::vector<uint32_t>> expected;
  for (uint32_t user = 0; user < 2; ++user) {
    expected.push_back(bits_of(serve_one(of_user(user, user))));
    ASSERT_TRUE(engine_->pool()->flush(20'000'000).is_ok());
  }
  uint32_t found[kv::kTiersMax] = {};
  for (const uint32_t user : {1u, 0u}) {  // on the device still, and not any more
    const std::string name = "user" + std::to_string(user);
    // A request that arrives sooner waits only while that is faster than computing anew: which
    // blocks it finds would depend on the clock.
    ASSERT_TRUE(engine_->pool()->prefetch(version_, name, 39).wait(20'000'000));
    const Completion completion = serve_one(of_user(10 + user, user));
    EXPECT_EQ(bits_of(completion), expected[user]);
    for (uint32_t tier = 0; tier < kv::kTiersMax; ++tier) found[tier] += completion.kv_tokens[tier];
  }
  EXPECT_EQ(found[kv::kDevice], 39u);
  EXPECT_EQ(found[kv::kDevice + 1], 39u);
}

TEST_F(CardEngine, BlocksInEightBitsComeBackCloseAndSaySo) {
  EngineOptions made = options();
  made.kv.is_enabled = true;
  made.kv.codec = KvCodec::kInt8;
  made.kv.device_bytes = 3 * 2 * 64 * 32 * sizeof(uint16_t);  // of the prompts below, one
  made.kv.host_bytes = 1u << 20;
  open(made);
  std::vector<Request> requests = {request(0, random_prompt(40)), request(1, random_prompt(40))};
  std::vector<float> scores;
  for (Request& one : requests) {
    one.kv.user = "user" + std::to_string(one.ticket);
    one.kv.keep_tokens = 39;
    scores.push_back(serve_one(one).answer.path_scores.at(0));
    ASSERT_TRUE(engine_->pool()->flush(20'000'000).is_ok());
  }
  ASSERT_TRUE(engine_->pool()->prefetch(version_, "user0", 39).wait(20'000'000));
  const Completion back = serve_one(requests[0]);
  ASSERT_TRUE(back.status.is_ok()) << back.status.message();
  EXPECT_GT(back.kv_tokens[kv::kDevice + 1], 0u);
  EXPECT_EQ(std::accumulate(back.kv_tokens.begin(), back.kv_tokens.end(), 0u), 39u);
  EXPECT_TRUE(back.kv_is_lossy);
  EXPECT_NEAR(back.answer.path_scores.at(0), scores[0], kTolerance);
}

TEST_F(CardEngine, AHeadOfTheCataloguesTokensGivesTheBitsOfTheWholeOne) {
  open(options());
  Request asked = certified(1, random_prompt(30));
  asked.norm = beam::ScoreNorm::kAllowed;
  const auto whole = bits_of(serve_one(asked));
  engine_->close();
  EngineOptions cut = options();
  for (const std::vector<int32_t>& tokens : level_tokens_)
    cut.head_tokens.insert(cut.head_tokens.end(), tokens.begin(), tokens.end());
  ASSERT_TRUE(validate(cut).is_ok());
  open(cut);
  asked.binding = binding_;
  asked.kv.version = version_;
  EXPECT_EQ(bits_of(serve_one(asked)), whole);
}

TEST_F(CardEngine, WeightsAreReplacedInPlace) {
  const model::TestFolder other;
  write(other, kSeed + 1);
  open(options());
  const auto prompt = random_prompt(20);
  const auto before = bits_of(serve_one(request(1, prompt)));
  const auto report = engine_->update_weights(other.path(), std::chrono::seconds(10));
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  const auto after = bits_of(serve_one(request(2, prompt)));
  EXPECT_NE(after, before);
  engine_->close();
  EngineOptions fresh = options();
  fresh.model_path = other.path();
  open(fresh);
  EXPECT_EQ(bits_of(serve_one(request(3, prompt))), after);
}

TEST_F(CardEngine, WithoutACardsKernelsAModelIsRefusedByField) {
  EngineOptions made = options();
  made.compute_type = model::ComputeType::kF32;
  const auto typed = open_on_card(made, queues());
  ASSERT_FALSE(typed.is_ok());
  EXPECT_NE(typed.status().message().find("computeType: expected bf16"), std::string::npos)
      << typed.status().message();
  made = options();
  made.compute_type = model::ComputeType::kW8A8;
  made.activation_scales_path = "scales.json";
  const auto scaled = open_on_card(made, queues());
  ASSERT_FALSE(scaled.is_ok());
  EXPECT_NE(scaled.status().message().find("activationScalesPath"), std::string::npos);
}

}  // namespace card_engine_test
}  // namespace tessera::engine::cuda
