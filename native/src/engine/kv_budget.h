// The memory that keys and values of all running requests may take: blocks of prompts, which lie in
// the pool's device tier, and the beams' buffers beside them. Owner: Loop; the engine's thread
// alone.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "device/device.h"

namespace tessera::engine {

class KvBudget {
 public:
  /// `memory`, of beams, outlives the budget.
  KvBudget(device::MemorySpace& memory, uint64_t block_bytes, uint64_t bytes_max)
      : memory_(memory), block_bytes_(block_bytes), bytes_max_(bytes_max) {}

  /// True when `blocks` further blocks and `beam_bytes` further bytes are within the limit.
  bool fits(uint64_t blocks, uint64_t beam_bytes) const;
  void take_blocks(uint64_t count) { blocks_ += count; }
  void give_blocks(uint64_t count) { blocks_ -= count; }
  /// Memory of beams. Errors: ENGINE_OVERLOADED.
  Result<device::Buffer> take_beams(uint64_t bytes);
  void give_beams(device::Buffer& buffer);

  uint64_t blocks() const { return blocks_; }

 private:
  device::MemorySpace& memory_;
  const uint64_t block_bytes_;
  const uint64_t bytes_max_;
  uint64_t blocks_ = 0;
  uint64_t beam_bytes_ = 0;
};

}  // namespace tessera::engine
