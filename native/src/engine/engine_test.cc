#include "engine/engine.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "engine/test_fixture.h"

namespace tessera::engine {
namespace engine_test {

std::unique_ptr<Engine> open(const EngineOptions& options, CompletionSink& sink) {
  auto engine = open_fixture_engine(options, sink);
  if (!engine.is_ok()) throw std::runtime_error(engine.status().message());
  return std::move(engine).value();
}

/// Everything of an answer that must not depend on its company, as bits.
struct Bits {
  std::vector<uint32_t> ordinals, codes, score_bits;
  bool operator==(const Bits&) const = default;
};

Bits bits_of(const Completion& completion) {
  Bits bits{completion.answer.item_ordinals, completion.answer.path_codes, {}};
  for (const float score : completion.answer.path_scores)
    bits.score_bits.push_back(std::bit_cast<uint32_t>(score));
  return bits;
}

class EngineFixture : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void open_folder(const std::string& name) { open_with(fixture_options(folder(name))); }
  void open_with(const EngineOptions& options) {
    engine_ = open(options, sink_);
    const std::filesystem::path path = options.model_path;
    cases_ = read_cases(path);
    snapshot_ = open_fixture_catalogue(path);
    binding_ = bind_fixture(engine_->model().config, snapshot_, cases_.front());
  }
  static std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity" / name;
  }
  Request request(uint32_t ticket, size_t fixture = 0) {
    return make_request(ticket, binding_, cases_[fixture]);
  }
  SubmitOutcome submit_one(Request request) {
    std::vector<Request> requests;
    requests.push_back(std::move(request));
    return engine_->submit(std::move(requests));
  }
  /// The one completion of a request submitted alone.
  Completion answer(Request request) {
    EXPECT_EQ(submit_one(std::move(request)).accepted, 1u);
    return std::move(sink_.wait_for(1).begin()->second);
  }
  void expect_refused(Request request, const std::string& field) {
    const Completion completion = answer(std::move(request));
    EXPECT_EQ(completion.status.code(), Code::kRequestInvalid);
    EXPECT_NE(completion.status.message().find(field), std::string::npos)
        << completion.status.message();
  }

  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::vector<FixtureCase> cases_;
  std::shared_ptr<const Binding> binding_;
};

/// Scores recorded from transformers in float32.
constexpr double kScoreTolerance = 1e-4;

