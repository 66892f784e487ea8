#include "kv/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "platform/memory.h"

namespace tessera::kv {

Result<std::unique_ptr<Arena>> Arena::open(uint32_t slot_count, uint64_t block_bytes) {
  const uint64_t stride = slot_stride(block_bytes);
  const uint64_t bytes = stride * slot_count;
  if (bytes == 0) {
    return std::unique_ptr<Arena>(new Arena(0, block_bytes, stride, nullptr, {}));
  }
  const uint64_t left = platform::available_memory_bytes();
  if (bytes > left) {
    return Status(Code::kKvPoolInvalid, "kv tier: expected at most " + std::to_string(left) +
                                            " bytes (the machine's free memory), got " +
                                            std::to_string(bytes) + " for " +
                                            std::to_string(slot_count) + " blocks");
  }
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Status(Code::kKvPoolInvalid, "kv tier: the system refused " + std::to_string(bytes) +
                                            " bytes of address space");
  }
  (void)::madvise(data, bytes, MADV_HUGEPAGE);  // a hint: small pages are slower, not wrong
  return over(static_cast<std::byte*>(data), slot_count, block_bytes,
              [data, bytes] { ::munmap(data, bytes); });
}

std::unique_ptr<Arena> Arena::over(std::byte* data, uint32_t slot_count, uint64_t block_bytes,
                                   std::function<void()> release) {
  return std::unique_ptr<Arena>(
      new Arena(slot_count, block_bytes, slot_stride(block_bytes), data, std::move(release)));
}

Arena::Arena(uint32_t slot_count, uint64_t block_bytes, uint64_t stride, std::byte* data,
             std::function<void()> release)
    : slot_count_(slot_count),
      block_bytes_(block_bytes),
      stride_(stride),
      data_(data),
      release_(std::move(release)) {}

Arena::~Arena() {
  if (release_) release_();
}

std::byte* Arena::address(SlotIndex slot) {
  TESSERA_CHECK(slot < slot_count_);
  return data_ + stride_ * slot;
}

Status Arena::read(SlotIndex slot, std::span<std::byte> to) {
  TESSERA_CHECK(to.size() == block_bytes_);
  std::memcpy(to.data(), address(slot), to.size());
  return Status::ok();
}

Status Arena::write(SlotIndex slot, std::span<const std::byte> from) {
  TESSERA_CHECK(from.size() == block_bytes_);
  std::memcpy(address(slot), from.data(), from.size());
  return Status::ok();
}

Status Arena::copy(SlotIndex to, SlotIndex from) {
  std::memcpy(address(to), address(from), block_bytes_);
  return Status::ok();
}

Status Arena::zero(SlotIndex slot) {
  std::memset(address(slot), 0, block_bytes_);
  return Status::ok();
}

}  // namespace tessera::kv
