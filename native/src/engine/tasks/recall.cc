// A search for items: the best, and behind them those that are drawn. Then heads may read them.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
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
#include "engine/tasks/keyed_answer.h"
#include "engine/tasks/paired_rows.h"
#include "engine/tasks/ranking.h"
#include "engine/tasks/search_parts.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

class RecallRun final : public TaskRun {
 public:
  explicit RecallRun(const Request& request) : request_(request), reach_(request.reach) {
    for (const Part part : {kBestItems, kDrawnItems}) {
      if (!has_part(request, part)) continue;
      const bool is_of_part = part == kDrawnItems && draws_of_part(request);
      searches_[part].emplace(is_of_part ? request.explore.reach : request.reach,
                              options_of(request, part));
      rules_[part] = request.binding->rules().of(rule_key(request, part));
    }
    fixed_count_ = fixed_places(request);
    if (ranks(request)) ranking_.emplace(request);
  }

  bool reads_hidden() const override { return ranking_ && ranking_->has_begun(); }
  uint32_t slots_kept() const override {
    return reads_hidden() ? ranking_->first_slot() : UINT32_MAX;
  }

  void take(const StepRows& rows, beam::Scratch& scratch) override {
    if (reads_hidden()) return ranking_->take(rows.first_slot, rows.hidden, rows.hidden_size);
    const auto give = [&](uint32_t part, uint32_t slot, const beam::Beams& beams,
                          const beam::StepLogits& logits) {
      searches_[part]->take(rows.step, slot, beams, logits, scratch);
    };
    if (!is_pair()) return give(first_part(), rows.first_slot, rows.beams, rows.logits);
    if (rows.step > 0) return paired_.split(rows.first_slot, rows.beams, rows.logits, give);
    for (const Part part : {kBestItems, kDrawnItems}) give(part, 0, rows.beams, rows.logits);
  }

  void next(const NextRows& limits, beam::Rows& rows) override {
    if (!reads_hidden()) {
      next_of_search(limits, rows);
      if (rows.size() > 0 || !ranking_) return;
      begin_ranking();
    }
    ranking_->next(limits, rows);
  }
  void next_of_search(const NextRows& limits, beam::Rows& rows) {
    if (!is_pair()) return next_of(first_part(), limits.rows_max, limits.pass_rows, rows);
    for (const Part part : {kBestItems, kDrawnItems}) {
      const size_t before = part == kDrawnItems ? pair_[kBestItems].size() : 0;
      pair_[part].clear();
      if (before >= limits.rows_max) continue;
      const auto room = static_cast<uint32_t>(limits.rows_max - before);
      next_of(part, room, limits.pass_rows, pair_[part]);
      if (part == kBestItems && pair_[part].size() == 0 && !is_fixed_) leave_out_fixed();
    }
    paired_.merge(pair_, rows);
  }

  std::span<const beam::Finished> finished() const override {
    return searches_[first_part()]->finished();
  }
  void narrow(uint32_t width) override {
    for (auto& search : searches_) {
      if (search) search->narrow(width);
    }
  }

  void answer(const RunningRequest& state, platform::ThreadPool& threads,
              Completion& completion) override {
    const Request& request = state.request();
    completion.catalogue_sequence = reach_.view().sequence();
    completion.completeness = state.completeness();
    describe_search(state, completion);
    if (reads_hidden()) {
      completion.answer = std::move(found_.answer);
      completion.items_per_sid = found_.items_per_sid;
      completion.status = found_.status;
      if (completion.status.is_ok()) completion.status = ranking_->answer(completion);
    } else {
      completion.status = make_answer(request, state.finished(), threads, completion);
    }
    if (!completion.status.is_ok()) return;
    Result<ItemTexts> texts =
        copy_texts(reach_.view(), completion.answer.item_ordinals, request.attributes, threads,
                   completion.answer.best_left_out_item);
    if (!texts.is_ok()) {
      completion.status = texts.status();
      return;
    }
    completion.texts = std::move(texts).value();
    const beam::LazySearch& shown = *searches_[first_part()];
    if (request.wants_tree) completion.tree = beam::tree_of(shown, reach_);
    if (request.watched_item != catalogue::kNoItem) {
      beam::ExportOptions options = shown.options().answer;
      options.items_per_sid = completion.items_per_sid;
      completion.explanation = beam::explain(shown, reach_, completion.answer, options);
    }
  }