TEST(EngineParity, ListsEqualThoseRecordedFromTransformersInItemsAndOrder) {
  size_t checked = 0;
  for (const auto& folder : fixture_folders()) {
    SCOPED_TRACE(folder.filename().string());
    CollectingSink sink;
    const auto engine = open(fixture_options(folder), sink);
    const auto snapshot = open_fixture_catalogue(folder);
    for (const FixtureCase& fixture : read_cases(folder)) {
      std::vector<Request> requests;
      requests.push_back(
          make_request(1, bind_fixture(engine->model().config, snapshot, fixture), fixture));
      engine->submit(std::move(requests));
      const Completion completion = std::move(sink.wait_for(1).at(1));
      ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
      const std::vector<ExpectedPath> got = paths_of(completion);
      ASSERT_GE(got.size(), fixture.expected.size());
      for (size_t i = 0; i < fixture.expected.size(); ++i) {
        EXPECT_EQ(got[i].sid, fixture.expected[i].sid) << "rank " << i;
        EXPECT_NEAR(got[i].score, fixture.expected[i].score, kScoreTolerance) << "rank " << i;
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 8u) << "the recorded fixtures are missing";
}

TEST_F(EngineFixture, RefusesACardWhereItWasGivenNoWayToOpenOne) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.device = "cuda:0";
  EXPECT_EQ(Engine::open(options, sink_).status().code(), Code::kEngineUnavailable);
}

/// A model with keys and values in every layer, two that have a state, two with an encoder.
class EngineOfModel : public EngineFixture, public testing::WithParamInterface<std::string> {
 protected:
  /// Makes random tokens a prompt of the model: those of an encoder end with the start token.
  void complete(std::vector<int32_t>& prompt) const {
    const model::T5Config& t5 = engine_->model().config.t5;
    if (t5.encoder_layers == 0) return;
    const auto start = static_cast<int32_t>(t5.start_token);
    std::replace(prompt.begin(), prompt.end(), start, start + 1);
    prompt.push_back(start);
  }
};
INSTANTIATE_TEST_SUITE_P(Models, EngineOfModel,
                         testing::ValuesIn(served_here({"qwen3-tied", "qwen3-5-text",
                                                        "qwen3-next-bf16", "t5-gated-untied",
                                                        "t5-ends-bf16"})));

TEST_P(EngineOfModel, AnswersAreBitIdenticalAloneInEveryBatchAtEveryChunkAndThreadCount) {
  open_folder(GetParam());
  std::vector<Bits> alone;
  for (uint32_t i = 0; i < cases_.size(); ++i) alone.push_back(bits_of(answer(request(i, i))));
  for (const uint32_t chunk : {1u, 7u, 64u}) {
    for (const uint32_t threads : {1u, 2u}) {
      SCOPED_TRACE("chunk " + std::to_string(chunk) + ", threads " + std::to_string(threads));
      EngineOptions options = fixture_options(folder(GetParam()));
      options.prefill_chunk_tokens = chunk;
      options.thread_count = threads;
      open_with(options);
      std::vector<Request> requests;
      for (uint32_t i = 0; i < 3 * cases_.size(); ++i)
        requests.push_back(request(i, i % cases_.size()));
      std::shuffle(requests.begin(), requests.end(), std::mt19937(chunk * 2 + threads));
      engine_->submit(std::move(requests));
      const auto completions = sink_.wait_for(3 * cases_.size());
      for (const auto& [ticket, completion] : completions) {
        ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
        EXPECT_EQ(bits_of(completion), alone[ticket % cases_.size()]) << "ticket " << ticket;
      }
    }
  }
}

TEST_P(EngineOfModel, CertifiedAnswersAreTheBestOfAllPaths) {
  constexpr uint32_t kPrompts = 250, kPaths = 50;
  open_folder(GetParam());
  std::mt19937 random(58);
  const uint32_t vocab = engine_->model().config.vocab_size;
  for (uint32_t i = 0; i < kPrompts; ++i) {
    Request certified = request(1), all = request(2);
    certified.prompt.resize(1 + random() % 70);
    for (int32_t& token : certified.prompt) token = static_cast<int32_t>(random() % vocab);
    complete(certified.prompt);
    all.prompt = certified.prompt;
    certified.widths = {};
    certified.row_budget = 4096;
    certified.result_count = all.result_count = kPaths;
    all.widths = {512};
    const Completion proved = answer(std::move(certified)), whole = answer(std::move(all));
    ASSERT_TRUE(proved.status.is_ok()) << proved.status.message();
    ASSERT_TRUE(whole.status.is_ok()) << whole.status.message();
    EXPECT_TRUE(proved.certificate.is_certified);
    ASSERT_EQ(bits_of(proved), bits_of(whole)) << "prompt " << i;
  }
}

TEST_F(EngineFixture, ARequestOverALimitIsRefusedNamingTheField) {
  open_folder("qwen3-tied");
  const auto changed = [&](const auto& change) {
    Request changed_request = request(1);
    change(changed_request);
    return changed_request;
  };
  expect_refused(changed([](Request& r) { r.prompt.clear(); }), "promptTokens.length");
  expect_refused(changed([](Request& r) { r.prompt.assign(513, 3); }), "promptTokens.length");
  expect_refused(changed([](Request& r) { r.prompt[0] = -1; }), "promptTokens[0]");
  expect_refused(changed([](Request& r) { r.prompt.push_back(1 << 30); }), "promptTokens[");
  expect_refused(changed([](Request& r) { r.widths.clear(); }), "widths.length");
  expect_refused(changed([](Request& r) { r.widths.assign(99, 1); }), "widths.length");
  expect_refused(changed([](Request& r) { r.widths[0] = 0; }), "widths[0]");
  expect_refused(changed([](Request& r) { r.widths[0] = 513; }), "widths[0]");
  expect_refused(changed([](Request& r) { r.result_count = 0; }), "resultCount");
  expect_refused(changed([](Request& r) { r.result_count = 4097; }), "resultCount");
  expect_refused(changed([](Request& r) { r.attributes.resize(17); }), "attributes");
  EXPECT_TRUE(answer(changed([](Request& r) {
                r.prompt.assign(64, 3);
                r.result_count = 4096;
              })).status.is_ok());
}

TEST_F(EngineFixture, APromptOfAnEncoderHasTheStartTokenOnceAndGoesInOnePass) {
  EngineOptions options = fixture_options(folder("t5-tied"));
  options.batch_rows_max = 64;
  options.width_max = options.score_items_max = 64;
  options.prefill_chunk_tokens = 4;
  open_with(options);
  const auto prompt = [&](std::vector<int32_t> tokens) {
    Request made = request(1);
    made.widths = {8};
    made.prompt = std::move(tokens);
    return made;
  };
  expect_refused(prompt({5, 6, 7}), "promptTokens");
  expect_refused(prompt({5, 0, 7, 0}), "got it 2 times");
  expect_refused(prompt({0}), "promptTokens");
  std::vector<int32_t> longest(65, 9);
  longest.push_back(0);
  expect_refused(prompt(longest), "engine.batchRowsMax");
  longest.erase(longest.begin());
  EXPECT_TRUE(answer(prompt(longest)).status.is_ok());
}

TEST_F(EngineFixture, AnExpiredDeadlineIsAnsweredWithoutWork) {
  open_folder("qwen3-tied");
  Request late = request(1);
  late.deadline = Clock::now() - std::chrono::milliseconds(1);
  EXPECT_EQ(answer(std::move(late)).status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(engine_->stats().forward_passes, 0u);
  EXPECT_EQ(engine_->stats().expired, 1u);
}

TEST_F(EngineFixture, AFullQueueTakesFromTheFrontAndSaysSo) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.queue_capacity = 2;
  options.batch_requests_max = 1;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 5; ++i) requests.push_back(request(i));
  const SubmitOutcome outcome = engine_->submit(std::move(requests));
  EXPECT_EQ(outcome.accepted, 2u);
  EXPECT_EQ(outcome.refusal, Refusal::kQueueFull);
  const auto completions = sink_.wait_for(2);
  EXPECT_TRUE(completions.contains(0) && completions.contains(1));
}

