// Log-probabilities of given paths, followed through the passes that a beam search would make.
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "beam/follow.h"
#include "engine/request_limits.h"
#include "engine/running_request.h"
#include "engine/tasks/task.h"
#include "engine/tasks/tasks.h"

namespace tessera::engine {
namespace {

uint32_t sid_count(const Request& request) {
  return request.sid_offsets.empty() ? 0 : static_cast<uint32_t>(request.sid_offsets.size() - 1);
}

class ScoreRun final : public TaskRun {
 public:
  explicit ScoreRun(const Request& request) : reach_(request.reach) {
    options_.norm = request.norm;
    options_.terminal_count = static_cast<uint32_t>(request.binding->terminal_tokens().size());
    beam::find_route(reach_, request.sid_codes, request.sid_offsets, route_);
  }

  void take(const StepRows& rows, beam::Scratch& scratch) override {
    beam::follow(rows.beams, rows.logits, reach_, options_, route_, scratch, step_);
    finished_.insert(finished_.end(), step_.finished.begin(), step_.finished.end());
    step_number_ = rows.step + 1;
    first_slot_ = rows.first_slot;
  }

  void next(const NextRows&, beam::Rows& rows) override {
    for (size_t i = 0; i < step_.next.nodes.size(); ++i) {
      const float score = step_.next.scores[i];
      beam::Candidate next{score, score, step_.next.nodes[i], step_.codes[i]};
      next.ended = step_.next.ended[i];
      if (step_number_ > 1) next.parent = first_slot_ + step_.parents[i];
      rows.push(next, step_number_);
    }
  }

  std::span<const beam::Finished> finished() const override { return finished_; }

  void answer(const RunningRequest& state, platform::ThreadPool&, Completion& completion) override {
    completion.catalogue_sequence = reach_.view().sequence();
    std::vector<beam::Finished> paths = finished_;
    const auto by_node = [](const beam::Finished& a, const beam::Finished& b) {
      return a.node < b.node;
    };
    std::sort(paths.begin(), paths.end(), by_node);
    const Request& request = state.request();
    const std::span<const uint32_t> codes = request.sid_codes;
    for (uint32_t i = 0; i < sid_count(request); ++i) {
      const uint32_t first = request.sid_offsets[i];
      const beam::Finished asked{
          0, beam::find_path(reach_, codes.subspan(first, request.sid_offsets[i + 1] - first))};
      const auto found = std::lower_bound(paths.begin(), paths.end(), asked, by_node);
      const bool is_path = found != paths.end() && found->node == asked.node;
      completion.scores.push_back(is_path ? found->score : std::numeric_limits<float>::quiet_NaN());
    }
  }

 private:
  const catalogue::Reach reach_;
  beam::SelectOptions options_;
  beam::Route route_;
  beam::Step step_;           // what goes on
  uint32_t step_number_ = 0;  // of its rows
  uint32_t first_slot_ = 0;   // of the rows that it goes on from
  std::vector<beam::Finished> finished_;
};

class ScoreTask final : public Task {
 public:
  ScoreTask() : Task({.selection = Selection::kGiven}) {}

  Status check(const Request& request, const EngineOptions& options) const override {
    const uint32_t sids = sid_count(request);
    if (sids >= 1 && sids <= options.score_items_max) return Status::ok();
    return invalid_request(expected_range("sids.length", options.score_items_max, sids));
  }
  uint32_t width(const Request& request, uint32_t) const override { return sid_count(request); }
  uint32_t widest(const Request& request) const override { return sid_count(request); }
  std::unique_ptr<TaskRun> start(const Request& request) const override {
    return std::make_unique<ScoreRun>(request);
  }
};

}  // namespace

const Task& score_task() {
  static const ScoreTask task;
  return task;
}

}  // namespace tessera::engine
