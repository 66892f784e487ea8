// One running request: its keys and values, its beams and what has finished so far. Owned and
// touched by the engine's thread alone. Buffers are kept and reused by the next request in the same
// slot, so the steady state allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "beam/select.h"
#include "device/device.h"
#include "engine/block_arena.h"
#include "engine/request.h"
#include "model/decoder.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

class RequestState {
 public:
  RequestState(const model::Decoder& decoder, device::Device& device, BlockArena& arena)
      : decoder_(decoder), device_(device), arena_(arena) {}
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;

  /// Takes a request whose limits have been checked. ENGINE_OVERLOADED when its keys and values
  /// find no memory.
  Status begin(Request request, Clock::time_point now);

  scheduler::Runnable runnable() const;
  /// Appends `rows` rows of this request to a forward batch. REQUIRES: what runnable() offered.
  void append_rows(uint32_t rows, std::vector<int32_t>& tokens,
                   std::vector<attention::RowGroup>& groups);
  /// Records that the rows appended last have been computed.
  void rows_computed(uint32_t rows);
  /// True when the beams' next logits are in the workspace: the last `beams().nodes.size()` rows of
  /// this request.
  bool awaits_selection() const { return awaits_selection_; }

  /// Candidates kept in the coming selection, before capping by what is reachable.
  uint32_t width() const;
  /// Level whose codes are candidates in the coming selection; false when only terminal tokens can
  /// follow.
  bool has_level() const { return step_ < binding().snapshot().depth(); }
  uint32_t level() const { return step_; }
  /// Applies a selection: finished paths are collected, beams fork, their tokens wait for the next
  /// pass.
  void apply(const beam::Step& step);
  bool is_done() const {
    return !awaits_selection_ && prompt_left() == 0 && pending_tokens_.empty();
  }

  const Request& request() const { return request_; }
  const Binding& binding() const { return *request_.binding; }
  const beam::Beams& beams() const { return beams_; }
  std::span<const beam::Finished> finished() const { return finished_; }
  const std::vector<uint32_t>& widths_used() const { return widths_used_; }
  Timings& timings() { return timings_; }
  bool is_decoding() const { return step_ > 0; }
  /// Gives back the blocks and drops the references that the request held; the beams' buffers stay.
  void release();

 private:
  uint32_t prompt_left() const {
    return static_cast<uint32_t>(request_.prompt.size()) - prompt_kv_.length;
  }
  Status take_blocks(uint32_t prompt_tokens);
  Status reserve_beams(uint32_t decode_passes, uint32_t width);

  const model::Decoder& decoder_;
  device::Device& device_;
  BlockArena& arena_;
  Request request_;
  std::vector<uint32_t> blocks_;   // of the arena, position 0 first
  std::vector<void*> block_data_;  // what prompt_kv_ points to
  device::Buffer beam_keys_, beam_values_;
  attention::PromptKv prompt_kv_;
  attention::BeamKv beam_kv_;
  beam::Beams beams_;
  std::vector<int32_t> pending_tokens_;  // [beams]: tokens to compute next; empty during the prompt
  std::vector<uint32_t> ancestors_;      // [beams][step_ - 1]
  std::vector<uint32_t> forked_ancestors_;  // scratch of apply()
  std::vector<beam::Finished> finished_;
  std::vector<uint32_t> widths_used_;
  Timings timings_;
  uint32_t step_ = 0;  // selections applied
  bool awaits_selection_ = false;
};

}  // namespace tessera::engine
