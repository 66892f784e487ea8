// Heads over given items: what ads of any channel will do, behind a prompt of the pool.
#include <memory>
#include <string>

#include "engine/limits.h"
#include "engine/request_limits.h"
#include "engine/running_request.h"
#include "engine/tasks/ranking.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

class RankRun final : public TaskRun {
 public:
  explicit RankRun(const Request& request) : reach_(request.reach), ranking_(request) {
    ranking_.begin(request.items, {}, 0);
  }

  bool reads_hidden() const override { return true; }
  uint32_t slots_kept() const override { return 0; }
  void take(const StepRows& rows, beam::Scratch&) override {
    if (rows.step > 0) ranking_.take(rows.first_slot, rows.hidden, rows.hidden_size);
  }
  void next(const NextRows& limits, beam::Rows& rows) override { ranking_.next(limits, rows); }
  void answer(const RunningRequest&, platform::ThreadPool&, Completion& completion) override {
    completion.catalogue_sequence = reach_.view().sequence();
    completion.status = ranking_.answer(completion);
  }

 private:
  const catalogue::Reach reach_;
  Ranking ranking_;
};

class RankTask final : public Task {
 public:
  RankTask() : Task({.selection = Selection::kHidden}) {}

  Status check(const Request& request, const EngineOptions& options) const override {
    const size_t count = request.items.size();
    if (count < 1 || count > kRankItemsMax) {
      return invalid_request(expected_range("items.length", kRankItemsMax, count));
    }
    if (!ranks(request)) return invalid_request("rankSlot: expected an adapter, got none");
    if (!request.reach.is_set()) return invalid_request("reach: expected one, got none");
    for (size_t i = 0; i < count; ++i) {
      const catalogue::View& view = request.reach.view();
      if (request.items[i] < view.item_count() &&
          view.state(request.items[i]) == catalogue::ItemState::kLive &&
          has_tokens(request, request.items[i])) {
        continue;
      }
      return invalid_request("items[" + std::to_string(i) +
                             "]: expected a live item whose SID has tokens, got " +
                             std::to_string(request.items[i]));
    }
    TESSERA_RETURN_IF_ERROR(check_ranking(request, options));
    const std::vector<uint32_t>& offsets = request.ranking.suffix_offsets;
    if (offsets.size() <= 2 || offsets.size() == count + 1) return Status::ok();
    return invalid_request("rankSuffixes.length: expected 0, 1 or " + std::to_string(count) +
                           ", got " + std::to_string(offsets.size() - 1));
  }
  uint32_t selections(const Request& request) const override {
    const uint32_t rows = request.rows_predicted;
    return 1 + (rows > 0 ? (rows + kRankRowsMax - 1) / kRankRowsMax
                         : rank_passes(request, request.items.size()));
  }
  uint32_t rows(const Request& request) const override { return rank_rows(request); }
  uint64_t slots(const Request& request) const override {
    return rank_slots(request, request.items.size());
  }
  uint32_t width(const Request& request, uint32_t) const override { return widest(request); }
  uint32_t widest(const Request& request) const override {
    return static_cast<uint32_t>(rank_slots(request, request.items.size()));
  }
  std::unique_ptr<TaskRun> start(const Request& request) const override {
    return std::make_unique<RankRun>(request);
  }
};

}  // namespace

const Task& rank_task() {
  static const RankTask task;
  return task;
}

}  // namespace tessera::engine
