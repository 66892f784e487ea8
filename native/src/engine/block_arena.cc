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

bool BlockArena::fits(uint64_t count, uint64_t beside_bytes) const {
  const uint64_t missing = count - std::min<uint64_t>(count, free_.size());
  const uint64_t used = block_count() * block_bytes_ + beside_bytes_;
  if (used > bytes_max_ || beside_bytes > bytes_max_ - used) return false;
  return missing <= (bytes_max_ - used - beside_bytes) / block_bytes_;
}

Status BlockArena::reserve(uint32_t count) {
  if (free_.size() >= count) return Status::ok();
  if (fits(count, 0)) return grow(count - free_.size());
  const uint64_t used = block_count() * block_bytes_ + beside_bytes_;
  const uint64_t left = free_.size() + (bytes_max_ - std::min(bytes_max_, used)) / block_bytes_;
  return {Code::kEngineOverloaded, "keys and values: expected " + std::to_string(count) +
                                       " free blocks, the limit of " + std::to_string(bytes_max_) +
                                       " bytes leaves " + std::to_string(left)};
}

Status BlockArena::grow(uint64_t missing) {
  const uint64_t used = block_count() * block_bytes_ + beside_bytes_;
  const uint64_t allowed = (bytes_max_ - used) / block_bytes_;
  const uint64_t count = std::min(std::max(missing, kSlabBytes / block_bytes_), allowed);
  Result<device::Buffer> slab = device_.allocate(count * block_bytes_);
  if (!slab.is_ok()) return slab.status();
  const auto empty = std::find_if(slabs_.begin(), slabs_.end(),
                                  [](const device::Buffer& buffer) { return buffer.size() == 0; });
  const auto index = static_cast<uint32_t>(empty - slabs_.begin());
  if (empty == slabs_.end()) slabs_.emplace_back();
  slabs_[index] = std::move(slab).value();
  for (uint64_t i = 0; i < count; ++i) {
    if (numbers_.empty()) {
      numbers_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.emplace_back();
    }
    const uint32_t number = numbers_.back();
    numbers_.pop_back();
    blocks_[number] = {slabs_[index].as<char>() + i * block_bytes_, index, 0, true};
    free_.push_back(number);
  }
  return Status::ok();
}

uint32_t BlockArena::take() {
  TESSERA_CHECK(!free_.empty());
  const uint32_t number = free_.back();
  free_.pop_back();
  Block& block = blocks_[number];
  if (!block.is_zero) std::memset(block.data, 0, block_bytes_);
  block.is_zero = false;
  block.holders = 1;
  return number;
}

void BlockArena::share(uint32_t block) {
  TESSERA_CHECK(block < blocks_.size() && blocks_[block].holders > 0);
  ++blocks_[block].holders;
}

void BlockArena::give_back(uint32_t block) {
  TESSERA_CHECK(block < blocks_.size() && blocks_[block].holders > 0);
  if (--blocks_[block].holders == 0) free_.push_back(block);
}

Result<device::Buffer> BlockArena::allocate_beside(uint64_t bytes) {
  if (!fits(0, bytes)) {
    return Status(Code::kEngineOverloaded,
                  "keys and values of beams: expected room for " + std::to_string(bytes) +
                      " bytes below the limit of " + std::to_string(bytes_max_));
  }
  Result<device::Buffer> buffer = device_.allocate(bytes);
  if (buffer.is_ok()) beside_bytes_ += buffer.value().size();
  return buffer;
}

void BlockArena::release_beside(device::Buffer& buffer) {
  beside_bytes_ -= buffer.size();
  buffer = device::Buffer();
}

void BlockArena::trim() {
  std::vector<uint8_t> is_held(slabs_.size());
  for (const Block& block : blocks_) {
    if (block.holders > 0) is_held[block.slab] = 1;
  }
  std::erase_if(free_, [&](uint32_t number) { return is_held[blocks_[number].slab] == 0; });
  for (uint32_t number = 0; number < blocks_.size(); ++number) {
    Block& block = blocks_[number];
    if (block.data == nullptr || is_held[block.slab] != 0) continue;
    block = Block{};
    numbers_.push_back(number);
  }
  for (size_t slab = 0; slab < slabs_.size(); ++slab) {
    if (is_held[slab] == 0) slabs_[slab] = device::Buffer();
  }
}

}  // namespace tessera::engine
