// The KV blocks of all running requests: device memory in blocks of one size, grown a slab at a
// time up to a limit of bytes and never given back before the arena ends. A block is known by its
// number. Owner: StepLoop; the engine's thread alone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "device/device.h"

namespace tessera::engine {

class BlockArena {
 public:
  /// REQUIRES: block_bytes > 0. The device outlives the arena.
  BlockArena(device::Device& device, uint64_t block_bytes, uint64_t bytes_max);

  /// Makes take() succeed `count` times. Errors: ENGINE_OVERLOADED when the limit or the device's
  /// memory does not allow that; nothing has changed then.
  Status reserve(uint32_t count);
  /// A block of zeros that nobody else holds. REQUIRES: free_blocks() > 0.
  uint32_t take();
  void give_back(uint32_t block);

  void* data(uint32_t block) const { return blocks_[block]; }
  uint64_t free_blocks() const { return free_.size(); }
  uint64_t block_count() const { return blocks_.size(); }

 private:
  device::Device& device_;
  const uint64_t block_bytes_;
  const uint64_t bytes_max_;
  std::vector<device::Buffer> slabs_;
  std::vector<void*> blocks_;
  std::vector<uint8_t> is_zero_;  // [blocks]: never taken since its slab was allocated
  std::vector<uint32_t> free_;    // the last one is taken next
};

}  // namespace tessera::engine
