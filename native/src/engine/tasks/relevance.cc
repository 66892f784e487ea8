// Logits of given tokens behind a prompt: what a language model that judges a text answers with.
#include <utility>
#include <vector>

#include "engine/limits.h"
#include "engine/request_limits.h"
#include "engine/running_request.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

class RelevanceRun final : public TaskRun {
 public:
  void take(const StepRows& rows, beam::Scratch&) override {
    const beam::StepLogits& logits = rows.logits;
    scores_.assign(logits.codes.begin(), logits.codes.end());
    scores_.insert(scores_.end(), logits.log_sum_exp.begin(), logits.log_sum_exp.end());
  }
  void next(const NextRows&, beam::Rows&) override {}
  void answer(const RunningRequest&, platform::ThreadPool&, Completion& completion) override {
    completion.scores = std::move(scores_);
  }

 private:
  std::vector<float> scores_;  // [label tokens], then the vocabulary's where it is asked for
};

class RelevanceTask final : public Task {
 public:
  RelevanceTask()
      : Task({.selection = Selection::kTokens, .has_binding = false, .lends_prompt = true}) {}

  Status check(const Request& request, const EngineOptions&) const override {
    const auto count = static_cast<uint32_t>(request.label_tokens.size());
    if (count < 1 || count > kLabelTokensMax) {
      return invalid_request(expected_range("labelTokens.length", kLabelTokensMax, count));
    }
    return Status::ok();
  }
  uint32_t width(const Request&, uint32_t) const override { return 1; }
  uint32_t widest(const Request&) const override { return 1; }
  std::unique_ptr<TaskRun> start(const Request&) const override {
    return std::make_unique<RelevanceRun>();
  }
};

}  // namespace

const Task& relevance_task() {
  static const RelevanceTask task;
  return task;
}

}  // namespace tessera::engine
