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
  RequestState(const model::Decoder& decoder, kv::Pool& pool, KvBudget& budget, uint32_t rows_max)
      : RunningRequest(decoder.config(), pool, budget), decoder_(decoder), rows_max_(rows_max) {}
  ~RequestState() override { drop_buffers(); }

  /// Finds keys and values for a request whose limits have been checked, which begin() then takes.
  /// `leader` (null: none) is the running request of the link, which is undone where it is of no
  /// use. ENGINE_OVERLOADED when there is no room now; nothing is held then.
  Status reserve(const Request& request, const RunningRequest* leader, scheduler::Link& link);
  /// REQUIRES: reserve() for the same request.
  void begin(Request request, Clock::time_point now);

  uint32_t pending_rows() const override { return is_asked_ ? 0 : row_count(); }
  /// Appends the rows of a slice to a forward batch, a group for each step, without mirrors.
  void append_rows(const scheduler::Slice& slice, std::vector<int32_t>& tokens,
                   std::vector<attention::RowGroup>& groups) const;
  /// Records that the beams' rows, which end before row `end` of the pass, have been computed.
  void beams_computed(uint32_t end);
  /// Makes finite what a failed pass may have left where beams keep their keys and values.
  void clear_beams();
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
  void narrow_to(const scheduler::Narrowing& narrowing) override;

  /// Gives the beams' buffer back too. REQUIRES: released.
  void drop_buffers();

 private:
  Status reserve_beams(const Request& request);

  uint32_t row_count() const { return static_cast<uint32_t>(rows_.size()); }
  uint32_t first_slot() const { return static_cast<uint32_t>(parent_slots_.size()) - row_count(); }
  /// Fills due_ with the rows by their steps.
  void list_due();
  DueRows& add_due(uint32_t first, uint32_t step);
  void find_ancestors(const DueRows& rows, std::vector<uint32_t>& ancestors) const;

  const model::Decoder& decoder_;
  const uint32_t rows_max_;  // of a pass
  device::Buffer beam_buffer_;
  attention::BeamKv beam_kv_;
  bool has_failed_ = false;
  beam::Rows rows_;        // that come next, or whose logits are due; none: the prompt's last row
  bool is_asked_ = false;  // they are computed
  std::vector<uint32_t> parent_slots_;  // by slot, of each row's ancestor; those of rows_ are last
  std::vector<int32_t> tokens_;         // [rows_]
  std::vector<std::vector<uint32_t>> ancestors_;  // of each step's rows, [rows][step - 1]
  std::vector<DueRows> due_;  // the first due_count_ count; the others' memory is kept
  size_t due_count_ = 0;
};

}  // namespace tessera::engine
