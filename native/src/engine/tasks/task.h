// A kind of request: what it needs of the passes that compute it, and what becomes of their
// numbers. The loops ask these questions and never which kind a request is, so a new kind is a file
// in this folder and a row of tasks.cc.
//
// A Task has no state and may be called on any thread. A TaskRun is one request's part of it, from
// its admission to its completion, and belongs to the engine's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "beam/lazy_search.h"
#include "beam/select.h"
#include "engine/options.h"
#include "engine/request.h"
#include "platform/thread_pool.h"

namespace tessera::engine {

class RunningRequest;

/// Which logits a task's passes give, and what goes on from them to the next pass.
enum class Selection : uint8_t {
  kNone,    // none: the request ends with its prompt
  kBest,    // those of a step's codes; the best paths go on
  kGiven,   // the same; the paths that the request names go on
  kTokens,  // those of tokens that the request names; nothing goes on
  kHidden,  // none: the task reads hidden states of tokens that it gives itself
};

struct TaskNeeds {
  Selection selection = Selection::kNone;
  /// The request names a binding, which maps codes to tokens and gives prompts a version.
  bool has_binding = true;
  /// The user KV pool may find and keep blocks of the prompt, and requests that run together may
  /// compute the common part of their prompts once.
  bool shares_blocks = true;
  /// A request that has ended lends its prompt to requests admitted before the next pass: such
  /// requests come in groups with a common prefix, and one pass may end all that run.
  bool lends_prompt = false;
};

/// Rows of one step whose logits have come.
struct StepRows {
  uint32_t step = 0;        // selections on the way to them; 0: the prompt's last row
  uint32_t first_slot = 0;  // slots of rows of beams follow each other
  const beam::Beams& beams;
  const beam::StepLogits& logits;  // empty where the task reads hidden states
  std::span<const float> hidden;   // [rows][hidden_size], after the final norm; empty: logits
  uint32_t hidden_size = 0;
};

/// Bounds of a request's rows in the next pass.
struct NextRows {
  uint32_t rows_max = 0;
  double pass_rows = 0;  // rows that cost as much as a pass does beside its rows
  /// Rows that a pass has time for while others run; at least kPromptRowsMinAlone.
  uint32_t rows_in_time = UINT32_MAX;
};

/// A task that selects on the processor is given logits, or hidden states, by take(), step by step,
/// and asked by next() after each pass that gave any.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  virtual void take(const StepRows& rows, beam::Scratch& scratch) = 0;
  /// Fills `rows`, which are empty, with what goes on; none: the request has ended.
  virtual void next(const NextRows& limits, beam::Rows& rows) = 0;
  /// Rows that come next are tokens in place of codes, and take() is given their hidden states.
  /// They run with the adapter of the request's heads where that is activated.
  virtual bool reads_hidden() const { return false; }
  /// Slots of rows so far that rows which come next may stand on; these have the slots behind.
  virtual uint32_t slots_kept() const { return UINT32_MAX; }
  /// Paths that have ended so far.
  virtual std::span<const beam::Finished> finished() const { return {}; }
  /// Limits each further selection to `width` paths.
  virtual void narrow(uint32_t) {}
  /// Writes what the request has come to into its completion.
  virtual void answer(const RunningRequest& request, platform::ThreadPool& threads,
                      Completion& completion) = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const TaskNeeds& needs() const { return needs_; }
  bool selects() const { return needs_.selection != Selection::kNone; }
  /// True if the logits of a step's codes are wanted.
  bool reads_codes() const {
    return needs_.selection == Selection::kBest || needs_.selection == Selection::kGiven;
  }
  bool reads_tokens() const { return needs_.selection == Selection::kTokens; }
  /// Selections after the prompt. REQUIRES: a binding where it selects by one.
  virtual uint32_t selections(const Request& request) const {
    if (reads_tokens()) return 1;
    return selects() ? request.binding->step_count() : 0;
  }
  /// Selections that rows of beams follow.
  uint32_t row_steps(const Request& request) const {
    return selects() ? selections(request) - 1 : 0;
  }
  /// Rows of beams that are computed at most.
  virtual uint64_t slots(const Request& request) const {
    return uint64_t{row_steps(request)} * widest(request);
  }

  /// REQUEST_INVALID naming the field that breaks a limit of this kind of request; limits of all
  /// kinds are request_limits.h's.
  virtual Status check(const Request& request, const EngineOptions& options) const = 0;
  /// Paths kept by selection `step` (from 0) at most. REQUIRES: selects() and check().
  virtual uint32_t width(const Request& request, uint32_t step) const = 0;
  /// The most of them over all steps; 0 where it does not select.
  virtual uint32_t widest(const Request& request) const = 0;
  /// Rows of beams that are computed, where the request tells; 0: it does not.
  virtual uint32_t rows(const Request&) const { return 0; }
  /// Searches of one kind compute about the same number of beam rows; 0: the model's output does
  /// not change the number.
  virtual uint64_t row_kind(const Request&) const { return 0; }
  /// REQUIRES: check(). `request.reach` is set where there is a binding.
  virtual std::unique_ptr<TaskRun> start(const Request& request) const = 0;

 protected:
  explicit Task(const TaskNeeds& needs) : needs_(needs) {}

 private:
  const TaskNeeds needs_;
};

}  // namespace tessera::engine
