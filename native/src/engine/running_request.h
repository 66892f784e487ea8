// A running request: the keys and values of its prompt and of its beams, how far it has come, how
// wide it may search, what has finished so far, and its answer. Owned and touched by the engine's
// thread alone; used again by the next request in the same slot. Buffers are kept, so the steady
// state allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "beam/select.h"
#include "device/device.h"
#include "engine/kv_budget.h"
#include "engine/request.h"
#include "engine/request_kv.h"
#include "engine/tasks/task.h"
#include "model/decoder.h"
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
  /// `rows_max`: of a pass. The others outlive the request.
  RunningRequest(const model::Decoder& decoder, kv::Pool& pool, KvBudget& budget, uint32_t rows_max)
      : decoder_(decoder), rows_max_(rows_max), budget_(budget), kv_(pool) {}
  ~RunningRequest() { drop_buffers(); }
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

  /// Finds keys and values for a request whose limits have been checked, which begin() then takes.
  /// `leader` (null: none) is the running request of the link, which is undone where it is of no
  /// use. ENGINE_OVERLOADED when there is no room now; nothing is held then.
  Status reserve(const Request& request, const RunningRequest* leader, scheduler::Link& link);
  /// The last reserve() found no memory for beams.
  bool lacks_beams() const { return lacks_beams_; }
  /// REQUIRES: reserve() for the same request.
  void begin(Request request, Clock::time_point now);
  /// Gives back the blocks and drops the references that the request held; buffers stay.
  void release();
  /// Gives the beams' buffer back too. REQUIRES: released.
  void drop_buffers() { budget_.give_beams(beam_buffer_); }

  scheduler::Runnable runnable(Clock::time_point now) const;
  /// The work that is left of it.
  scheduler::RequestWork work() const;
  /// Rows that its beams take in the next pass; 0 during the prompt and after the last selection.
  uint32_t pending_rows() const { return is_asked_ ? 0 : row_count(); }
  /// Appends the rows of a slice to a forward batch, a group for each step, without mirrors.
  void append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                   std::vector<attention::RowGroup>& groups) const;
  /// Records that the beams' rows, which end before row `end` of the pass, have been computed.
  void beams_computed(uint32_t end);
  /// Makes finite what a failed pass may have left where beams keep their keys and values. Errors:
  /// what the device says.
  Status clear_beams() { return decoder_.memory().zero(beam_buffer_); }
  /// A row of its own was not finite: it must end.
  void set_failed() { has_failed_ = true; }
  bool has_failed() const { return has_failed_; }

  /// Rows of one step whose logits are due.
  struct DueRows {
    uint32_t first = 0;  // among the request's rows of the pass
    uint32_t step = 0;
    beam::Beams beams;
  };
  std::span<const DueRows> due() const { return std::span(due_).first(due_count_); }
  /// The tokens of a level, or those that the request names. REQUIRES: has_level(step).
  std::span<const int32_t> candidates(uint32_t step) const {
    return task().reads_tokens() ? std::span<const int32_t>(request_.label_tokens)
                                 : binding().level_tokens(step);
  }
  /// Gives the task the logits of rows that are due.
  void take(const DueRows& rows, const beam::StepLogits& logits, beam::Scratch& scratch);
  /// Takes hidden states, [rows][hidden]. REQUIRES: reads_hidden().
  void take(const DueRows& rows, std::span<const float> hidden, beam::Scratch& scratch);
  /// Asks the task what comes next, once it has all logits that were due.
  void advance();

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
  void narrow_to(const scheduler::Narrowing& narrowing);
  /// The fixed cost of a pass, in rows.
  void set_pass_rows(double rows) { pass_rows_ = rows; }
  /// Rows that a pass has time for, as NextRows has them.
  void set_rows_in_time(uint32_t rows) { rows_in_time_ = rows; }
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

 private:
  Status reserve_beams(const Request& request);
  Status reserve_prompt(const Request& request, const RunningRequest* leader,
                        scheduler::Link& link);
  uint32_t row_count() const { return static_cast<uint32_t>(rows_.size()); }
  uint32_t first_slot() const { return static_cast<uint32_t>(parent_slots_.size()) - row_count(); }
  /// Fills due_ with the rows by their steps.
  void list_due();
  DueRows& add_due(uint32_t first, uint32_t step);
  void find_ancestors(const DueRows& rows, std::vector<uint32_t>& ancestors) const;

  const model::Decoder& decoder_;
  const uint32_t rows_max_;
  KvBudget& budget_;
  RequestKv kv_;
  device::Buffer beam_buffer_;  // in the decoder's memory
  attention::BeamKv beam_kv_;
  bool lacks_beams_ = false;
  Request request_;
  std::unique_ptr<TaskRun> task_run_;
  bool has_failed_ = false;
  std::vector<beam::Finished> finished_;

  beam::Rows rows_;        // that come next, or whose logits are due; none: the prompt's last row
  bool is_asked_ = false;  // they are computed
  std::vector<uint32_t> parent_slots_;  // by slot, of each row's ancestor; those of rows_ are last
  std::vector<int32_t> tokens_;         // [rows_]
  std::vector<std::vector<uint32_t>> ancestors_;  // of each step's rows, [rows][step - 1]
  std::vector<DueRows> due_;  // the first due_count_ count; the others' memory is kept
  size_t due_count_ = 0;
  uint32_t step_ = 0;  // selections on the way to the rows that come next
  uint32_t logit_row_ = 0;
  bool awaits_selection_ = false;

  std::vector<uint32_t> widths_used_;
  double pass_rows_ = 0;
  uint32_t rows_in_time_ = UINT32_MAX;
  uint32_t affordable_width_ = UINT32_MAX;
  bool is_narrowed_ = false;
  bool comes_too_late_ = false;  // even the narrowest beam: the answer is what has finished so far

  Timings timings_;
  PassTimes pass_;
  std::vector<PassTimes> passes_;
  uint32_t reused_ = 0;
};

}  // namespace tessera::engine
