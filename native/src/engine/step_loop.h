// The plot of the engine, one pass at a time: plan -> forward -> head -> select -> fork ->
// complete. Runs on the engine's thread only; everything mutable of the running requests is here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/block_arena.h"
#include "engine/options.h"
#include "engine/request.h"
#include "engine/request_state.h"
#include "model/decoder.h"
#include "model/workspace.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

/// Counters of a step loop; read by any thread.
struct LoopCounters {
  std::atomic<uint64_t> prefill_tokens{0};
  std::atomic<uint64_t> decode_tokens{0};
  std::atomic<uint64_t> forward_passes{0};
};

/// Rows of a forward pass at most: a prompt chunk beside the widest request's beams.
inline uint32_t row_budget(const EngineOptions& options) {
  return options.prefill_chunk_tokens + options.width_max;
}

class StepLoop {
 public:
  /// `workspace` holds row_budget(options) rows.
  StepLoop(const EngineOptions& options, const model::Decoder& decoder, device::Device& device,
           std::unique_ptr<model::Workspace> workspace, LoopCounters& counters);

  uint32_t running() const { return static_cast<uint32_t>(running_.size()); }
  bool has_room() const { return running() < options_.batch_requests_max; }
  /// REQUIRES: has_room() and a request whose limits have been checked. Not ok: nothing was
  /// admitted.
  Status admit(Request request, Clock::time_point now);
  /// One forward pass and what follows from it. Requests that ended are appended to `completed`.
  void run_pass(std::vector<Completion>& completed);
  /// Ends every running request that `ended` gives a Status which is not ok.
  template <typename Ended>
  void sweep(const Ended& ended, std::vector<Completion>& completed) {
    for (size_t i = running_.size(); i-- > 0;) {
      Status status = ended(running_[i]->request());
      if (!status.is_ok()) completed.push_back(retire(i, std::move(status)));
    }
  }

 private:
  void forward();
  void select(RequestState& state, uint32_t last_row_end);
  Completion retire(size_t index, Status status);
  void export_items(RequestState& state, Completion& completion);

  const EngineOptions options_;
  const model::Decoder& decoder_;
  device::Device& device_;
  LoopCounters& counters_;
  std::unique_ptr<model::Workspace> workspace_;
  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> select_scratch_;
  beam::Step step_;

  BlockArena arena_;
  std::vector<std::unique_ptr<RequestState>> running_;  // oldest first
  std::vector<std::unique_ptr<RequestState>> idle_;     // buffers of past requests, reused

  // Scratch of one pass.
  std::vector<scheduler::Runnable> runnable_;
  std::vector<scheduler::Share> plan_;
  std::vector<int32_t> tokens_;
  std::vector<attention::RowGroup> groups_;
  std::vector<uint32_t> rows_;
  std::vector<float> code_logits_, terminal_logits_, next_terminal_, log_sum_exp_;
};

}  // namespace tessera::engine