 private:
  /// The items are known. Rows of a search that has no other beside it are used again, unless the
  /// heads want others.
  void begin_ranking() {
    platform::ThreadPool alone(1);
    found_.status = make_answer(request_, searches_[first_part()]->finished(), alone, found_);
    uint32_t rows = 0;
    std::vector<ComputedRow> computed;
    for (const auto& search : searches_) {
      if (!search) continue;
      rows += search->rows();
      for (uint32_t step = 0; step < search->selections(); ++step) {
        for (const beam::Candidate& one : search->candidates(step)) {
          if (one.slot != beam::kNoSlot && one.ended == 0) computed.push_back({one.node, one.slot});
        }
      }
    }
    if (is_pair() || is_activated(request_)) computed.clear();
    ranking_->begin(found_.answer.item_ordinals, std::move(computed), rows);
  }

  bool is_pair() const { return searches_[kBestItems] && searches_[kDrawnItems]; }
  uint32_t first_part() const { return searches_[kBestItems] ? kBestItems : kDrawnItems; }

  void next_of(uint32_t part, uint32_t rows_max, double pass_rows, beam::Rows& rows) {
    searches_[part]->next(rows_max, rules_[part].get(), pass_rows, rows);
    if (rows.size() > 0 || is_taught_[part]) return;
    searches_[part]->teach(*rules_[part]);
    is_taught_[part] = true;
  }

  /// The best items are known: the others are drawn from.
  void leave_out_fixed() {
    is_fixed_ = true;
    platform::ThreadPool alone(1);
    const beam::LazySearch& search = *searches_[kBestItems];
    const auto fix = [&] { fix_best(search.finished(), alone); };
    if (draws_of_part(request_) && !search.options().keys.are_scores()) {
      // Prices take long: they are computed once, of the places that stay.
      std::vector<catalogue::ItemOrdinal> all;
      for (const beam::FoundItem& item : search.items(nullptr)) all.push_back(item.item);
      const auto best = [&] {
        return std::span(all).first(std::min<size_t>(all.size(), fixed_count_));
      };
      while (!can_fill(best())) ++fixed_count_;
    }
    for (fix(); !can_fill(best_.item_ordinals); fix()) ++fixed_count_;
    std::vector<catalogue::ItemOrdinal> items = best_.item_ordinals;
    std::sort(items.begin(), items.end());
    searches_[kDrawnItems]->leave_out(std::move(items));
  }

  /// True if there are items to draw for all places that are not fixed: those drawn among a part
  /// of the items may be among the best already.
  bool can_fill(std::span<const catalogue::ItemOrdinal> best) const {
    if (!draws_of_part(request_) || fixed_count_ >= request_.result_count) return true;
    const catalogue::Reach& drawn = request_.explore.reach;
    const auto taken = std::count_if(best.begin(), best.end(),
                                     [&](const auto item) { return drawn.may_get(item); });
    return request_.explore.items - static_cast<uint32_t>(taken) >=
           request_.result_count - fixed_count_;
  }

  /// Fixes the result of the search for the best items.
  void fix_best(std::span<const beam::Finished> finished, platform::ThreadPool& threads) {
    const beam::LazySearch& search = *searches_[kBestItems];
    if (search.options().keys.are_scores()) {
      beam::ExportOptions options = search.options().answer;
      options.result_count = fixed_count_;
      best_ = best_of(finished, options, threads);
    } else {
      best_ = {};
      answer_by_value(search, reach_, fixed_count_, best_);
    }
  }

  /// Items of one SID are near-identical: more of them only where others do not fill the answer.
  beam::Exported best_of(std::span<const beam::Finished> finished, beam::ExportOptions options,
                         platform::ThreadPool& threads) {
    const uint32_t asked = options.items_per_sid;
    options.items_per_sid = std::max(asked, 1u);
    beam::Exported best = beam::export_items(finished, reach_, options, threads);
    while (asked == 0 && options.items_per_sid < options.result_count &&
           best.item_ordinals.size() < options.result_count) {
      options.items_per_sid = std::min(2 * options.items_per_sid, options.result_count);
      best = beam::export_items(finished, reach_, options, threads);
    }
    items_per_sid_ = options.items_per_sid;
    return best;
  }

