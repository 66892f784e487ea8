// The rows of one forward pass: what a plan becomes when the requests give their tokens and views.
// Rows that several requests share appear once and are mirrored into the blocks in which the others
// keep them. Engine thread only; buffers are kept between passes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/kv_view.h"
#include "engine/running_request.h"
#include "model/decoder.h"
#include "scheduler/plan_step.h"

namespace tessera::engine {

class PassBatch {
 public:
  using Running = std::span<RunningRequest* const>;

  void build(std::span<const scheduler::Slice> plan, Running running,
             std::span<const scheduler::Link> links);

  model::ForwardBatch forward_batch() const { return {tokens_, groups_, adapters_}; }
  /// The first of the groups that hold the rows of a slice; rows of beams have one for each step.
  const attention::RowGroup& group(size_t slice) const { return groups_[first_groups_[slice]]; }

 private:
  struct MirrorRange {
    size_t first = 0, count = 0;
  };

  void add_adapter(const lora::Adapter* adapter, const attention::RowGroup& rows);
  void add_mirrors(const scheduler::Slice& slice, Running running,
                   std::span<const scheduler::Link> links);

  std::vector<int32_t> tokens_;
  std::vector<attention::RowGroup> groups_;
  std::vector<size_t> first_groups_;          // [slices] into groups_
  std::vector<model::AdapterRows> adapters_;  // neighbours have different ones
  std::vector<attention::Mirror> mirrors_;    // of all groups
  std::vector<MirrorRange> ranges_;           // [groups] into mirrors_
  std::vector<uint32_t> shared_;
};

}  // namespace tessera::engine
