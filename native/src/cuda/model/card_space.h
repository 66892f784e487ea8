// Memory of a card as buffers, for the keys and values of beams.
#pragma once

#include <memory>
#include <utility>

#include "cuda/device/queue.h"
#include "device/device.h"

namespace tessera::model::cuda {

/// Thread-safety: one thread at a time, that of the queue, which it holds.
class CardSpace final : public device::MemorySpace {
 public:
  explicit CardSpace(std::shared_ptr<device::cuda::Queue> queue) : queue_(std::move(queue)) {}

  uint64_t available_bytes() const override {
    const Result<uint64_t> left = queue_->bytes_left();
    return left.is_ok() ? left.value() : 0;
  }
  Result<device::Buffer> allocate(uint64_t bytes) override {
    if (bytes == 0) return device::Buffer();
    Result<void*> data = queue_->allocate(bytes);
    if (!data.is_ok()) return data.status();
    device::Buffer buffer(*this, data.value(), bytes);
    TESSERA_RETURN_IF_ERROR(zero(buffer));
    return buffer;
  }
  Status zero(device::Buffer& buffer) override {
    return queue_->zero(buffer.data(), buffer.size());
  }

 private:
  void release(void* data, uint64_t /*bytes*/) override { queue_->release(data); }

  const std::shared_ptr<device::cuda::Queue> queue_;
};

}  // namespace tessera::model::cuda
