// A pass is an epoch: what it writes is visible to its own rows alone until it has been checked.
// It commits finite rows that depend on finite rows, and rolls back the rest: zeroes it in place,
// so that no pass can read it; requests that still need it compute it again (scheduler/prefix.h
// decides, docs/internals/engine.md tells why). Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/block.h"
#include "engine/pass_batch.h"
#include "model/workspace.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

/// Test seam: sees the rows of each slice after the forward pass and may strike them. Rows that are
/// struck count as not finite; the blocks behind them may have been spoiled.
class RowFaults {
 public:
  virtual ~RowFaults() = default;
  virtual bool strikes(uint32_t ticket, const attention::RowGroup& rows) = 0;
};

class Epoch {
 public:
  Epoch(const model::Decoder& decoder, RowFaults* faults)
      : decoder_(decoder), layout_(decoder.block_layout()), faults_(faults) {}

  /// Checks the rows of the pass and commits or takes back. Afterwards those requests have failed
  /// whose own rows were not finite; they must end.
  void settle(std::span<const scheduler::Slice> plan, PassBatch::Running running,
              std::span<const scheduler::Link> links, const PassBatch& batch,
              const model::Workspace& workspace);

  /// Prompt rows taken back from requests that go on.
  uint64_t rolled_back_rows() const { return rolled_back_rows_; }

 private:
  void check_rows(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                  const PassBatch& batch, const model::Workspace& workspace);
  void take_back(const attention::RowGroup& rows) const;
  void clear_positions(const attention::PromptKv& prompt, uint32_t first, uint32_t count) const;

  const model::Decoder& decoder_;
  const attention::BlockLayout layout_;
  RowFaults* const faults_;
  uint64_t rolled_back_rows_ = 0;
  // Of the prompt slices of one pass.
  std::vector<scheduler::PromptSlice> slices_;
  std::vector<uint32_t> group_of_;  // [slices_]
  std::vector<uint8_t> finite_;
  std::vector<scheduler::SliceOutcome> outcomes_;
  std::vector<uint32_t> lengths_, own_, ends_, scratch_;  // [running]
};

}  // namespace tessera::engine
