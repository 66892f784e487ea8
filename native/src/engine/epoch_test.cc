// Requests that share prefixes, enter and leave at any time and have rows struck, against the same
// requests computed alone: equal bits, and afterwards every block is free.
#include "engine/epoch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "engine/loop.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace epoch_test {

std::vector<uint32_t> bits_of(const Completion& completion) {
  std::vector<uint32_t> bits = completion.answer.item_ordinals;
  for (const float score : completion.answer.path_scores)
    bits.push_back(std::bit_cast<uint32_t>(score));
  for (const float score : completion.scores) bits.push_back(std::bit_cast<uint32_t>(score));
  return bits;
}

/// Strikes the given rows and leaves not-a-number in the blocks behind it.
class Spoiler final : public RowFaults {
 public:
  Spoiler(const model::Decoder& decoder, const attention::BlockLayout& layout)
      : decoder_(decoder), layout_(layout) {}

  double chance = 0;
  std::mt19937 random{1};

  bool strikes(uint32_t, const attention::RowGroup& rows) override {
    if (std::uniform_real_distribution<double>(0, 1)(random) >= chance) return false;
    if (rows.beam != nullptr) return true;
    spoil(*rows.prompt, rows.first_position, rows.row_count);
    for (const attention::Mirror& mirror : rows.mirrors)
      spoil(*mirror.to, mirror.first_position, mirror.count);
    return true;
  }

  void forget() { spoiled_.clear(); }
  /// True when nothing is left of what was spoiled.
  bool is_taken_back() const {
    const TouchedMemory touched(decoder_);
    return std::none_of(spoiled_.begin(), spoiled_.end(),
                        [](const float* value) { return std::isnan(*value); });
  }

 private:
  /// One value of each position: enough to poison the block.
  void spoil(const attention::PromptKv& prompt, uint32_t first, uint32_t count) {
    const TouchedMemory touched(decoder_);
    for (uint32_t position = first; position < first + count; ++position) {
      auto* block = static_cast<char*>(prompt.blocks[position / attention::kBlockPositions]);
      const uint32_t slot = position % attention::kBlockPositions;
      const uint64_t offset =
          layout_.value_offset(0, 0) + device::panel_offset(layout_.panel_type(), slot, 0);
      spoiled_.push_back(reinterpret_cast<float*>(block + offset));
      *spoiled_.back() = std::numeric_limits<float>::quiet_NaN();
    }
  }

  const model::Decoder& decoder_;
  const attention::BlockLayout layout_;
  std::vector<float*> spoiled_;
};

