// The engine on a card, or on emulated threads: a request's answer is, bit for bit, that of its
// search alone (test_card_recall.h), in any batch, in any chunks, with any part of its prompt from
// the pool; a fault of the card is reported and spoils nothing else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <numeric>
#include <string_view>
#include <thread>

#include "beam/random_case.h"
#include "cuda/device/test_card.h"
#include "cuda/engine/open_on_card.h"
#include "cuda/engine/test_card_recall.h"
#include "cuda/kernels/test_forward_kernels.h"
#include "cuda/kernels/test_search.h"
#include "device/backends.h"
#include "engine/engine.h"
#include "model/test_model.h"

extern "C" void tessera_check_rows(tessera::ops::cuda::RowCheck);

namespace tessera::engine::cuda {
namespace card_engine_test {

using beam::RandomCase;
using beam::ScoreNorm;
using device::cuda::EmulatedQueue;
using device::cuda::Queue;
using device::cuda::Recording;

constexpr uint32_t kContext = 96, kWidth = 6, kKeysMax = 4096;
constexpr uint16_t kNan = 0x7FC0;  // of BF16

/// Faults that the tests inject into a card.
struct Faults {
  std::atomic<bool> is_broken{false};      // kernels end with an error
  std::atomic<bool> is_full{false};        // no memory is left
  std::atomic<uint32_t> struck_passes{0};  // whose first row is not a number
  std::atomic<Clock::time_point> held_until{Clock::time_point{}};  // no kernel begins before
};

/// A queue with the faults, whatever it runs on.
class WatchedQueue final : public Queue {
 public:
  WatchedQueue(std::unique_ptr<Queue> queue, std::shared_ptr<Faults> faults)
      : queue_(std::move(queue)), faults_(std::move(faults)) {}

  Result<void*> allocate(uint64_t bytes) override {
    if (faults_->is_full) {
      return Status(Code::kEngineOverloaded, "no " + std::to_string(bytes) + " bytes are left");
    }
    return queue_->allocate(bytes);
  }
  Status launch(const char* kernel, const device::cuda::LaunchShape& shape,
                std::span<void* const> arguments) override {
    if (faults_->is_broken) return {Code::kEngineUnavailable, "kernels: as the test wants"};
    while (Clock::now() < faults_->held_until.load()) std::this_thread::yield();
    if (faults_->struck_passes > 0 && std::string_view(kernel) == model::cuda::kCheckRows.name) {
      --faults_->struck_passes;
      const auto* check = static_cast<const ops::cuda::RowCheck*>(arguments[0]);
      uint16_t* last = const_cast<uint16_t*>(check->rows) + check->size - 1;
      TESSERA_RETURN_IF_ERROR(queue_->copy_in(last, &kNan, sizeof(kNan)));
    }
    return queue_->launch(kernel, shape, arguments);
  }

  void release(void* memory) override { queue_->release(memory); }
  Result<uint64_t> bytes_left() const override { return queue_->bytes_left(); }
  Status copy_in(void* to, const void* from, uint64_t bytes) override {
    return queue_->copy_in(to, from, bytes);
  }
  Status copy_out(void* to, const void* from, uint64_t bytes) override {
    return queue_->copy_out(to, from, bytes);
  }
  Status copy_within(void* to, const void* from, uint64_t bytes) override {
    return queue_->copy_within(to, from, bytes);
  }
  Status zero(void* at, uint64_t bytes) override { return queue_->zero(at, bytes); }
  Status finish() override { return queue_->finish(); }
  Result<void*> allocate_pinned(uint64_t bytes) override { return queue_->allocate_pinned(bytes); }
  void release_pinned(void* memory) override { queue_->release_pinned(memory); }
  Status begin_recording() override { return queue_->begin_recording(); }
  Result<std::unique_ptr<Recording>> end_recording() override { return queue_->end_recording(); }
  Status replay(const Recording& recording) override { return queue_->replay(recording); }

