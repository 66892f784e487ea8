// Calls that need not wait while the driver is in the middle of an admission.
#include "engine/front.h"

#include <gtest/gtest.h>

#include <future>

#include "engine/engine.h"
#include "engine/parts.h"
#include "engine/test_fixture.h"
#include "engine/test_stand_in.h"

namespace tessera::engine {
namespace front_test {

/// Lets nobody in: an admission lasts until it is released, and ends in a refusal.
class StuckAdmission {
 public:
  explicit StuckAdmission(ClosedMemory& memory) {
    memory.before_allocation = [this] {
      began_.set_value();
      released_.get_future().wait();
      return Status(Code::kInternal, "stuck");
    };
  }
  void wait_until_stuck() { began_.get_future().wait(); }
  void release() { released_.set_value(); }

 private:
  std::promise<void> began_, released_;
};

class FrontOfStuckEngine : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void SetUp() override {
    const auto folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    StandInCard* card = nullptr;
    auto opened = open_on_stand_in(options_, &card);
    ASSERT_TRUE(opened.is_ok());
    EngineParts parts = std::move(opened).value();
    admission_ = std::make_unique<StuckAdmission>(card->memory());
    const FixtureCase fixture = read_cases(folder).front();
    request_ = make_request(
        1, bind_fixture(parts.model.config, open_fixture_catalogue(folder), fixture), fixture);
    engine_ = Engine::open(options_, std::move(parts), sink_);
  }

  Request request(uint32_t ticket) const {
    Request request = request_;
    request.ticket = ticket;
    return request;
  }

  EngineOptions options_;
  CollectingSink sink_;
  Request request_;
  std::unique_ptr<StuckAdmission> admission_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(FrontOfStuckEngine, AnswersItsCallersInTheMiddleOfAnAdmission) {
  ASSERT_EQ(engine_->submit({request(1)}).accepted, 1u);
  admission_->wait_until_stuck();
  // Each of these would wait for good if the driver held a lock that they take.
  ASSERT_EQ(engine_->submit({request(2)}).accepted, 1u);
  EXPECT_EQ(engine_->submit({request(2)}).accepted, 1u);  // in flight already: refused at once
  EXPECT_EQ(sink_.wait_for(1).at(2).status.code(), Code::kRequestInvalid);
  const auto version = engine_->add_version("template", "codebook");
  ASSERT_TRUE(version.is_ok());
  engine_->prefetch(3, version.value(), "u");
  engine_->cancel(std::vector<uint32_t>{2, 3});
  EXPECT_EQ(engine_->stats().queued, 2u);
  EXPECT_EQ(engine_->stats().submitted, 3u);
  EXPECT_GT(engine_->stats().token_us, 0);
  // Of both that wait: as many tokens as one has, at least, at what a token costs.
  EXPECT_GE(engine_->stats().backlog_us,
            engine_->stats().token_us * static_cast<double>(request_.prompt.size()));
  EXPECT_NE(engine_->pool(), nullptr);
  EXPECT_EQ(engine_->pool()->metrics().chain_tokens, 0u);
  EXPECT_GE(engine_->kv_rates().compute_token_us, 0);
  EXPECT_EQ(engine_->weights().generation, 0u);
  EXPECT_FALSE(engine_->model().digest.empty());
  engine_->refuse_new();
  EXPECT_EQ(engine_->submit({request(4)}).refusal, Refusal::kDraining);
  admission_->release();
  const auto completions = sink_.wait_for(2);
  EXPECT_EQ(completions.at(1).status.code(), Code::kInternal);
  EXPECT_EQ(completions.at(2).status.code(), Code::kCancelled);  // before it was let in
}

}  // namespace front_test
}  // namespace tessera::engine