class EpochFixture : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    options_.prefill_chunk_tokens = 48;
    open();
    fixture_ = read_cases(folder).front();
    binding_ = bind_fixture(decoder_->config(), open_fixture_catalogue(folder), fixture_);
  }

  /// Opens decoder and pool anew.
  void open() {
    opened_.pool.reset();  // its blocks lie in the decoder's memory
    opened_.decoder.reset();
    opened_ = open_fixture_decoder(options_);
    decoder_ = opened_.decoder.get();
    pool_ = opened_.pool.get();
    spoiler_ = std::make_unique<Spoiler>(*decoder_, opened_.block_layout);
  }

  std::unique_ptr<Loop> make_loop(LoopCounters& counters) {
    auto passes = std::make_unique<Passes>(
        *decoder_,
        decoder_->make_memory(options_.batch_rows_max, options_.prompt_tokens_max, 0).value(),
        spoiler_.get());
    return std::make_unique<Loop>(options_, *opened_.processor, *decoder_, *pool_,
                                  std::move(passes), scheduler::PassCost{}, counters);
  }

  Request make(uint32_t ticket, std::vector<int32_t> prompt, uint32_t width) const {
    Request request = make_request(ticket, binding_, fixture_);
    request.prompt = std::move(prompt);
    request.widths = {width};
    request.submitted = Clock::now();
    return request;
  }

  std::vector<uint32_t> alone(const Request& request) {
    LoopCounters counters;
    const auto loop = make_loop(counters);
    std::vector<Completion> completed;
    admit(*loop, request);
    while (loop->running() > 0) loop->run_pass(completed);
    EXPECT_EQ(completed.size(), 1u);
    EXPECT_TRUE(completed.front().status.is_ok());
    return bits_of(completed.front());
  }

  /// The request as one of three users' whose histories the pool keeps.
  Request of_user(Request request, std::mt19937& random) const {
    const auto size = static_cast<uint32_t>(request.prompt.size());
    request.kv.user = "user " + std::to_string(random() % 3);
    request.kv.prefix_tokens = random() % 2 == 0 ? 0 : 32;
    request.kv.keep_tokens = size - static_cast<uint32_t>(random() % 4);
    return request;
  }

  static void admit(Loop& loop, Request request) {
    Status status;
    ASSERT_EQ(loop.admit(request, Clock::now(), status), Admission::kAdmitted);
  }

  void expect_nothing_held(const Loop& loop) const {
    EXPECT_EQ(loop.budget().blocks(), 0u);
    EXPECT_EQ(pool_->metrics().leases, 0u);
    EXPECT_EQ(pool_->check_integrity().faults, std::vector<std::string>());
    if (options_.kv.is_enabled) return;
    EXPECT_EQ(pool_->metrics().tiers[0].used_blocks, 0u);
  }

  uint32_t vocab() const { return decoder_->config().vocab_size; }
  std::vector<int32_t> tokens(uint32_t count, uint32_t salt = 0) const {
    std::vector<int32_t> result(count);
    for (uint32_t i = 0; i < count; ++i)
      result[i] = static_cast<int32_t>((i * 31 + salt * 17 + 5) % (vocab() - 8));
    return result;
  }
  /// The first `shared` tokens in common, then its own.
  std::vector<int32_t> branch(uint32_t shared, uint32_t count, uint32_t salt) const {
    std::vector<int32_t> result = tokens(count, salt);
    const std::vector<int32_t> common = tokens(shared);
    std::copy(common.begin(), common.end(), result.begin());
    if (shared < count) result[shared] = static_cast<int32_t>(vocab() - salt);
    return result;
  }

  EngineOptions options_;
  FixtureDecoder opened_;
  model::Decoder* decoder_ = nullptr;
  FixtureCase fixture_;
  std::shared_ptr<const Binding> binding_;
  kv::Pool* pool_ = nullptr;
  std::unique_ptr<Spoiler> spoiler_;
};

TEST_F(EpochFixture, ASharedPrefixIsComputedOnceToTheExactTokenHoweverItMeetsBlocks) {
  for (const uint32_t shared : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 95u}) {
    for (const uint32_t passes_between : {0u, 1u, 2u, 9u}) {
      SCOPED_TRACE(std::to_string(shared) + " shared, " + std::to_string(passes_between) +
                   " passes between");
      const std::vector<Request> requests{make(0, branch(shared, 100, 1), 8),
                                          make(1, branch(shared, 100, 2), 16),
                                          make(2, branch(shared, shared + 1, 3), 4)};
      LoopCounters counters;
      const auto loop = make_loop(counters);
      std::vector<Completion> completed;
      for (const Request& request : requests) {
        admit(*loop, request);
        for (uint32_t i = 0; i < passes_between && loop->running() > 0; ++i)
          loop->run_pass(completed);
      }
      while (loop->running() > 0) loop->run_pass(completed);
      ASSERT_EQ(completed.size(), 3u);
      for (const Completion& completion : completed)
        EXPECT_EQ(bits_of(completion), alone(requests[completion.ticket])) << completion.ticket;
      if (passes_between <= 2) {  // nobody had left before the last one arrived
        EXPECT_EQ(counters.prefill_tokens, shared + 2 * (100 - shared) + 1);
        EXPECT_EQ(counters.prefix_reused_tokens, 2 * shared);
      }
      expect_nothing_held(*loop);
    }
  }
}

TEST_F(EpochFixture, ALeaderThatLeavesHurtsNoFollower) {
  const Request leader = make(0, branch(90, 100, 1), 8);
  const Request follower = make(1, branch(90, 99, 2), 8);
  const Request grandchild = make(2, branch(70, 80, 3), 8);
  LoopCounters counters;
  const auto loop = make_loop(counters);
  std::vector<Completion> completed;
  admit(*loop, leader);
  admit(*loop, follower);
  admit(*loop, grandchild);
  loop->run_pass(completed);
  loop->sweep(
      [](const Request& request) {
        return request.ticket == 0 ? Status(Code::kCancelled, "gone") : Status::ok();
      },
      completed);
  while (loop->running() > 0) loop->run_pass(completed);
  ASSERT_EQ(completed.size(), 3u);
  for (const Completion& completion : completed) {
    if (completion.ticket == 0) continue;
    EXPECT_EQ(bits_of(completion), alone(completion.ticket == 1 ? follower : grandchild));
  }
  EXPECT_EQ(counters.prefill_tokens, 90u + 9u + 10u);
  expect_nothing_held(*loop);
}

