// A beam search for items.
#include <algorithm>
#include <optional>
#include <string>

#include "beam/explain.h"
#include "beam/export.h"
#include "beam/tree.h"
#include "engine/request_limits.h"
#include "engine/running_request.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

class RecallRun final : public TaskRun {
 public:
  explicit RecallRun(const Request& request) : reach_(request.reach) {
    if (request.watched_item != catalogue::kNoItem) watch_.emplace(reach_, request.watched_item);
    if (request.wants_tree) tree_watch_.emplace(reach_);
  }

  void select(const beam::Beams& beams, const beam::StepLogits& logits,
              const beam::SelectOptions& options, beam::Scratch& scratch,
              beam::Step& step) override {
    beam::select(beams, logits, reach_, options, scratch, step);
    if (watch_) watch_->observe(beams, logits, options, step);
    if (tree_watch_) tree_watch_->observe(beams, logits, options, step, scratch);
  }

  void answer(const RunningRequest& state, platform::ThreadPool& threads,
              Completion& completion) override {
    const Request& request = state.request();
    const beam::ExportOptions options{request.result_count, request.items_per_sid,
                                      request.item_policy.get(), request.watched_item};
    completion.catalogue_sequence = reach_.view().sequence();
    completion.completeness = state.completeness();
    completion.answer = beam::export_items(state.finished(), reach_, options, threads);
    completion.texts = copy_texts(reach_.view(), completion.answer.item_ordinals, threads);
    if (tree_watch_) completion.tree = tree_watch_->take();
    if (watch_) completion.explanation = watch_->conclude(completion.answer, options);
  }

 private:
  const catalogue::Reach reach_;
  std::optional<beam::Watch> watch_;
  std::optional<beam::TreeWatch> tree_watch_;
};

bool may_get_watched(const Request& request) {
  const catalogue::View& view = request.reach.view();
  return request.watched_item < view.item_count() &&
         view.state(request.watched_item) == catalogue::ItemState::kLive &&
         request.reach.may_get(request.watched_item);
}

class RecallTask final : public Task {
 public:
  RecallTask() : Task({.selection = Selection::kBest}) {}

  Status check(const Request& request, const EngineOptions& options) const override {
    if (request.widths.empty() || request.widths.size() > selections(request)) {
      return invalid_request(
          expected_range("widths.length", selections(request), request.widths.size()));
    }
    for (size_t i = 0; i < request.widths.size(); ++i) {
      if (request.widths[i] >= 1 && request.widths[i] <= options.width_max) continue;
      return invalid_request(expected_range("widths[" + std::to_string(i) + "]", options.width_max,
                                            request.widths[i]));
    }
    if (request.result_count < 1 || request.result_count > options.result_count_max) {
      return invalid_request(
          expected_range("resultCount", options.result_count_max, request.result_count));
    }
    if (request.items_per_sid < 1) {
      return invalid_request("itemsPerSid: expected at least 1, got 0");
    }
    const bool is_watched = request.watched_item != catalogue::kNoItem;
    if (is_watched && (!request.reach.is_set() || !may_get_watched(request))) {
      return invalid_request("watchedItem: expected an item that the request may get");
    }
    return Status::ok();
  }
  uint32_t width(const Request& request, uint32_t step) const override {
    return request.widths[std::min<size_t>(step, request.widths.size() - 1)];
  }
  uint32_t widest(const Request& request) const override {
    return *std::max_element(request.widths.begin(), request.widths.end());
  }
  std::unique_ptr<TaskRun> start(const Request& request) const override {
    return std::make_unique<RecallRun>(request);
  }
};

}  // namespace

const Task& recall_task() {
  static const RecallTask task;
  return task;
}

}  // namespace tessera::engine