 private:
  const std::unique_ptr<Queue> queue_;
  const std::shared_ptr<Faults> faults_;
};

std::unique_ptr<Queue> open_emulation(uint64_t seed) {
  auto queue = std::make_unique<EmulatedQueue>(seed);
  model::cuda::add_forward_kernels(*queue);
  queue->add(model::cuda::kCheckRows, tessera_check_rows);
  beam::cuda::add_search_kernels(*queue);
  return queue;
}

std::unique_ptr<Queue> open_queue(uint64_t seed, const std::shared_ptr<Faults>& faults) {
  std::unique_ptr<Queue> queue;
  if (device::cuda::on_card()) {
    queue = device::cuda::open_card_queue();
  } else {
    queue = open_emulation(seed);
  }
  return std::make_unique<WatchedQueue>(std::move(queue), faults);
}

class Sink final : public CompletionSink {
 public:
  void complete(Completion completion) override {
    const MutexLock lock(mutex_);
    const uint32_t ticket = completion.ticket;
    completions_.emplace(ticket, std::move(completion));
    arrived_.notify_all();
  }
  std::map<uint32_t, Completion> wait_for(size_t count) {
    MutexLock lock(mutex_);
    lock.wait(arrived_, [&] { return completions_.size() >= count; });
    return std::exchange(completions_, {});
  }

 private:
  Mutex mutex_;
  std::condition_variable arrived_;
  std::map<uint32_t, Completion> completions_;
};

class CardEngine : public testing::Test {
 protected:
  static constexpr uint64_t kSeed = 5;

  CardEngine() : random_(kSeed) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("tessera-card-engine-" + std::to_string(::getpid()));
    do {  // as deep as SIDs mostly are: each level is a pass, which takes a while here
      random_case_ = beam::random_case(random_, path);
      std::filesystem::remove(path);
    } while (random_case_.level_sizes.size() != 3);
    int32_t token = 3;
    for (const uint32_t size : random_case_.level_sizes) {
      level_tokens_.emplace_back(size);
      std::iota(level_tokens_.back().begin(), level_tokens_.back().end(), token);
      token += static_cast<int32_t>(size);
    }
    vocab_ = static_cast<uint32_t>(token);
    model::TestShape shape;
    shape.vocab = vocab_;
    shape.hidden = 40;
    shape.layers = 1;
    shape.heads = 2;
    shape.kv_heads = 1;
    shape.head_dim = 64;
    shape.intermediate = 48;
    folder_.write_model(shape, model::test_tensors(shape, tensor::DType::kBf16, kSeed));
  }
  ~CardEngine() override {
    if (engine_ != nullptr) engine_->close();
  }

  EngineOptions options() const {
    EngineOptions options;
    options.model_path = folder_.path();
    options.compute_type = model::ComputeType::kBf16;
    options.queue_capacity = 64;
    options.batch_requests_max = 3;
    options.batch_rows_max = 40;
    options.prefill_chunk_tokens = 23;
    options.kv_bytes_max = 1u << 26;
    options.kv.device_bytes = 1u << 22;
    options.prompt_tokens_max = kContext;
    options.width_max = kWidth;
    options.result_count_max = 64;
    options.score_items_max = 1;
    return options;
  }
  CardQueues queues() const {
    return {"emulated", open_queue(kSeed + 1, faults_), open_queue(kSeed + 2, faults_),
            std::make_shared<EmulatedQueue>()};
  }
  void open(EngineOptions options) {
    auto parts = open_on_card(options, queues());
    ASSERT_TRUE(parts.is_ok()) << parts.status().message();
    engine_ = Engine::open(options, std::move(parts).value(), sink_);
    auto live = catalogue::LiveCatalogue::open(random_case_.snapshot, {});
    binding_ = std::move(Binding::create(engine_->model().config, std::move(live).value(),
                                         level_tokens_, {}))
                   .value();
    version_ = engine_->add_version("template", "codebook").value();
  }

  std::vector<int32_t> random_prompt(uint32_t length) {
    std::vector<int32_t> prompt(length);
    for (int32_t& token : prompt) token = static_cast<int32_t>(random_() % vocab_);
    return prompt;
  }
  Request request(uint32_t ticket, std::vector<int32_t> prompt) const {
    Request request;
    request.ticket = ticket;
    request.binding = binding_;
    request.prompt = std::move(prompt);
    request.widths = {kWidth};
    request.result_count = 64;
    request.items_per_sid = 8;
    request.kv.version = version_;
    request.deadline = Clock::now() + std::chrono::hours(1);
    return request;
  }
  std::map<uint32_t, Completion> serve(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }
  Completion serve_one(Request request) {
    std::vector<Request> requests;
    requests.push_back(std::move(request));
    return std::move(serve(std::move(requests)).begin()->second);
  }

