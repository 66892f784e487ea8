#include "engine/block_arena.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"

namespace tessera::engine {
namespace {

constexpr uint64_t kSlabBytes = 8u << 20;  // a few huge pages; a larger need is one slab of its own

}  // namespace

BlockArena::BlockArena(device::Device& device, uint64_t block_bytes, uint64_t bytes_max)
    : device_(device), block_bytes_(block_bytes), bytes_max_(bytes_max) {
  TESSERA_CHECK(block_bytes > 0);
}

Status BlockArena::reserve(uint32_t count) {
  if (free_.size() >= count) return Status::ok();
  const uint64_t missing = count - free_.size();
  const uint64_t allowed = bytes_max_ / block_bytes_ - block_count();
  if (missing > allowed) {
    return {Code::kEngineOverloaded, "keys and values: expected " + std::to_string(count) +
                                         " free blocks, the limit of " +
                                         std::to_string(bytes_max_) + " bytes leaves " +
                                         std::to_string(free_.size() + allowed)};
  }
  const uint64_t blocks = std::min(std::max(missing, kSlabBytes / block_bytes_), allowed);
  Result<device::Buffer> slab = device_.allocate(blocks * block_bytes_);
  if (!slab.is_ok()) return slab.status();
  char* bytes = slab.value().as<char>();
  slabs_.push_back(std::move(slab).value());
  for (uint64_t i = 0; i < blocks; ++i) {
    free_.push_back(static_cast<uint32_t>(blocks_.size()));
    blocks_.push_back(bytes + i * block_bytes_);
    is_zero_.push_back(1);
  }
  return Status::ok();
}

uint32_t BlockArena::take() {
  TESSERA_CHECK(!free_.empty());
  const uint32_t block = free_.back();
  free_.pop_back();
  if (is_zero_[block] == 0) std::memset(blocks_[block], 0, block_bytes_);
  is_zero_[block] = 0;
  return block;
}

void BlockArena::give_back(uint32_t block) {
  TESSERA_CHECK(block < blocks_.size());
  free_.push_back(block);
}

}  // namespace tessera::engine
