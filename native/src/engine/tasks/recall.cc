// A beam search for items.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "beam/explain.h"
#include "beam/export.h"
#include "beam/lazy_search.h"
#include "beam/tree.h"
#include "engine/limits.h"
#include "engine/request_limits.h"
#include "engine/running_request.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

/// Paths of the last selection, which no rows follow, where caps may keep out many.
constexpr uint32_t kPathsOfCaps = 65'536;
/// Rows of a beam that may be computed in vain, for fewer passes: one for so many of its widths.
constexpr uint32_t kSpareShare = 8;

beam::RowShares shares_of(const Request& request) {
  const uint32_t selections = request.binding->step_count();
  if (request.row_budget > 0) {
    const auto first = static_cast<uint32_t>(request.binding->level_tokens(0).size());
    return beam::shares_of_budget(request.row_budget, selections, first, request.result_count);
  }
  beam::RowShares shares{request.widths};
  shares.widths.resize(selections, request.widths.back());
  shares.spare_rows =
      std::accumulate(shares.widths.begin(), shares.widths.end() - 1, uint32_t{0}) / kSpareShare;
  return shares;
}

/// Searches of one catalogue with the same key have similar thresholds.
std::string rule_key(const Request& request) {
  std::string key = request.adapter == nullptr ? std::string() : request.adapter->summary().digest;
  const auto add = [&key](uint32_t value) { key += ' ' + std::to_string(value); };
  add(request.result_count);
  add(static_cast<uint32_t>(request.norm));
  add(request.items_per_sid);
  add(request.row_budget);
  if (request.row_budget == 0) std::for_each(request.widths.begin(), request.widths.end(), add);
  return key;
}

class RecallRun final : public TaskRun {
 public:
  explicit RecallRun(const Request& request)
      : reach_(request.reach),
        search_(request.reach, options_of(request)),
        rule_(request.binding->rules().of(rule_key(request))) {}

  void take(const StepRows& rows, beam::Scratch& scratch) override {
    search_.take(rows.step, rows.first_slot, rows.beams, rows.logits, scratch);
  }
  void next(const NextRows& limits, beam::Rows& rows) override {
    search_.next(limits.rows_max, rule_.get(), limits.pass_rows, rows);
    if (rows.size() == 0) search_.teach(*rule_);
  }
  std::span<const beam::Finished> finished() const override { return search_.finished(); }
  void narrow(uint32_t width) override { search_.narrow(width); }

  void answer(const RunningRequest& state, platform::ThreadPool& threads,
              Completion& completion) override {
    const Request& request = state.request();
    beam::ExportOptions options = search_.options().answer;
    options.items_per_sid = std::max(request.items_per_sid, 1u);
    completion.catalogue_sequence = reach_.view().sequence();
    completion.completeness = state.completeness();
    describe_search(state, completion);
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
    if (request.wants_tree) completion.tree = beam::tree_of(search_, reach_);
    if (request.watched_item != catalogue::kNoItem) {
      completion.explanation = beam::explain(search_, reach_, completion.answer, options);
    }
  }

 private:
  static beam::LazyOptions options_of(const Request& request) {
    beam::LazyOptions options;
    beam::RowShares shares = shares_of(request);
    options.widths = std::move(shares.widths);
    options.spare_rows = shares.spare_rows;
    if (request.row_budget > 0 && !request.widths.empty()) {
      options.beam_width = std::max(request.widths.back(), request.result_count);
    }
    options.terminal_count = static_cast<uint32_t>(request.binding->terminal_tokens().size());
    options.norm = request.norm;
    options.answer = {request.result_count, request.items_per_sid, request.item_policy.get(),
                      request.watched_item};
    if (request.row_budget > 0 && options.answer.is_diverse()) {
      options.widths.back() = std::max(options.widths.back(), kPathsOfCaps);
    }
    if (request.wants_tree) options.shown = beam::kRejectedMax;
    if (request.watched_item != catalogue::kNoItem) {
      options.shown = beam::kExplainedMax;
      options.is_eager = true;
    }
    return options;
  }

  /// A device that searches by itself leaves nothing here.
  void describe_search(const RunningRequest& state, Completion& completion) const {
    const bool is_ours = search_.steps_taken() > 0;
    completion.widths_used = is_ours ? search_.widths_used() : state.widths_used();
    completion.certificate = is_ours ? search_.certificate() : beam::Certificate{};
    completion.rows = search_.rows();
  }

  const catalogue::Reach reach_;
  beam::LazySearch search_;
  const std::shared_ptr<beam::ThresholdRule> rule_;
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
    TESSERA_RETURN_IF_ERROR(check_breadth(request, options));
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
    return shares_of(request).widths[step];
  }
  uint32_t widest(const Request& request) const override {
    const std::vector<uint32_t> widths = shares_of(request).widths;
    return *std::max_element(widths.begin(), widths.end());
  }
  uint64_t row_kind(const Request& request) const override {
    const size_t kind = std::hash<std::string>()(rule_key(request)) ^
                        std::hash<const void*>()(request.binding.get());
    return std::max<uint64_t>(1, kind);
  }
  uint64_t slots(const Request& request) const override {
    const auto [widths, spare_rows] = shares_of(request);
    return std::accumulate(widths.begin(), widths.end() - 1, uint64_t{0}) + spare_rows;
  }
  std::unique_ptr<TaskRun> start(const Request& request) const override {
    return std::make_unique<RecallRun>(request);
  }

 private:
  Status check_breadth(const Request& request, const EngineOptions& options) const {
    if (request.row_budget > kRowBudgetMax) {
      return invalid_request(expected_range("rowBudget", kRowBudgetMax, request.row_budget));
    }
    if (request.row_budget > 0) return Status::ok();
    if (request.widths.empty() || request.widths.size() > selections(request)) {
      return invalid_request(
          expected_range("widths.length", selections(request), request.widths.size()));
    }
    for (size_t i = 0; i < request.widths.size(); ++i) {
      if (request.widths[i] >= 1 && request.widths[i] <= options.width_max) continue;
      return invalid_request(expected_range("widths[" + std::to_string(i) + "]", options.width_max,
                                            request.widths[i]));
    }
    return Status::ok();
  }
};

}  // namespace

const Task& recall_task() {
  static const RecallTask task;
  return task;
}

}  // namespace tessera::engine