TEST_F(EpochFixture, WhoBuiltOnRowsThatFailedComputesAgainAndAnswersTheSame) {
  options_.prefill_chunk_tokens = 400;
  const Request leader = make(0, branch(40, 100, 1), 8);
  const Request follower = make(1, branch(40, 90, 2), 8);
  LoopCounters counters;
  const auto loop = make_loop(counters);
  std::vector<Completion> completed;
  admit(*loop, leader);
  admit(*loop, follower);
  const std::vector<uint32_t> expected = alone(follower);
  spoiler_->chance = 1;  // both compute in this pass; the follower's rows stand on the leader's
  loop->run_pass(completed);
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(completed[0].ticket, 0u);
  EXPECT_EQ(completed[0].status.code(), Code::kModelNotFinite);
  EXPECT_GT(counters.rolled_back_tokens, 0u);
  EXPECT_TRUE(spoiler_->is_taken_back());
  spoiler_->chance = 0;
  completed.clear();
  while (loop->running() > 0) loop->run_pass(completed);
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_TRUE(completed[0].status.is_ok());
  EXPECT_EQ(bits_of(completed[0]), expected);
  expect_nothing_held(*loop);
}

TEST_F(EpochFixture, AnyMixOfArrivalsFailuresAndCancellationsAnswersAsAlone) {
  std::map<std::pair<std::vector<int32_t>, uint32_t>, std::vector<uint32_t>> known;
  uint64_t answered = 0, failed = 0, reused = 0;
  const uint32_t seeds = 25;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    spoiler_->chance = 0;
    std::mt19937 random(seed);
    options_.prefill_chunk_tokens = 8 + static_cast<uint32_t>(random() % 60);
    options_.batch_requests_max = 2 + static_cast<uint32_t>(random() % 6);
    options_.kv.is_enabled = false;
    std::vector<Request> requests;
    for (uint32_t i = 0; i < 12; ++i) {
      const uint32_t lengths[] = {31, 32, 33, 63, 64, 65};
      const uint32_t shared = lengths[random() % 6];
      const auto count = static_cast<uint32_t>(shared + 1 + random() % 30);
      const auto salt = static_cast<uint32_t>(1 + random() % 3);
      requests.push_back(make(i, branch(shared, count, salt), 4 + 4 * (i % 2)));
      auto& answer = known[{requests[i].prompt, requests[i].widths[0]}];
      if (answer.empty()) answer = alone(requests[i]);
    }
    options_.kv.is_enabled = seed % 2 == 0;
    open();
    spoiler_->random.seed(seed);
    spoiler_->chance = seed % 3 == 0 ? 0 : 0.05;
    if (options_.kv.is_enabled) {
      for (Request& request : requests) request = of_user(request, random);
    }
    spoiler_->forget();
    LoopCounters counters;
    const auto loop = make_loop(counters);
    std::vector<Completion> completed;
    size_t next = 0;
    while (next < requests.size() || loop->running() > 0) {
      while (next < requests.size() && loop->has_room() && random() % 3 != 0)
        admit(*loop, requests[next++]);
      if (random() % 8 == 0) {
        const auto gone = static_cast<uint32_t>(random() % requests.size());
        loop->sweep(
            [gone](const Request& request) {
              return request.ticket == gone ? Status(Code::kCancelled, "gone") : Status::ok();
            },
            completed);
      }
      if (loop->running() > 0) loop->run_pass(completed);
      ASSERT_TRUE(spoiler_->is_taken_back());
    }
    ASSERT_EQ(completed.size(), requests.size());
    std::set<uint32_t> tickets;
    for (const Completion& completion : completed) {
      EXPECT_TRUE(tickets.insert(completion.ticket).second) << "completed twice";
      if (completion.status.code() == Code::kModelNotFinite) ++failed;
      if (!completion.status.is_ok()) continue;
      const Request& request = requests[completion.ticket];
      EXPECT_EQ(bits_of(completion), (known[{request.prompt, request.widths[0]}]));
      ++answered;
    }
    reused += counters.prefix_reused_tokens;
    expect_nothing_held(*loop);
  }
  EXPECT_GT(answered, seeds * 6);
  EXPECT_GT(failed, 0u);
  EXPECT_GT(reused, 1000u);
}