TEST_F(EngineFixture, CancelledAndOtherRequestsEachCompleteExactlyOnce) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.batch_requests_max = 2;
  open_with(options);
  constexpr uint32_t kCount = 60;
  std::vector<Request> requests;
  std::vector<uint32_t> cancelled;
  for (uint32_t i = 0; i < kCount; ++i) {
    requests.push_back(request(i, i % cases_.size()));
    if (i % 2 == 1) cancelled.push_back(i);
  }
  ASSERT_EQ(engine_->submit(std::move(requests)).accepted, kCount);
  engine_->cancel(cancelled);
  const auto completions = sink_.wait_for(kCount);
  for (const auto& [ticket, completion] : completions) {
    const bool was_cancelled = completion.status.code() == Code::kCancelled;
    EXPECT_TRUE(completion.status.is_ok() || (was_cancelled && ticket % 2 == 1)) << ticket;
  }
  engine_->drain(std::chrono::seconds(10));
  const Stats stats = engine_->stats();
  EXPECT_EQ(stats.completed + stats.cancelled, kCount);
  EXPECT_EQ(stats.queued + stats.running, 0u);
}

TEST_F(EngineFixture, ATicketInFlightIsNotTakenTwice) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.batch_requests_max = 1;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 40; ++i) requests.push_back(request(i));
  requests.push_back(request(39));
  engine_->submit(std::move(requests));
  engine_->drain(std::chrono::seconds(30));
  EXPECT_EQ(engine_->stats().failed, 1u);
  EXPECT_EQ(engine_->stats().completed, 40u);
}