  /// The answer of the request's search alone, its prompt in one piece.
  beam::Exported alone(const Request& request) {
    if (recall_ == nullptr) {
      alone_queue_ = open_queue(kSeed + 3, faults_);
      alone_decoder_ = std::move(model::cuda::CardDecoder::load(
                                     folder_.path(), {kContext, kContext, kWidth}, *alone_queue_))
                           .value();
      alone_catalogue_ = std::move(CardCatalogue::open(level_tokens_, {}, *alone_queue_)).value();
      recall_ = std::move(CardRecall::make({kContext, kWidth, kKeysMax}, *alone_decoder_,
                                           *alone_catalogue_, *alone_queue_))
                    .value();
      processor_ = std::move(device::open_cpu_device({})).value();
    }
    const catalogue::Reach reach =
        request.reach.is_set() ? request.reach : request.binding->reach();
    const auto version = alone_catalogue_->pin(reach.shared_view()).value();
    const auto found = recall_->search({.prompt = request.prompt,
                                        .widths = request.widths,
                                        .version = version.get(),
                                        .eligibility = reach.eligibility(),
                                        .norm = request.norm});
    EXPECT_TRUE(found.is_ok()) << found.status().message();
    return beam::export_items(found.value(), reach, {request.result_count, request.items_per_sid},
                              processor_->threads());
  }
  void expect_equal(const Completion& completion, const beam::Exported& expected) {
    ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
    EXPECT_GT(expected.path_scores.size(), 0u);
    EXPECT_EQ(completion.answer.path_codes, expected.path_codes);
    ASSERT_EQ(completion.answer.path_scores.size(), expected.path_scores.size());
    for (size_t i = 0; i < expected.path_scores.size(); ++i) {
      EXPECT_EQ(std::bit_cast<uint32_t>(completion.answer.path_scores[i]),
                std::bit_cast<uint32_t>(expected.path_scores[i]));
    }
  }

  std::mt19937_64 random_;
  RandomCase random_case_;
  std::vector<std::vector<int32_t>> level_tokens_;
  uint32_t vocab_ = 0;
  model::TestFolder folder_;
  std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
  Sink sink_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const Binding> binding_;
  kv::Version version_ = 0;

  std::unique_ptr<Queue> alone_queue_;
  std::unique_ptr<model::cuda::CardDecoder> alone_decoder_;
  std::unique_ptr<CardCatalogue> alone_catalogue_;
  std::unique_ptr<CardRecall> recall_;
  std::unique_ptr<device::Device> processor_;
};

TEST_F(CardEngine, AnAnswerIsThatOfTheSearchAloneInAnyBatchAndChunks) {
  open(options());
  std::vector<Request> requests;
  for (const uint32_t length : {1u, 40u, 31u, 32u, 9u}) {
    requests.push_back(request(static_cast<uint32_t>(requests.size()), random_prompt(length)));
  }
  requests[1].widths = {2, kWidth};
  requests[2].norm = ScoreNorm::kAllowed;
  requests[3].norm = ScoreNorm::kLevel;
  requests[4].reach = catalogue::Reach(binding_->reach().shared_view(),
                                       beam::random_eligibility(random_case_, random_, 2));
  const std::vector<Request> asked = requests;
  const auto completions = serve(std::move(requests));
  for (const Request& request : asked) {
    SCOPED_TRACE("request " + std::to_string(request.ticket));
    const Completion& completion = completions.at(request.ticket);
    expect_equal(completion, alone(request));
    EXPECT_EQ(completion.completeness, Completeness::kWhole);
    EXPECT_LE(completion.widths_used.size(), level_tokens_.size());
    EXPECT_LE(*std::max_element(completion.widths_used.begin(), completion.widths_used.end()),
              kWidth);
  }
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
    Request made_request = request(ticket, prompts[user]);
    made_request.kv.user = "user" + std::to_string(user);
    made_request.kv.keep_tokens = 39;
    return made_request;
  };
  std::vector<beam::Exported> expected;
  for (uint32_t user = 0; user < 2; ++user) {
    expected.push_back(alone(of_user(user, user)));
    expect_equal(serve_one(of_user(user, user)), expected.back());
    ASSERT_TRUE(engine_->pool()->flush(20'000'000).is_ok());
  }
  uint32_t found[kv::kTiersMax] = {};
  for (const uint32_t user : {1u, 0u}) {  // on the device still, and not any more
    const std::string name = "user" + std::to_string(user);
    engine_->prefetch(10 + user, version_, name);
    // A request that arrives sooner waits only while that is faster than computing anew: which
    // blocks it finds would depend on the clock.
    ASSERT_TRUE(engine_->pool()->prefetch(version_, name, 39).wait(20'000'000));
    const Completion completion = serve_one(of_user(10 + user, user));
    expect_equal(completion, expected[user]);
    for (uint32_t tier = 0; tier < kv::kTiersMax; ++tier) found[tier] += completion.kv_tokens[tier];
  }
  EXPECT_EQ(found[kv::kDevice], 39u);
  EXPECT_EQ(found[kv::kDevice + 1], 39u);
}

