// The pool's device tier in the memory of a card, and its host tier in memory that a card copies
// from and to by itself.
#pragma once

#include <memory>

#include "base/mutex.h"
#include "cuda/device/queue.h"
#include "kv/memory.h"

namespace tessera::kv::cuda {

/// Blocks in one allocation on the card, zero to begin with. Transfers go through a queue that is
/// this memory's alone, beside the queue of the kernels: they wait for no pass, and passes that
/// read what they brought are asked for after they have returned.
class CardMemory final : public BlockMemory {
 public:
  /// Errors: ENGINE_OVERLOADED with the bytes that were asked for.
  static Result<std::unique_ptr<CardMemory>> open(std::unique_ptr<device::cuda::Queue> queue,
                                                  uint32_t slot_count, uint64_t block_bytes);
  uint32_t slot_count() const override { return slot_count_; }
  std::byte* address(SlotIndex slot) override;
  bool is_addressable() const override { return false; }
  Status read(SlotIndex slot, std::span<std::byte> to) override;
  Status write(SlotIndex slot, std::span<const std::byte> from) override;
  Status copy(SlotIndex to, SlotIndex from) override;
  Status zero(SlotIndex slot) override;

 private:
  CardMemory(std::unique_ptr<device::cuda::Queue> queue, uint32_t slot_count, uint64_t block_bytes)
      : slot_count_(slot_count), block_bytes_(block_bytes), queue_(std::move(queue)) {}

  const uint32_t slot_count_;
  const uint64_t block_bytes_;
  Mutex mutex_;  // one transfer of the queue at a time
  const std::unique_ptr<device::cuda::Queue> queue_;
  device::cuda::Memory memory_;
};

/// Host memory for `slot_count` blocks that the card reads and writes without a copy in between; an
/// Arena like any other where the driver grants none. The queue may be closed before it. Errors:
/// those of Arena::open.
Result<std::unique_ptr<Arena>> open_pinned(std::shared_ptr<device::cuda::Queue> queue,
                                           uint32_t slot_count, uint64_t block_bytes);

}  // namespace tessera::kv::cuda