TEST_F(EngineFixture, ADrainFinishesWhatWasAcceptedAndRefusesTheRest) {
  open_folder("qwen3-tied");
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 20; ++i) requests.push_back(request(i));
  engine_->submit(std::move(requests));
  engine_->drain(std::chrono::seconds(30));
  EXPECT_EQ(sink_.wait_for(20).size(), 20u);
  const SubmitOutcome outcome = submit_one(request(99));
  EXPECT_EQ(outcome.accepted, 0u);
  EXPECT_EQ(outcome.refusal, Refusal::kDraining);
}

TEST_F(EngineFixture, ADrainWithoutTimeCancelsWhatIsLeft) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.batch_requests_max = 1;
  options.prefill_chunk_tokens = 1;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 200; ++i) requests.push_back(request(i));
  engine_->submit(std::move(requests));
  engine_->drain(std::chrono::microseconds(0));
  const Stats stats = engine_->stats();
  EXPECT_EQ(stats.completed + stats.cancelled, 200u);
  EXPECT_GT(stats.cancelled, 0u);
}

TEST_F(EngineFixture, ClosingCompletesEveryRequestAndTwiceIsHarmless) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.batch_requests_max = 1;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 100; ++i) requests.push_back(request(i));
  engine_->submit(std::move(requests));
  engine_->close();
  engine_->close();
  for (const auto& [ticket, completion] : sink_.wait_for(100)) {
    EXPECT_TRUE(completion.status.is_ok() || completion.status.code() == Code::kEngineClosed)
        << ticket;
  }
}

TEST_F(EngineFixture, OptionsOutOfRangeAreRefusedNamingTheField) {
  const EngineOptions valid = fixture_options(folder("qwen3-tied"));
  const auto refused = [&](const std::string& field, const auto& change) {
    EngineOptions options = valid;
    change(options);
    const auto engine = open_fixture_engine(options, sink_);
    ASSERT_FALSE(engine.is_ok()) << field;
    EXPECT_EQ(engine.status().code(), Code::kRequestInvalid);
    EXPECT_NE(engine.status().message().find(field), std::string::npos)
        << engine.status().message();
  };
  refused("threadCount", [](EngineOptions& o) { o.thread_count = 0; });
  refused("threadCount", [](EngineOptions& o) { o.thread_count = kThreadCountMax + 1; });
  refused("queueCapacity", [](EngineOptions& o) { o.queue_capacity = 0; });
  refused("batchRequestsMax", [](EngineOptions& o) { o.batch_requests_max = 0; });
  refused("prefillChunkTokens", [](EngineOptions& o) { o.prefill_chunk_tokens = 0; });
  refused("promptTokensMax", [](EngineOptions& o) { o.prompt_tokens_max = 0; });
  refused("widthMax", [](EngineOptions& o) { o.width_max = kWidthMax + 1; });
  refused("resultCountMax", [](EngineOptions& o) { o.result_count_max = 0; });
}

TEST_F(EngineFixture, ABindingThatDoesNotFitTheModelOrTheCatalogueIsRefused) {
  open_folder("qwen3-tied");
  const model::ModelConfig& config = engine_->model().config;
  const auto levels = [&] {
    std::vector<std::vector<int32_t>> tokens(snapshot_->depth());
    for (uint32_t level = 0; level < snapshot_->depth(); ++level) {
      for (uint32_t code = 0; code < snapshot_->level_size(level); ++code) {
        tokens[level].push_back(static_cast<int32_t>(3 + code));
      }
    }
    return tokens;
  };
  const auto refused = [&](std::vector<std::vector<int32_t>> tokens, std::vector<int32_t> terminal,
                           const std::string& what) {
    const auto binding =
        Binding::create(config, live_fixture(snapshot_), std::move(tokens), std::move(terminal));
    ASSERT_FALSE(binding.is_ok()) << what;
    EXPECT_NE(binding.status().message().find(what), std::string::npos)
        << binding.status().message();
  };
  auto few = levels();
  few.pop_back();
  refused(few, {}, "levelTokens: expected");
  auto narrow = levels();
  narrow[0].pop_back();
  refused(narrow, {}, "levelTokens[0]");
  auto outside = levels();
  outside[1][0] = static_cast<int32_t>(config.vocab_size);
  refused(outside, {}, "levelTokens[1][0]");
  auto twice = levels();
  twice[0][1] = twice[0][0];
  refused(twice, {}, "expected a token of its own");
  auto without = levels();
  for (int32_t& token : without[0]) token = kNoToken;
  refused(without, {}, "expected a token (the catalogue uses this code)");
  refused(levels(), {-5}, "terminalTokens[0]");
  refused(levels(), std::vector<int32_t>(kTerminalTokensMax + 1, 1), "terminalTokens");
  EXPECT_TRUE(Binding::create(config, live_fixture(snapshot_), levels(), {2}).is_ok());
}

