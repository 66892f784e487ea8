// Where the blocks of the `device` and `host` tiers lie. The pool moves blocks through this face
// alone, so that a device whose memory the processor cannot address serves as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/status.h"
#include "kv/block.h"

namespace tessera::kv {

/// Every byte is zero to begin with. Thread-safety: any thread; the caller keeps two transfers of
/// one slot apart. Every transfer is complete on return. Errors of transfers: what the device says;
/// memory of the processor has none.
class BlockMemory {
 public:
  virtual ~BlockMemory() = default;
  virtual uint32_t slot_count() const = 0;
  /// Address of a slot for code that runs where the memory lies: kernels read blocks here in place.
  virtual std::byte* address(SlotIndex slot) = 0;
  /// True if the processor may read and write at address().
  virtual bool is_addressable() const = 0;
  /// `to` and `from` have the size of a block.
  virtual Status read(SlotIndex slot, std::span<std::byte> to) = 0;
  virtual Status write(SlotIndex slot, std::span<const std::byte> from) = 0;
  virtual Status copy(SlotIndex to, SlotIndex from) = 0;
  virtual Status zero(SlotIndex slot) = 0;
};

/// Anonymous memory, taken as it fills: huge pages where the system has them. Slots begin at
/// multiples of 4096 bytes, as direct file access wants them.
class Arena final : public BlockMemory {
 public:
  static constexpr uint64_t kAlignment = 4096;  // bytes

  /// Errors: KV_POOL_INVALID when the machine has not that much memory left.
  static Result<std::unique_ptr<Arena>> open(uint32_t slot_count, uint64_t block_bytes);
  /// Slots in memory of the caller, slot_stride() apart, which `release` gives back.
  static std::unique_ptr<Arena> over(std::byte* data, uint32_t slot_count, uint64_t block_bytes,
                                     std::function<void()> release);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint32_t slot_count() const override { return slot_count_; }
  uint64_t block_bytes() const { return block_bytes_; }
  std::byte* address(SlotIndex slot) override;
  bool is_addressable() const override { return true; }
  Status read(SlotIndex slot, std::span<std::byte> to) override;
  Status write(SlotIndex slot, std::span<const std::byte> from) override;
  Status copy(SlotIndex to, SlotIndex from) override;
  Status zero(SlotIndex slot) override;

 private:
  Arena(uint32_t slot_count, uint64_t block_bytes, uint64_t stride, std::byte* data,
        std::function<void()> release);

  const uint32_t slot_count_;
  const uint64_t block_bytes_;
  const uint64_t stride_;  // bytes from slot to slot
  std::byte* const data_;
  const std::function<void()> release_;
};

/// `bytes` rounded up to the alignment of slots.
constexpr uint64_t slot_stride(uint64_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

}  // namespace tessera::kv
