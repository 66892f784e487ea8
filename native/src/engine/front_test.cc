// Calls that need not wait while the driver is in the middle of an admission.
#include "engine/front.h"

#include <gtest/gtest.h>

#include <future>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/parts.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace front_test {

class NoRequest final : public RunningRequest {
 public:
  using RunningRequest::RunningRequest;
  uint32_t pending_rows() const override { return 0; }
};

/// Lets nobody in: an admission lasts until it is released, and ends in a refusal.
class StuckExecutor final : public Executor {
 public:
  StuckExecutor(const model::ModelConfig& config, kv::Pool& pool) : config_(config), pool_(pool) {}

  const model::ModelConfig& config() const override { return config_; }
  uint64_t block_bytes() const override { return 64; }
  uint32_t passes_ahead() const override { return 1; }
  bool shares_prompts() const override { return false; }
  bool makes_room_alone() const override { return false; }
  Status check(const Request&) const override { return Status::ok(); }
  std::unique_ptr<RunningRequest> make_request(KvBudget& budget) override {
    return std::make_unique<NoRequest>(config_, pool_, budget);
  }
  Status reserve(RunningRequest&, const Request&, const RunningRequest*,
                 scheduler::Link&) override {
    began_.set_value();
    released_.get_future().wait();
    return {Code::kInternal, "stuck"};
  }
  void drop_buffers(RunningRequest&) override {}
  void forget_reserved() override {}
  Status begin(RunningRequest&, Request, Clock::time_point) override { return Status::ok(); }
  void end(RunningRequest&) override {}
  void order(Running, std::vector<scheduler::Slice>&) override {}
  Status forward(Running, std::span<const scheduler::Slice>, std::span<const scheduler::Link>,
                 PassTimes&) override {
    return Status::ok();
  }
  Result<scheduler::HeadWork> select(Running) override { return scheduler::HeadWork{}; }
  Status finish() override { return Status::ok(); }
  uint64_t take_rolled_back_rows() override { return 0; }
  bool is_read_next(const RunningRequest&) const override { return false; }
  Status conclude(RunningRequest&) override { return Status::ok(); }

  void wait_until_stuck() { began_.get_future().wait(); }
  void release() { released_.set_value(); }

 private:
  const model::ModelConfig& config_;
  kv::Pool& pool_;
  std::promise<void> began_, released_;
};

class FrontOfStuckEngine : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void SetUp() override {
    const auto folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    options_ = fixture_options(folder);
    auto opened = open_on_processor(options_);
    ASSERT_TRUE(opened.is_ok());
    EngineParts parts = std::move(opened).value();
    auto executor = std::make_unique<StuckExecutor>(parts.decoder->config(), *parts.pool);
    executor_ = executor.get();
    parts.loop = std::make_unique<Loop>(options_, *parts.processor, std::move(executor), parts.cost,
                                        *parts.counters);
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
  StuckExecutor* executor_ = nullptr;
  std::unique_ptr<Engine> engine_;
};

TEST_F(FrontOfStuckEngine, AnswersItsCallersInTheMiddleOfAnAdmission) {
  ASSERT_EQ(engine_->submit({request(1)}).accepted, 1u);
  executor_->wait_until_stuck();
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
  executor_->release();
  const auto completions = sink_.wait_for(2);
  EXPECT_EQ(completions.at(1).status.code(), Code::kInternal);
  EXPECT_EQ(completions.at(2).status.code(), Code::kCancelled);  // before it was let in
}

}  // namespace front_test
}  // namespace tessera::engine
