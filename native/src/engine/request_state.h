// One running request: its keys and values, its beams and what has finished so far. Owned and
// touched by the engine's thread alone. Buffers are kept and reused by the next request in the same
// slot, so the steady state allocates nothing.
//
// The prompt's keys and values are request_kv.h's; those of the beams are here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "beam/follow.h"
#include "beam/select.h"
#include "device/device.h"
#include "engine/kv_budget.h"
#include "engine/request.h"
#include "engine/request_kv.h"
#include "model/decoder.h"
#include "scheduler/admission.h"
#include "scheduler/narrowing.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

class RequestState {
 public:
  RequestState(const model::Decoder& decoder, kv::Pool& pool, KvBudget& budget)
      : decoder_(decoder), budget_(budget), kv_(pool) {}
  ~RequestState() { drop_buffers(); }
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;

  /// KV memory that a request takes where it shares nothing.
  struct Need {
    uint32_t blocks = 0;
    uint64_t beam_bytes = 0;
  };
  static Need need(const Request& request, const model::Decoder& decoder);

  /// What a request that has not begun asks for, for the prediction of its end.
  static scheduler::RequestWork work_of(const Request& request, const model::ModelConfig& config);
  /// What is left of it.
  scheduler::RequestWork work() const;

  /// Finds keys and values for a request whose limits have been checked, which begin() then takes.
  /// `leader` (null: none) is the running request of the link, which is undone where it is of no
  /// use. ENGINE_OVERLOADED when there is no room now; nothing is held then.
  Status reserve(const Request& request, const RequestState* leader, scheduler::Link& link);
  /// REQUIRES: reserve() for the same request.
  void begin(Request request, Clock::time_point now);

  scheduler::Runnable runnable(Clock::time_point now) const;
  /// Appends the rows of a share to a forward batch, without mirrors.
  void append_rows(const scheduler::Share& share, std::vector<int32_t>& tokens,
                   std::vector<attention::RowGroup>& groups) const;
  /// Records that the beams' rows, which end before row `end` of the pass, have been computed.
  void beams_computed(uint32_t end);
  /// Records the positions that are computed and committed now; `own` of them by this request, the
  /// last before row `end` of the pass.
  void prompt_computed(uint32_t length, uint32_t own, uint32_t end);
  /// Makes finite what a failed pass may have left where beams keep their keys and values.
  void clear_beams();

  /// True when the beams' next logits are in the workspace, in rows [logit_row(), + beams).
  bool awaits_selection() const { return awaits_selection_; }
  uint32_t logit_row() const { return logit_row_; }
  /// Candidates kept in the coming selection, before capping by what is reachable.
  uint32_t width() const;
  /// For the coming selection and all further ones.
  void narrow_to(const scheduler::Narrowing& narrowing);
  Completeness completeness() const;
  /// Level whose codes are candidates in the coming selection; false when only terminal tokens can
  /// follow.
  bool has_level() const { return step_ < binding().depth(); }
  uint32_t level() const { return step_; }
  /// Applies a selection: finished paths are collected, beams fork, their tokens wait for the next
  /// pass.
  void apply(const beam::Step& step);
  /// Shows the watched item's watch and the one of the tree a selection; before apply().
  void observe(const beam::StepLogits& logits, const beam::SelectOptions& options,
               const beam::Step& step, beam::Scratch& scratch) {
    if (watch_) watch_->observe(beams_, logits, options, step);
    if (tree_watch_) tree_watch_->observe(beams_, logits, options, step, scratch);
  }
  const std::optional<beam::Watch>& watch() const { return watch_; }
  std::optional<beam::TreeWatch>& tree_watch() { return tree_watch_; }
  bool is_done() const {
    if (awaits_selection_ || prompt_left() > 0) return false;
    return pending_tokens_.empty() || is_cut();
  }

  const Request& request() const { return request_; }
  const Binding& binding() const { return *request_.binding; }
  const attention::PromptKv& prompt() const { return kv_.view(); }
  const RequestKv& kv() const { return kv_; }
  /// Before a pass that computes prompts up to the position: its own or, by mirrors, with others'.
  void note_prompt_rows(uint32_t end) {
    if (prompt_left() > 0) kv_.note_written(end);
  }
  /// Keeps what is computed of the prompt in the user KV pool.
  void keep_kv() { kv_.keep(request_); }
  const catalogue::Reach& reach() const { return request_.reach; }
  const beam::Beams& beams() const { return beams_; }
  std::span<const beam::Finished> finished() const { return finished_; }
  /// Score requests: the paths to follow.
  const beam::Route& route() const { return route_; }
  /// Score requests that are done: a score per SID, not-a-number where it is no path.
  std::vector<float> scores() const;
  uint64_t buffer_bytes() const { return beam_buffer_.size(); }
  const std::vector<uint32_t>& widths_used() const { return widths_used_; }
  uint32_t prefix_reused_tokens() const { return reused_; }
  Timings& timings() { return timings_; }
  /// Of the pass that runs.
  PassTimes& pass() { return pass_; }
  void end_pass() {
    timings_.add(pass_);
    passes_.push_back(pass_);
  }
  const std::vector<PassTimes>& passes() const { return passes_; }
  bool is_decoding() const { return step_ > 0; }
  uint32_t prompt_left() const {
    return static_cast<uint32_t>(request_.prompt.size()) - prompt().length;
  }

  /// Gives back the blocks and drops the references that the request held; the beams' buffer stays.
  void release();
  /// Gives the beams' buffer back too. REQUIRES: released.
  void drop_buffers();

 private:
  /// Ends with the paths that have finished.
  bool is_cut() const { return comes_too_late_ && !finished_.empty(); }
  Status reserve_beams(const Request& request);

  const model::Decoder& decoder_;
  KvBudget& budget_;
  RequestKv kv_;
  Request request_;
  device::Buffer beam_buffer_;
  attention::BeamKv beam_kv_;
  beam::Beams beams_;
  beam::Route route_;
  std::optional<beam::Watch> watch_;
  std::optional<beam::TreeWatch> tree_watch_;
  std::vector<int32_t> pending_tokens_;  // [beams]: tokens to compute next; empty during the prompt
  std::vector<uint32_t> ancestors_;      // [beams][step_ - 1]
  std::vector<uint32_t> forked_ancestors_;  // scratch of apply()
  std::vector<beam::Finished> finished_;
  std::vector<uint32_t> widths_used_;
  Timings timings_;
  PassTimes pass_;
  std::vector<PassTimes> passes_;
  uint32_t step_ = 0;  // selections applied
  uint32_t reused_ = 0;
  uint32_t logit_row_ = 0;
  bool awaits_selection_ = false;
  uint32_t affordable_width_ = UINT32_MAX;
  bool is_narrowed_ = false;
  bool comes_too_late_ = false;  // even the narrowest beam would
};

}  // namespace tessera::engine
