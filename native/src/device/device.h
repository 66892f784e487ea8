// Where tensors live and who computes on them on the processor: memory, copies, the kernel table
// and the threads that run it. A card's are not behind this: they are cuda/device/queue.h.
//
// Thread-safety: allocate and copy from any thread; the thread pool takes one caller at a time. The
// device outlives its buffers.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/kernel_table.h"
#include "platform/thread_pool.h"

namespace tessera::device {

class Device;

/// Device memory, 64-byte aligned, zeroed. Move-only; returned to its device when destroyed.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, void* data, uint64_t size);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  void* data() { return data_; }
  const void* data() const { return data_; }
  uint64_t size() const { return size_; }  // bytes
  template <typename T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

class Device {
 public:
  static constexpr uint64_t kAlignment = 64;  // bytes

  virtual ~Device() = default;

  /// Backend and instruction set, e.g. "cpu/avx512".
  virtual const char* name() const = 0;
  /// Bytes that allocate() would give now.
  virtual uint64_t available_bytes() const = 0;
  /// Zeroed memory. Errors: ENGINE_OVERLOADED when the device has not that much left (asked before
  /// allocating).
  virtual Result<Buffer> allocate(uint64_t bytes) = 0;
  /// REQUIRES: ranges are valid and do not overlap; either side may be device memory. Complete on
  /// return.
  virtual void copy(void* to, const void* from, uint64_t bytes) = 0;
  virtual const KernelTable& kernels() const = 0;
  virtual platform::ThreadPool& threads() = 0;

 private:
  friend class Buffer;
  virtual void release(void* data, uint64_t bytes) = 0;
};

}  // namespace tessera::device