/// Score requests for the SIDs of an answer.
Request scoring(Request request, const Completion& recalled) {
  request.task = &score_task();
  request.widths.clear();
  request.sid_codes = recalled.answer.path_codes;
  request.sid_offsets.assign(recalled.answer.path_offsets.begin(),
                             recalled.answer.path_offsets.end());
  return request;
}

TEST(EngineParity, ScoresOfGivenPathsAreTheBitsThatABeamSearchGivesThem) {
  for (const auto& folder : fixture_folders()) {
    SCOPED_TRACE(folder.filename().string());
    CollectingSink sink;
    const auto engine = open(fixture_options(folder), sink);
    const auto snapshot = open_fixture_catalogue(folder);
    for (const FixtureCase& fixture : read_cases(folder)) {
      for (const auto norm :
           {beam::ScoreNorm::kFull, beam::ScoreNorm::kLevel, beam::ScoreNorm::kAllowed}) {
        Request request =
            make_request(1, bind_fixture(engine->model().config, snapshot, fixture), fixture);
        request.norm = norm;
        engine->submit({request});
        const Completion recalled = std::move(sink.wait_for(1).at(1));
        Request asked = scoring(request, recalled);
        asked.sid_codes.push_back(0xFFFFFFFF);  // one more, which no catalogue has
        asked.sid_offsets.push_back(static_cast<uint32_t>(asked.sid_codes.size()));
        asked.ticket = 2;
        asked.allows_partial = true;  // of no use to a score, and no harm
        request.ticket = 3;
        engine->submit({asked, request});  // both in the same passes
        const auto completions = sink.wait_for(2);
        const Completion& scored = completions.at(2);
        ASSERT_TRUE(scored.status.is_ok()) << scored.status.message();
        EXPECT_EQ(bits_of(completions.at(3)), bits_of(recalled));
        ASSERT_EQ(scored.scores.size(), recalled.answer.path_scores.size() + 1);
        for (size_t i = 0; i < recalled.answer.path_scores.size(); ++i) {
          EXPECT_EQ(std::bit_cast<uint32_t>(scored.scores[i]),
                    std::bit_cast<uint32_t>(recalled.answer.path_scores[i]))
              << "path " << i;
        }
        EXPECT_TRUE(std::isnan(scored.scores.back()));
      }
    }
  }
}

/// Tokens of the codes of a fixture's catalogue, and of the end of its paths.
std::vector<int32_t> head_tokens_of(const catalogue::Snapshot& snapshot,
                                    const FixtureCase& fixture) {
  std::vector<int32_t> tokens = fixture.terminal_tokens;
  for (uint32_t level = 0; level < snapshot.depth(); ++level) {
    for (uint32_t code = 0; code < snapshot.level_size(level); ++code)
      tokens.push_back(fixture.level_token_base[level] + static_cast<int32_t>(code));
  }
  return tokens;
}

