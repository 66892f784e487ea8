// A running request on the processor: its beams, with their keys and values, and what has finished
// so far. Owned and touched by the engine's thread alone. Buffers are kept and reused by the next
// request in the same slot, so the steady state allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "base/status.h"
#include "beam/select.h"
#include "device/device.h"
#include "engine/running_request.h"
#include "model/decoder.h"

namespace tessera::engine {

class RequestState final : public RunningRequest {
 public:
  RequestState(const model::Decoder& decoder, kv::Pool& pool, KvBudget& budget)
      : RunningRequest(decoder.config(), pool, budget), decoder_(decoder) {}
  ~RequestState() override { drop_buffers(); }

  /// Finds keys and values for a request whose limits have been checked, which begin() then takes.
  /// `leader` (null: none) is the running request of the link, which is undone where it is of no
  /// use. ENGINE_OVERLOADED when there is no room now; nothing is held then.
  Status reserve(const Request& request, const RunningRequest* leader, scheduler::Link& link);
  /// REQUIRES: reserve() for the same request.
  void begin(Request request, Clock::time_point now);

  uint32_t pending_rows() const override { return static_cast<uint32_t>(pending_tokens_.size()); }
  /// Appends the rows of a slice to a forward batch, without mirrors.
  void append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                   std::vector<attention::RowGroup>& groups) const;
  /// Records that the beams' rows, which end before row `end` of the pass, have been computed.
  void beams_computed(uint32_t end);
  /// Makes finite what a failed pass may have left where beams keep their keys and values.
  void clear_beams();
  /// A row of its own was not finite: it must end.
  void set_failed() { has_failed_ = true; }
  bool has_failed() const { return has_failed_; }

  /// Applies a selection: finished paths are collected, beams fork, their tokens wait for the next
  /// pass.
  void apply(const beam::Step& step);
  const beam::Beams& beams() const { return beams_; }

  /// Gives the beams' buffer back too. REQUIRES: released.
  void drop_buffers();

 private:
  Status reserve_beams(const Request& request);

  const model::Decoder& decoder_;
  device::Buffer beam_buffer_;
  attention::BeamKv beam_kv_;
  beam::Beams beams_;
  bool has_failed_ = false;
  std::vector<int32_t> pending_tokens_;  // [beams]: tokens to compute next; empty during the prompt
  std::vector<uint32_t> ancestors_;      // [beams][step_ - 1]
  std::vector<uint32_t> forked_ancestors_;  // scratch of apply()
};

}  // namespace tessera::engine