TEST_F(EpochFixture, ARequestWhoseUserIsDroppedMeanwhileAnswersNothingAndLeavesNothing) {
  options_.kv.is_enabled = true;
  Request request = make(0, tokens(100), 8);
  request.kv = {.version = 0, .user = "u", .prefix_tokens = 0, .keep_tokens = 90};
  LoopCounters counters;
  const auto loop = make_loop(counters);
  std::vector<Completion> completed;
  admit(*loop, request);
  loop->run_pass(completed);
  ASSERT_TRUE(pool_->drop_user("u", 0).is_ok());
  while (loop->running() > 0) loop->run_pass(completed);
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(completed[0].status.code(), Code::kCancelled);
  EXPECT_TRUE(pool_->inspect("u").empty());
  EXPECT_EQ(pool_->metrics().tiers[0].used_blocks, 0u);
  expect_nothing_held(*loop);
}

TEST_F(EpochFixture, APromptThatIsGivenUpKeepsItsWholeBlocks) {
  options_.kv.is_enabled = true;
  options_.prefill_chunk_tokens = 48;
  Request request = make(0, tokens(100), 8);
  request.kv = {.version = 0, .user = "u", .prefix_tokens = 0, .keep_tokens = 90};
  LoopCounters counters;
  const auto loop = make_loop(counters);
  std::vector<Completion> completed;
  admit(*loop, request);
  loop->run_pass(completed);
  loop->sweep([](const Request&) { return Status(Code::kCancelled, "gone"); }, completed);
  ASSERT_EQ(completed.size(), 1u);
  ASSERT_EQ(pool_->inspect("u").size(), 1u);
  EXPECT_EQ(pool_->inspect("u")[0].tokens, 32u);
  completed.clear();
  const std::vector<uint32_t> expected = [&] {
    Request plain = request;
    plain.kv = {};
    return alone(plain);
  }();
  admit(*loop, request);
  while (loop->running() > 0) loop->run_pass(completed);
  EXPECT_EQ(completed[0].kv_tokens[0], 32u);
  EXPECT_EQ(bits_of(completed[0]), expected);
  EXPECT_EQ(pool_->inspect("u")[0].tokens, 90u);
}

TEST_F(EpochFixture, MemoryThatDoesNotSufficeMakesRequestsWaitAndNeverHalfAdmitsThem) {
  const uint64_t block = decoder_->block_layout().bytes();
  const Request request = make(0, branch(1, 64, 1), 4);
  const RunningRequest::Need need = RunningRequest::need(request, decoder_->slot_bytes(), 0);
  options_.kv_bytes_max = 2 * (need.blocks * block + need.beam_bytes) + block / 2;
  LoopCounters counters;
  const auto loop = make_loop(counters);
  std::vector<Completion> completed;
  admit(*loop, make(0, tokens(64, 1), 4));
  admit(*loop, make(1, tokens(64, 2), 4));
  Request third = make(2, tokens(64, 3), 4);
  Status status;
  EXPECT_EQ(loop->admit(third, Clock::now(), status), Admission::kWaits);
  EXPECT_EQ(third.prompt.size(), 64u) << "the request is the caller's still";
  EXPECT_EQ(loop->running(), 2u);
  Request sharing = make(3, tokens(63, 1), 4);  // takes one block of its own and beams: too much
  EXPECT_EQ(loop->admit(sharing, Clock::now(), status), Admission::kWaits);
  while (loop->running() == 2) loop->run_pass(completed);
  EXPECT_EQ(loop->admit(third, Clock::now(), status), Admission::kAdmitted);
  while (loop->running() > 0) loop->run_pass(completed);
  EXPECT_EQ(completed.size(), 3u);
  expect_nothing_held(*loop);
}

}  // namespace epoch_test
}  // namespace tessera::engine
