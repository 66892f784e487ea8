// Where tensors live, and who computes on them on the processor: memory, copies, the kernel table
// and the threads that run it. Of a card only the memory is behind this; what computes there is
// cuda/device/queue.h.
//
// Thread-safety: allocate and copy from any thread; the thread pool takes one caller at a time. A
// space outlives its buffers.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/kernel_table.h"
#include "platform/thread_pool.h"

namespace tessera::device {

class MemorySpace;

/// Memory of a space, 64-byte aligned, zeroed. Move-only; returned to its space when destroyed.
class Buffer {
 public:
  Buffer() = default;
  Buffer(MemorySpace& space, void* data, uint64_t size);
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
  MemorySpace* space_ = nullptr;
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

/// The process's memory, or a card's, which code on the processor must not touch.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;

  /// Bytes that allocate() would give now.
  virtual uint64_t available_bytes() const = 0;
  /// Zeroed memory. Errors: ENGINE_OVERLOADED when the space has not that much left (asked before
  /// allocating).
  virtual Result<Buffer> allocate(uint64_t bytes) = 0;
  /// Zeroes a buffer of the space, once what was asked of its device before is done. Errors: what
  /// the device says; the processor has none.
  virtual Status zero(Buffer& buffer) = 0;

 private:
  friend class Buffer;
  virtual void release(void* data, uint64_t bytes) = 0;
};

class Device : public MemorySpace {
 public:
  static constexpr uint64_t kAlignment = 64;  // bytes

  /// Backend and instruction set, e.g. "cpu/avx512".
  virtual const char* name() const = 0;
  /// REQUIRES: ranges are valid and do not overlap; either side may be device memory. Complete on
  /// return.
  virtual void copy(void* to, const void* from, uint64_t bytes) = 0;
  virtual const KernelTable& kernels() const = 0;
  virtual platform::ThreadPool& threads() = 0;
};

}  // namespace tessera::device