TEST_F(CardEngine, WhoIsCancelledOrLateGivesEverythingBack) {
  EngineOptions made = options();
  made.prefill_chunk_tokens = 8;
  open(made);
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 3; ++i) requests.push_back(request(i, random_prompt(24)));
  // Its passes begin behind its deadline, however fast they are; nobody is ahead of it, so that it
  // is not refused for those.
  requests[0].deadline = Clock::now() + std::chrono::milliseconds(100);
  faults_->held_until = requests[0].deadline;
  const Request asked = requests[2];
  ASSERT_EQ(engine_->submit(std::move(requests)).accepted, 3u);
  const uint32_t cancelled[] = {1};
  engine_->cancel(cancelled);
  const auto completions = sink_.wait_for(3);
  EXPECT_EQ(completions.at(0).status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(completions.at(1).status.code(), Code::kCancelled);
  expect_equal(completions.at(2), alone(asked));
}

TEST_F(CardEngine, ARowThatIsNotFiniteEndsItsRequestAloneAndIsNotKept) {
  EngineOptions made = options();
  made.kv.is_enabled = true;
  open(made);
  Request struck = request(1, random_prompt(33));
  struck.kv.user = "user";
  struck.kv.keep_tokens = 33;
  const Request again = struck;
  faults_->struck_passes = 1;
  EXPECT_EQ(serve_one(std::move(struck)).status.code(), Code::kModelNotFinite);
  const Completion completion = serve_one(again);
  expect_equal(completion, alone(again));
  EXPECT_EQ(std::accumulate(completion.kv_tokens.begin(), completion.kv_tokens.end(), 0u), 0u);
}

TEST_F(CardEngine, AKernelThatFailsEndsAllForGood) {
  open(options());
  faults_->is_broken = true;
  const Completion ended = serve_one(request(1, random_prompt(8)));
  EXPECT_EQ(ended.status.code(), Code::kEngineUnavailable);
  EXPECT_EQ(ended.status.message(), "kernels: as the test wants");
  faults_->is_broken = false;
  const Completion refused = serve_one(request(2, random_prompt(8)));
  EXPECT_EQ(refused.status.code(), Code::kEngineUnavailable);
  EXPECT_EQ(refused.status.message(), "kernels: as the test wants");
}

TEST_F(CardEngine, WithoutMemoryARequestIsRefusedAndServingGoesOn) {
  open(options());
  faults_->is_full = true;
  const Completion refused = serve_one(request(1, random_prompt(8)));
  EXPECT_EQ(refused.status.code(), Code::kEngineOverloaded);
  EXPECT_NE(refused.status.message().find("bytes are left"), std::string::npos);
  faults_->is_full = false;
  const Request asked = request(2, random_prompt(8));
  expect_equal(serve_one(asked), alone(asked));
  faults_->is_full = true;
  EngineOptions made = options();
  const auto parts = open_on_card(made, queues());
  ASSERT_FALSE(parts.is_ok());
  EXPECT_EQ(parts.status().code(), Code::kEngineOverloaded);
}

TEST_F(CardEngine, WhatACardDoesNotDoIsRefusedByName) {
  open(options());
  Request watched = request(1, random_prompt(3));
  watched.wants_tree = true;
  const Completion refused = serve_one(std::move(watched));
  EXPECT_EQ(refused.status.code(), Code::kRequestInvalid);
  EXPECT_EQ(refused.status.message().find("wantsTree: "), 0u);
  Request scored = request(2, random_prompt(3));
  scored.task = &score_task();
  scored.sid_codes = {0};
  scored.sid_offsets = {0, 1};
  EXPECT_EQ(serve_one(std::move(scored)).status.message().find("kind: "), 0u);
  EXPECT_EQ(engine_->load_adapter("folder", {}).status().code(), Code::kAdapterInvalid);
  EXPECT_EQ(engine_->update_weights("folder", std::chrono::seconds(1)).status().code(),
            Code::kModelInvalid);
  EngineOptions made = options();
  made.compute_type = model::ComputeType::kF32;
  const auto parts = open_on_card(made, queues());
  ASSERT_FALSE(parts.is_ok());
  EXPECT_EQ(parts.status().message(),
            "engineOpen.options.computeType: expected bf16 on a card, got f32");
}

}  // namespace card_engine_test
}  // namespace tessera::engine::cuda
