// A running request, whichever device computes it: the prompt's keys and values, how
// far it has come, how wide it may search, and its answer. Owned and touched by
// the engine's thread alone; used again by the next request in the same slot.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "beam/select.h"
#include "engine/kv_budget.h"
#include "engine/request.h"
#include "engine/request_kv.h"
#include "engine/tasks/task.h"
#include "model/model_config.h"
#include "scheduler/admission.h"
#include "scheduler/narrowing.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

/// How a request ends of which a row was not finite.
inline Status not_finite() {
  return {Code::kModelNotFinite, "the model's numbers for this request are not finite"};
}

class RunningRequest {
 public:
  RunningRequest(const model::ModelConfig& config, kv::Pool& pool, KvBudget& budget)
      : config_(config), budget_(budget), kv_(pool) {}
  virtual ~RunningRequest() = default;
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;

  /// KV memory that a request takes where it shares nothing, of so many bytes per position.
  struct Need {
    uint32_t blocks = 0;
    uint64_t beam_bytes = 0;
  };
  static Need need(const Request& request, uint64_t slot_bytes, uint64_t state_bytes);
  /// The items that it may get; not set where it has no binding.
  static catalogue::Reach reach_of(const Request& request);
  /// The work of a request that has not begun, for the prediction of its end.
  static scheduler::RequestWork work_of(const Request& request, const model::ModelConfig& config);

  scheduler::Runnable runnable(Clock::time_point now) const;
  /// The work that is left of it.
  scheduler::RequestWork work() const;
  /// Rows that its beams take in the next pass; 0 during the prompt and after the last selection.
  virtual uint32_t pending_rows() const = 0;

  /// The rows of beams read hidden states in place of logits (TaskRun::reads_hidden).
  bool reads_hidden() const { return task_run_ != nullptr && task_run_->reads_hidden(); }
  /// That the rows of the next pass run with; null: the base model.
  const lora::Adapter* rows_adapter() const;

  uint32_t prompt_left() const {
    return static_cast<uint32_t>(request_.prompt.size()) - prompt().length;
  }
  /// Before a pass that computes prompts up to the position: its own or, by mirrors, with others'.
  void note_prompt_rows(uint32_t end) {
    if (prompt_left() > 0) kv_.note_written(end);
  }
  /// Records the positions that are computed and committed now; `own` of them by this request, the
  /// last before row `end` of the pass.
  void prompt_computed(uint32_t length, uint32_t own, uint32_t end);
  /// True when the beams' next logits are due, in rows [logit_row(), + beams) of the last pass.
  bool awaits_selection() const { return awaits_selection_; }
  uint32_t logit_row() const { return logit_row_; }
  /// Candidates kept in the coming selection, before capping by what is reachable.
  uint32_t width() const;
  /// For the coming selection and all further ones.
  virtual void narrow_to(const scheduler::Narrowing& narrowing);
  /// The fixed cost of a pass, in rows.
  void set_pass_rows(double rows) { pass_rows_ = rows; }
  /// Rows that a pass has time for, as NextRows has them.
  void set_rows_in_time(uint32_t rows) { rows_in_time_ = rows; }
  /// True if even the narrowest beam would be late, so the answer is the paths finished so far.
  bool comes_too_late() const { return comes_too_late_; }
  Completeness completeness() const;
  /// True if codes of a level are candidates after `step` selections, not only terminal tokens.
  bool has_level(uint32_t step) const { return task().reads_tokens() || step < binding().depth(); }
  bool is_decoding() const { return step_ > 0; }
  bool is_done() const {
    if (awaits_selection_ || prompt_left() > 0) return false;
    return pending_rows() == 0 || (comes_too_late_ && !finished_.empty());
  }

  const Request& request() const { return request_; }
  const Task& task() const { return *request_.task; }
  /// Run of the task, from begin to release.
  TaskRun& task_run() { return *task_run_; }
  const Binding& binding() const { return *request_.binding; }
  const catalogue::Reach& reach() const { return request_.reach; }
  const attention::PromptKv& prompt() const { return kv_.view(); }
  const RequestKv& kv() const { return kv_; }
  /// Keeps what is computed of the prompt in the user KV pool.
  void keep_kv() { kv_.keep(request_); }
  std::span<const beam::Finished> finished() const { return finished_; }
  const std::vector<uint32_t>& widths_used() const { return widths_used_; }
  uint32_t prefix_reused_tokens() const { return reused_; }

  Timings& timings() { return timings_; }
  /// Times of the pass that runs.
  PassTimes& pass() { return pass_; }
  void end_pass() {
    timings_.add(pass_);
    passes_.push_back(pass_);
  }
  const std::vector<PassTimes>& passes() const { return passes_; }

  /// The computed part of the prompt is void: none of it is kept.
  void drop_computed() { kv_.set_length(kv_.found_tokens()); }
  /// Gives back the blocks and drops the references that the request held; buffers stay.
  virtual void release();

 protected:
  /// Blocks for the prompt. Errors: ENGINE_OVERLOADED when there is no room now; nothing is held
  /// then.
  Status reserve_prompt(const Request& request, const RunningRequest* leader,
                        scheduler::Link& link);
  /// REQUIRES: reserve_prompt() for the same request.
  void begin_request(Request request, Clock::time_point now);

  const model::ModelConfig& config_;
  KvBudget& budget_;
  RequestKv kv_;
  Request request_;
  std::unique_ptr<TaskRun> task_run_;
  std::vector<beam::Finished> finished_;
  std::vector<uint32_t> widths_used_;
  uint32_t step_ = 0;  // selections on the way to the rows that come next
  uint32_t logit_row_ = 0;
  bool awaits_selection_ = false;
  double pass_rows_ = 0;
  uint32_t rows_in_time_ = UINT32_MAX;

 private:
  Timings timings_;
  PassTimes pass_;
  std::vector<PassTimes> passes_;
  uint32_t reused_ = 0;
  uint32_t affordable_width_ = UINT32_MAX;
  bool is_narrowed_ = false;
  bool comes_too_late_ = false;
};

}  // namespace tessera::engine
