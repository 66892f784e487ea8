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
    beam::ExportOptions options{request.result_count, std::max(request.items_per_sid, 1u),
                                request.item_policy.get(), request.watched_item};
    completion.catalogue_sequence = reach_.view().sequence();
    completion.completeness = state.completeness();
    completion.answer = beam::export_items(state.finished(), reach_, options, threads);
    // Items of one SID are near-identical: more of them only where others do not fill the answer.
    while (request.items_per_sid == 0 && options.items_per_sid < options.result_count &&
           completion.answer.item_ordinals.size() < options.result_count) {
      options.items_per_sid = std::min(2 * options.items_per_sid, options.result_count);
      completion.answer = beam::export_items(state.finished(), reach_, options, threads);
    }
    completion.items_per_sid = options.items_per_sid;
    Result<ItemTexts> texts =
        copy_texts(reach_.view(), completion.answer.item_ordinals, request.attributes, threads);
    if (!texts.is_ok()) {
      completion.status = texts.status();
      return;
    }
    completion.texts = std::move(texts).value();
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
    if (request.attributes.size() > kAnswerAttributesMax) {
      return invalid_request("attributes: expected at most " +
                             std::to_string(kAnswerAttributesMax) + " names, got " +
                             std::to_string(request.attributes.size()));
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
