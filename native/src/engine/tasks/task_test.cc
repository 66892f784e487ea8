// Shows that the engine serves a task by its needs alone, with a task that the product lacks.
#include "engine/tasks/task.h"

#include <gtest/gtest.h>

#include "engine/running_request.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace task_test {

/// Reads its prompt, without a catalogue, and leaves nothing behind.
class ReadTask final : public Task {
 public:
  ReadTask() : Task({.has_binding = false, .shares_blocks = false}) {}
  Status check(const Request& request, const EngineOptions&) const override {
    if (request.result_count == 0) return Status::ok();
    return Status(Code::kRequestInvalid, "resultCount: expected 0");
  }
  uint32_t width(const Request&, uint32_t) const override { return 0; }
  uint32_t widest(const Request&) const override { return 0; }
  std::unique_ptr<TaskRun> start(const Request&) const override { return std::make_unique<Run>(); }

 private:
  class Run final : public TaskRun {
   public:
    void take(const StepRows&, beam::Scratch&) override {
      ADD_FAILURE() << "a task that selects nothing was given logits";
    }
    void next(const NextRows&, beam::Rows&) override {
      ADD_FAILURE() << "a task that selects nothing was asked for rows";
    }
    void answer(const RunningRequest& request, platform::ThreadPool&,
                Completion& completion) override {
      completion.scores = {static_cast<float>(request.prompt().length)};
    }
  };
};

class TaskOnEngine : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void SetUp() override {
    const auto folder =
        std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
    engine_ = std::move(open_fixture_engine(fixture_options(folder), sink_)).value();
    version_ = engine_->add_version("template", "codebook").value();
  }

  Request reading(uint32_t ticket, uint32_t tokens) const {
    Request request;
    request.ticket = ticket;
    request.task = &task_;
    for (uint32_t i = 0; i < tokens; ++i) request.prompt.push_back(static_cast<int32_t>(i % 7));
    request.kv.version = version_;
    request.kv.user = "u";
    request.kv.keep_tokens = tokens;
    request.deadline = Clock::now() + std::chrono::hours(1);
    return request;
  }

  ReadTask task_;
  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  kv::Version version_ = 0;
};

TEST_F(TaskOnEngine, NeedsNoBindingAndSharesNoBlocksWhereItSaysSo) {
  engine_->submit({reading(1, 70), reading(2, 70)});
  const auto completions = sink_.wait_for(2);
  for (const auto& [ticket, completion] : completions) {
    ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
    EXPECT_EQ(completion.scores, std::vector<float>{70});
    EXPECT_EQ(completion.prefix_reused_tokens, 0u);
  }
  for (const uint32_t tokens : engine_->pool()->whereabouts(version_, "u")) EXPECT_EQ(tokens, 0u);
  EXPECT_EQ(engine_->stats().prefill_tokens, 140u);
}

TEST_F(TaskOnEngine, IsAskedForItsOwnLimits) {
  Request request = reading(1, 8);
  request.result_count = 1;
  engine_->submit({std::move(request)});
  EXPECT_EQ(sink_.wait_for(1).at(1).status.message(), "resultCount: expected 0");
}

TEST_F(TaskOnEngine, IsRefusedWithoutTheBindingThatItNeeds) {
  Request request = reading(1, 8);
  request.task = &append_task();
  engine_->submit({std::move(request)});
  EXPECT_EQ(sink_.wait_for(1).at(1).status.code(), Code::kRequestInvalid);
}

TEST(TaskCodes, NameTheTasksInTheOrderOfTheBoundary) {
  EXPECT_EQ(task_of(0), &recall_task());
  EXPECT_EQ(task_of(1), &score_task());
  EXPECT_EQ(task_of(2), &append_task());
  EXPECT_EQ(task_of(3), &relevance_task());
  EXPECT_EQ(task_of(4), &rank_task());
  EXPECT_EQ(task_of(5), nullptr);
}

}  // namespace task_test
}  // namespace tessera::engine