TEST(EngineParity, AHeadOfTheCataloguesTokensGivesTheBitsOfTheWholeOne) {
  size_t smaller = 0;
  for (const auto& folder : fixture_folders()) {
    SCOPED_TRACE(folder.filename().string());
    CollectingSink sink;
    const auto snapshot = open_fixture_catalogue(folder);
    const std::vector<FixtureCase> cases = read_cases(folder);
    EngineOptions options = fixture_options(folder);
    const auto whole = open(options, sink);
    for (const FixtureCase& fixture : cases)
      for (const int32_t token : head_tokens_of(*snapshot, fixture))
        options.head_tokens.push_back(token);
    const auto cut = open(options, sink);
    const model::HeadVocabulary& head = cut->model().vocabulary;
    const model::ModelConfig& config = cut->model().config;
    if (head.size(config.vocab_size) < config.vocab_size) ++smaller;
    EXPECT_EQ(cut->model().digest, whole->model().digest);
    for (const FixtureCase& fixture : cases) {
      for (const auto norm : {beam::ScoreNorm::kLevel, beam::ScoreNorm::kAllowed}) {
        Request request = make_request(1, bind_fixture(config, snapshot, fixture), fixture);
        request.norm = norm;
        whole->submit({request});
        const Completion expected = std::move(sink.wait_for(1).at(1));
        ASSERT_TRUE(expected.status.is_ok()) << expected.status.message();
        request.binding = bind_fixture(config, snapshot, fixture, head);
        cut->submit({request});
        const Completion recalled = std::move(sink.wait_for(1).at(1));
        ASSERT_TRUE(recalled.status.is_ok()) << recalled.status.message();
        EXPECT_EQ(bits_of(recalled), bits_of(expected));
        cut->submit({scoring(request, recalled)});
        const Completion scored = std::move(sink.wait_for(1).at(1));
        EXPECT_EQ(scored.scores, recalled.answer.path_scores);
      }
    }
  }
  EXPECT_GE(smaller, 5u);
}

TEST_F(EngineFixture, WhatACutHeadHasNotIsRefusedNamingTheField) {
  EngineOptions options = fixture_options(folder("mistral-bf16"));
  options.head_tokens = {3};  // and its panel: 0..31 of 96
  open_with(options);
  const model::ModelConfig& config = engine_->model().config;
  const model::HeadVocabulary& head = engine_->model().vocabulary;
  Request full = request(1);
  full.norm = beam::ScoreNorm::kFull;
  expect_refused(full, "scoreNorm: expected level or allowed");
  Request labels = request(2);
  labels.task = &relevance_task();
  labels.binding = nullptr;
  labels.norm = beam::ScoreNorm::kLevel;
  labels.label_tokens = {31, 32};
  expect_refused(labels, "labelTokens[1]: expected a token that the head was loaded with, got 32");
  labels.label_tokens = {31, 0};
  EXPECT_TRUE(answer(labels).status.is_ok());
  const auto bound = [&](int32_t base, std::vector<int32_t> terminal) {
    std::vector<std::vector<int32_t>> levels(snapshot_->depth());
    for (uint32_t level = 0; level < snapshot_->depth(); ++level)
      for (uint32_t code = 0; code < snapshot_->level_size(level); ++code)
        levels[level].push_back(base + static_cast<int32_t>(code));
    const auto binding =
        Binding::create(config, live_fixture(snapshot_), levels, std::move(terminal), head);
    return binding.is_ok() ? Status::ok() : binding.status();
  };
  EXPECT_TRUE(bound(3, {2}).is_ok());
  EXPECT_NE(bound(40, {2}).message().find("levelTokens[0][0]: expected a token that the head"),
            std::string::npos);
  EXPECT_NE(bound(3, {60}).message().find("terminalTokens[0]: expected a token that the head"),
            std::string::npos);
}

TEST_F(EngineFixture, ScoreRequestsOverTheirLimitAreRefusedNamingTheField) {
  open_folder("qwen3-tied");
  Request none = request(1);
  none.task = &score_task();
  none.sid_offsets = {0};
  expect_refused(none, "sids.length");
  none.sid_offsets.assign(engine_->options().score_items_max + 2, 0);
  expect_refused(none, "sids.length");
  Request urgent = request(1);
  urgent.priority = kPriorityClasses;
  expect_refused(urgent, "priority");
}

