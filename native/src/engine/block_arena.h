// The KV memory of all running requests: blocks of one size, grown a slab at a time, and the beams'
// buffers beside them, together under one limit of bytes. A block is known by its number and may
// have several holders. Owner: StepLoop; the engine's thread alone.
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
  /// A block of zeros with one holder. REQUIRES: free_blocks() > 0.
  uint32_t take();
  /// One holder more.
  void share(uint32_t block);
  /// One holder less; the last one's block is free.
  void give_back(uint32_t block);

  /// Memory of another shape under the same limit. Errors: ENGINE_OVERLOADED.
  Result<device::Buffer> allocate_beside(uint64_t bytes);
  void release_beside(device::Buffer& buffer);

  /// True when `count` further blocks and `beside_bytes` further bytes are within the limit.
  bool fits(uint64_t count, uint64_t beside_bytes) const;
  /// Gives the slabs back in which no block is held.
  void trim();

  void* data(uint32_t block) const { return blocks_[block].data; }
  uint32_t holders(uint32_t block) const { return blocks_[block].holders; }
  uint64_t block_bytes() const { return block_bytes_; }
  uint64_t bytes_max() const { return bytes_max_; }
  uint64_t free_blocks() const { return free_.size(); }
  /// Blocks that there is memory for, held or free.
  uint64_t block_count() const { return blocks_.size() - numbers_.size(); }

 private:
  struct Block {
    void* data = nullptr;  // null: the number is unused
    uint32_t slab = 0;
    uint32_t holders = 0;
    bool is_zero = true;  // never taken since its slab was allocated
  };

  Status grow(uint64_t missing);

  device::Device& device_;
  const uint64_t block_bytes_;
  const uint64_t bytes_max_;
  uint64_t beside_bytes_ = 0;
  std::vector<device::Buffer> slabs_;  // empty where one was given back
  std::vector<Block> blocks_;
  std::vector<uint32_t> free_;     // the last one is taken next
  std::vector<uint32_t> numbers_;  // unused entries of blocks_
};

}  // namespace tessera::engine
