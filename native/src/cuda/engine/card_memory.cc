#include "cuda/engine/card_memory.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"

namespace tessera::kv::cuda {

using device::cuda::Memory;
using device::cuda::padded_bytes;
using device::cuda::Queue;

Result<std::unique_ptr<CardMemory>> CardMemory::open(std::unique_ptr<Queue> queue,
                                                     uint32_t slot_count, uint64_t block_bytes) {
  auto opened =
      std::unique_ptr<CardMemory>(new CardMemory(std::move(queue), slot_count, block_bytes));
  if (slot_count == 0) return opened;
  Result<Memory> memory = Memory::allocate(*opened->queue_, slot_count * padded_bytes(block_bytes));
  if (!memory.is_ok()) {
    return Status(memory.status().code(), "a device tier of " + std::to_string(slot_count) +
                                              " blocks of " + std::to_string(block_bytes) +
                                              " bytes: " + memory.status().message());
  }
  opened->memory_ = std::move(memory).value();
  TESSERA_RETURN_IF_ERROR(
      opened->queue_->zero(opened->address(0), slot_count * padded_bytes(block_bytes)));
  TESSERA_RETURN_IF_ERROR(opened->queue_->finish());
  return opened;
}

std::byte* CardMemory::address(SlotIndex slot) {
  TESSERA_CHECK(slot < slot_count_);
  return memory_.as<std::byte>() + slot * padded_bytes(block_bytes_);
}

Status CardMemory::read(SlotIndex slot, std::span<std::byte> to) {
  TESSERA_CHECK(to.size() == block_bytes_);
  const MutexLock lock(mutex_);
  return queue_->copy_out(to.data(), address(slot), block_bytes_);
}

Status CardMemory::write(SlotIndex slot, std::span<const std::byte> from) {
  TESSERA_CHECK(from.size() == block_bytes_);
  const MutexLock lock(mutex_);
  TESSERA_RETURN_IF_ERROR(queue_->copy_in(address(slot), from.data(), block_bytes_));
  return queue_->finish();
}

Status CardMemory::copy(SlotIndex to, SlotIndex from) {
  const MutexLock lock(mutex_);
  TESSERA_RETURN_IF_ERROR(queue_->copy_within(address(to), address(from), block_bytes_));
  return queue_->finish();
}

Status CardMemory::zero(SlotIndex slot) {
  const MutexLock lock(mutex_);
  TESSERA_RETURN_IF_ERROR(queue_->zero(address(slot), block_bytes_));
  return queue_->finish();
}

Result<std::unique_ptr<Arena>> open_pinned(std::shared_ptr<Queue> queue, uint32_t slot_count,
                                           uint64_t block_bytes) {
  const uint64_t bytes = slot_count * slot_stride(block_bytes);
  if (bytes == 0) return Arena::open(slot_count, block_bytes);
  Result<void*> memory = queue->allocate_pinned(bytes);
  if (!memory.is_ok()) return Arena::open(slot_count, block_bytes);
  void* const data = memory.value();
  std::memset(data, 0, bytes);
  return Arena::over(static_cast<std::byte*>(data), slot_count, block_bytes,
                     [queue = std::move(queue), data] { queue->release_pinned(data); });
}

}  // namespace tessera::kv::cuda