TEST_F(EngineFixture, ADeadlineThatNoPassCanMeetIsRefusedBeforeAnyWork) {
  open_folder("qwen3-tied");
  Request hopeless = request(1);
  hopeless.prompt.assign(100, 3);
  hopeless.widths = {512};
  hopeless.deadline = Clock::now() + std::chrono::microseconds(300);
  EXPECT_EQ(answer(std::move(hopeless)).status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(engine_->stats().forward_passes, 0u);
}

TEST_F(EngineFixture, WhoCannotBeServedInTimeForThoseAheadIsToldWhenToRetry) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.batch_requests_max = 1;
  options.queue_capacity = 5000;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 4000; ++i) requests.push_back(request(i));
  ASSERT_EQ(engine_->submit(std::move(requests)).accepted, 4000u);
  Request late = request(9999);
  late.deadline = Clock::now() + std::chrono::milliseconds(40);
  ASSERT_EQ(submit_one(std::move(late)).accepted, 1u);
  Completion refused;
  for (bool found = false; !found;) {
    for (auto& [ticket, completion] : sink_.wait_for(1)) {
      if (ticket != 9999) continue;
      refused = std::move(completion);
      found = true;
    }
  }
  EXPECT_EQ(refused.status.code(), Code::kEngineOverloaded);
  EXPECT_GT(refused.retry_after_us, 0u);
  engine_->drain(std::chrono::microseconds(0));
}

TEST_F(EngineFixture, AFullQueueSaysWhenAPlaceMayBeFree) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.queue_capacity = 1;
  open_with(options);
  const SubmitOutcome outcome = engine_->submit({request(0), request(1), request(2), request(3)});
  EXPECT_EQ(outcome.refusal, Refusal::kQueueFull);
  EXPECT_GT(outcome.retry_after_us, 0u);
}

TEST_F(EngineFixture, ARequestThatCanNeverHaveItsMemoryIsRefusedNamingTheLimit) {
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.kv_bytes_max = 4096;
  open_with(options);
  expect_refused(request(1), "engine.kvBytesMax");
}

TEST_F(EngineFixture, NothingIsTakenOnceNewRequestsAreRefused) {
  open_folder("qwen3-tied");
  engine_->refuse_new();
  EXPECT_EQ(submit_one(request(1)).refusal, Refusal::kDraining);
}

TEST_F(EngineFixture, BatchesFilledAsAWholeGiveTheSameAnswers) {
  open_folder("qwen3-tied");
  const Bits alone = bits_of(answer(request(0)));
  EngineOptions options = fixture_options(folder("qwen3-tied"));
  options.continuous_batching = false;
  options.batch_requests_max = 3;
  options.pass_time_target_us = 1;
  open_with(options);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 10; ++i) requests.push_back(request(i));
  engine_->submit(std::move(requests));
  for (const auto& [ticket, completion] : sink_.wait_for(10)) EXPECT_EQ(bits_of(completion), alone);
}

TEST(RequestQueue, ClassesTakeTurnsByTheirWeightsAndTheOldestOfAClassGoesFirst) {
  RequestQueue queue;
  QueueTally tally;
  const auto push = [&](uint32_t ticket, uint8_t priority) {
    Request waiting;
    waiting.ticket = ticket;
    waiting.priority = priority;
    queue.push({.request = std::move(waiting), .alone_us = 8});
    tally.add(priority, 8);
  };
  for (uint32_t i = 0; i < 30; ++i) push(i, static_cast<uint8_t>(i % 3));
  EXPECT_DOUBLE_EQ(tally.waiting_us(), 240);
  EXPECT_DOUBLE_EQ(tally.ahead_us(0, 8), 80 + 44 + 22);
  EXPECT_DOUBLE_EQ(tally.ahead_us(2, 8), 240);
  std::array<uint32_t, 3> taken{}, last{};
  for (int i = 0; i < 14; ++i, queue.pop()) {
    const Request& request = queue.next().request;
    EXPECT_TRUE(taken[request.priority] == 0 || request.ticket > last[request.priority]);
    last[request.priority] = request.ticket;
    ++taken[request.priority];
    tally.remove(request.priority, 8);
  }
  EXPECT_EQ(taken, (std::array<uint32_t, 3>{8, 4, 2}));
  queue.erase_if([&](const RequestQueue::Waiting& waiting) {
    if (waiting.request.priority != 0) return false;
    tally.remove(0, waiting.alone_us);
    return true;
  });
  EXPECT_DOUBLE_EQ(tally.waiting_us(), (6 + 8) * 8);
  EXPECT_EQ(tally.size(), 14u);
}

}  // namespace engine_test
}  // namespace tessera::engine
