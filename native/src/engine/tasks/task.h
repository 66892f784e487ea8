// A kind of request: what it needs of the passes that compute it, and what becomes of their
// numbers. The loops ask these questions and never which kind a request is, so a new kind is a file
// in this folder and a row of tasks.cc.
//
// A Task has no state and may be called on any thread. A TaskRun is one request's part of it, from
// its admission to its completion, and belongs to the engine's thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
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
};

struct TaskNeeds {
  Selection selection = Selection::kNone;
  /// Whether the request names a binding, by which codes are tokens and prompts have versions.
  bool has_binding = true;
  /// Whether the user KV pool may find and keep blocks of the prompt, and whether requests that run
  /// together may compute what their prompts have in common once.
  bool shares_blocks = true;
  /// Whether a request that has ended goes on lending its prompt to those that are let in before
  /// the next pass: such requests come in groups that begin alike, and a pass may end all that run.
  bool lends_prompt = false;
};

class TaskRun {
 public:
  virtual ~TaskRun() = default;
  /// Fills `step` with what goes on from the logits of `beams`. Called once per selection of a task
  /// that selects, on the processor; `options.width` is Task::width() or less.
  virtual void select(const beam::Beams& beams, const beam::StepLogits& logits,
                      const beam::SelectOptions& options, beam::Scratch& scratch,
                      beam::Step& step) = 0;
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
  bool reads_tokens() const { return needs_.selection == Selection::kTokens; }
  /// Selections after the prompt. REQUIRES: a binding where it selects by one.
  uint32_t selections(const Request& request) const {
    if (reads_tokens()) return 1;
    return selects() ? request.binding->step_count() : 0;
  }
  /// Passes of beams after the prompt, at most.
  uint32_t decode_passes(const Request& request) const {
    return selects() ? selections(request) - 1 : 0;
  }

  /// REQUEST_INVALID naming the field that breaks a limit of this kind of request; limits of all
  /// kinds are request_limits.h's.
  virtual Status check(const Request& request, const EngineOptions& options) const = 0;
  /// Paths kept by selection `step` (from 0) at most. REQUIRES: selects() and check().
  virtual uint32_t width(const Request& request, uint32_t step) const = 0;
  /// The most of them over all steps; 0 where it does not select.
  virtual uint32_t widest(const Request& request) const = 0;
  /// REQUIRES: check(). `request.reach` is set where there is a binding.
  virtual std::unique_ptr<TaskRun> start(const Request& request) const = 0;

 protected:
  explicit Task(const TaskNeeds& needs) : needs_(needs) {}

 private:
  const TaskNeeds needs_;
};

}  // namespace tessera::engine
