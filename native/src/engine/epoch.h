// A pass is an epoch: what it writes is visible to its own rows alone until it has been checked.
// It commits finite rows that depend on finite rows, and rolls back the rest: zeroes it in place,
// so that no pass can read it; requests that still need it compute it again (scheduler/prefix.h
// decides, docs/internals/engine.md tells why). Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/pass_batch.h"
#include "model/decoder.h"
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
  Epoch(const model::Decoder& decoder, RowFaults* faults) : decoder_(decoder), faults_(faults) {}

  /// Checks the rows of the pass and commits or takes back. Afterwards those requests have failed
  /// whose own rows were not finite; they must end. Errors: what the device says.
  Status settle(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                std::span<const scheduler::Link> links, const PassBatch& batch,
                model::PassMemory& memory);

  /// Prompt rows taken back from requests that go on.
  uint64_t rolled_back_rows() const { return rolled_back_rows_; }

 private:
  Status check_rows(std::span<const scheduler::Slice> plan, PassBatch::Running running,
                    const PassBatch& batch, model::PassMemory& memory);
  Status take_back(const attention::RowGroup& rows) const;

  const model::Decoder& decoder_;
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
