// A device can fail, run out of memory and be late: what becomes of the requests, and of the rest.
#include <gtest/gtest.h>

#include "engine/test_fixture.h"

namespace tessera::engine {
namespace device_faults_test {

constexpr char kFailed[] = "device: the stand-in has failed";

class DeviceFaults : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    fixture_ = read_cases(folder).front();
    auto parts = open_on_stand_in(options_, &card_);
    ASSERT_TRUE(parts.is_ok()) << parts.status().message();
    engine_ = Engine::open(options_, std::move(parts).value(), sink_);
    binding_ = bind_fixture(engine_->model().config, open_fixture_catalogue(folder), fixture_);
  }
  void TearDown() override {
    EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{});
    engine_->close();
  }

  Request request(uint32_t ticket) const { return make_request(ticket, binding_, fixture_); }
  std::map<uint32_t, Completion> serve(std::vector<Request> requests) {
    const size_t count = requests.size();
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, count);
    return sink_.wait_for(count);
  }
  Completion serve_one(Request request) {
    return std::move(serve({std::move(request)}).begin()->second);
  }

  EngineOptions options_;
  CollectingSink sink_;
  StandInCard* card_ = nullptr;
  std::unique_ptr<Engine> engine_;
  FixtureCase fixture_;
  std::shared_ptr<const Binding> binding_;
};

TEST_F(DeviceFaults, AFailureInTheMiddleEndsAllThatRunsAndAllThatComes) {
  const Completion whole = serve_one(request(1));
  ASSERT_TRUE(whole.status.is_ok());
  for (const uint32_t passes : {0u, 1u, 2u}) {
    SCOPED_TRACE(passes);
    SetUp();  // a new one each time: a card that has failed is of no use any more
    card_->fail_after(passes);
    for (const auto& [ticket, completion] : serve({request(1), request(2), request(3)})) {
      EXPECT_EQ(completion.status.code(), Code::kEngineUnavailable) << ticket;
      EXPECT_EQ(completion.status.message(), kFailed);
      EXPECT_TRUE(completion.answer.item_ordinals.empty());
    }
    const Completion later = serve_one(request(4));
    EXPECT_EQ(later.status.code(), Code::kEngineUnavailable);
    EXPECT_EQ(later.status.message(), kFailed);
    EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{});
    engine_->close();
  }
  SetUp();
}

TEST_F(DeviceFaults, APassWithoutMemoryEndsWhatRunsAndServingGoesOn) {
  const Completion whole = serve_one(request(1));
  card_->lack_memory_once();
  uint32_t refused = 0;
  for (const auto& [ticket, completion] : serve({request(2), request(3)})) {
    if (completion.status.is_ok()) continue;  // let in behind the pass
    EXPECT_EQ(completion.status.code(), Code::kEngineOverloaded);
    EXPECT_EQ(completion.status.message(), "device: no memory is left");
    ++refused;
  }
  EXPECT_GT(refused, 0u);
  const Completion later = serve_one(request(4));
  ASSERT_TRUE(later.status.is_ok()) << later.status.message();
  EXPECT_EQ(later.answer.item_ordinals, whole.answer.item_ordinals);
}

TEST_F(DeviceFaults, WithoutMemoryForBeamsARequestIsRefusedAndServingGoesOn) {
  const uint64_t left = card_->memory().available_bytes();
  card_->memory().leave(16);
  const Completion refused = serve_one(request(1));
  EXPECT_EQ(refused.status.code(), Code::kEngineOverloaded);
  EXPECT_NE(refused.status.message().find("expected room for "), std::string::npos);
  card_->memory().leave(left);
  EXPECT_TRUE(serve_one(request(2)).status.is_ok());
}

TEST_F(DeviceFaults, OneThatFindsNoMemoryBesideOthersWaitsForTheirs) {
  const Completion alone = serve_one(request(1));
  ASSERT_TRUE(alone.status.is_ok());
  card_->memory().leave(1);  // the buffer of the first is kept and serves one at a time
  const auto completions = serve({request(2), request(3), request(4)});
  for (const auto& [ticket, completion] : completions) {
    ASSERT_TRUE(completion.status.is_ok()) << ticket << completion.status.message();
    EXPECT_EQ(completion.answer.item_ordinals, alone.answer.item_ordinals);
  }
}

TEST_F(DeviceFaults, WithoutMemoryForBlocksAnEngineDoesNotOpen) {
  auto card = StandInCard::load(options_);
  ASSERT_TRUE(card.is_ok());
  card.value()->memory().leave(100);
  PoolMemory memory;
  memory.device = [&](uint32_t slots, uint64_t bytes) {
    return stand_in_blocks(card.value()->memory(), slots, bytes);
  };
  auto processor = open_processor(options_);
  const auto parts =
      open_parts(options_, std::move(processor).value(), card.value(), nullptr, memory);
  EXPECT_EQ(parts.status().code(), Code::kEngineOverloaded);
}

}  // namespace device_faults_test
}  // namespace tessera::engine