  Status make_answer(const Request& request, std::span<const beam::Finished> finished,
                     platform::ThreadPool& threads, Completion& completion) {
    // Of a search that was cut short the best items are not yet left out.
    if (is_pair() && !is_fixed_) leave_out_fixed();
    if (searches_[kBestItems] && !is_fixed_) fix_best(finished, threads);
    completion.answer = std::move(best_);
    completion.items_per_sid = items_per_sid_ > 0 ? items_per_sid_ : request.items_per_sid;
    if (!searches_[kDrawnItems]) return Status::ok();
    return add_drawn(*searches_[kDrawnItems], reach_, request.result_count - fixed_count_,
                     request.row_budget == 0, completion.answer);
  }

  /// A device that searches by itself leaves nothing here.
  void describe_search(const RunningRequest& state, Completion& completion) const {
    const beam::LazySearch& first = *searches_[first_part()];
    const bool is_ours = first.steps_taken() > 0;
    completion.widths_used = is_ours ? first.widths_used() : state.widths_used();
    completion.certificate = is_ours ? first.certificate() : beam::Certificate{};
    completion.rows = 0;
    for (const auto& search : searches_) completion.rows += search ? search->rows() : 0;
  }

  const Request& request_;
  const catalogue::Reach reach_;
  std::optional<Ranking> ranking_;
  Completion found_;                                         // the items that are ranked
  std::array<std::optional<beam::LazySearch>, 2> searches_;  // by Part
  std::array<std::shared_ptr<beam::ThresholdRule>, 2> rules_;
  std::array<bool, 2> is_taught_{};
  std::array<beam::Rows, 2> pair_;
  PairedRows paired_;
  beam::Exported best_;         // the items that are not drawn, once they are known
  uint32_t fixed_count_ = 0;    // their number at most
  uint32_t items_per_sid_ = 0;  // as it was applied; 0: none was
  bool is_fixed_ = false;
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
    TESSERA_RETURN_IF_ERROR(check_explore(request));
    if (request.result_count < 1 || request.result_count > options.result_count_max) {
      return invalid_request(
          expected_range("resultCount", options.result_count_max, request.result_count));
    }
    if (request.attributes.size() > kAnswerAttributesMax) {
      return invalid_request("attributes: expected at most " +
                             std::to_string(kAnswerAttributesMax) + " names, got " +
                             std::to_string(request.attributes.size()));
    }
    if (ranks(request)) {
      TESSERA_RETURN_IF_ERROR(check_ranking(request, options));
      if (request.ranking.suffix_offsets.size() > 2) {
        return invalid_request("rankSuffixes.length: expected 0 or 1, got " +
                               std::to_string(request.ranking.suffix_offsets.size() - 1));
      }
    }
    const bool is_watched = request.watched_item != catalogue::kNoItem;
    if (is_watched && (!request.reach.is_set() || !may_get_watched(request))) {
      return invalid_request("watchedItem: expected an item that the request may get");
    }
    return Status::ok();
  }
  uint32_t width(const Request& request, uint32_t step) const override {
    return all_widths(request)[step];
  }
  uint32_t widest(const Request& request) const override {
    const std::vector<uint32_t> widths = all_widths(request);
    return *std::max_element(widths.begin(), widths.end());
  }
  uint64_t row_kind(const Request& request) const override {
    const size_t kind =
        std::hash<std::string>()(rule_key(request, kBestItems) + rule_key(request, kDrawnItems)) ^
        std::hash<const void*>()(request.binding.get());
    return std::max<uint64_t>(1, kind);
  }
  uint64_t slots(const Request& request) const override {
    uint64_t slots = 0;
    for (const Part part : {kBestItems, kDrawnItems}) {
      if (!has_part(request, part)) continue;
      const auto [widths, spare_rows] = shares_of(request, part);
      slots += std::accumulate(widths.begin(), widths.end() - 1, uint64_t{0}) + spare_rows;
    }
    if (ranks(request)) slots += rank_slots(request, request.result_count);
    return slots;
  }
  std::unique_ptr<TaskRun> start(const Request& request) const override {
    return std::make_unique<RecallRun>(request);
  }

 private:
  static Status check_explore(const Request& request) {
    const Request::Explore& explore = request.explore;
    if (explore.slots == 0) return Status::ok();
    if (explore.slots > request.result_count) {
      return invalid_request(expected_range("explore.slots", request.result_count, explore.slots));
    }
    if (!(explore.temperature > 0) || std::isinf(explore.temperature)) {
      return invalid_request("explore.temperature: expected a number above 0");
    }
    if (request.norm == beam::ScoreNorm::kAllowed) return Status::ok();
    return invalid_request("scoreNorm: expected `allowed` beside explore, whose draws sum to one");
  }
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
