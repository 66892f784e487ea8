// A queue runs kernels for the engine, one after the other in the order given: a card, or the
// emulated threads of a test. Kernels are named with their parameters' types (Kernel), so that a
// call that does not fit does not compile.
//
// Thread-safety: one thread at a time, whichever. The queue outlives its memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "cuda/device/driver.h"
#include "cuda/library/card_library.h"

namespace tessera::device::cuda {

/// A kernel's name and what it takes; pointers are to device memory.
template <typename... Parameters>
struct Kernel {
  const char* name;
};

/// A chain of launches to be asked for as a whole, with the arguments that it was recorded with;
/// what those point to is read anew. The queue outlives it.
class Recording {
 public:
  virtual ~Recording() = default;
};

class Queue {
 public:
  virtual ~Queue() = default;
  /// The device's part in the bits of results: two that differ here may round otherwise.
  virtual std::string numbers() const = 0;
  /// Errors: ENGINE_OVERLOADED.
  virtual Result<void*> allocate(uint64_t bytes) = 0;
  virtual void release(void* memory) = 0;
  /// That can still be allocated, together.
  virtual Result<uint64_t> bytes_left() const = 0;
  /// The host's bytes are taken before it returns; those in pinned memory by the next finish().
  virtual Status copy_in(void* to, const void* from, uint64_t bytes) = 0;
  /// Waits for all that was asked for before.
  virtual Status copy_out(void* to, const void* from, uint64_t bytes) = 0;
  /// To pinned memory, which has the bytes once the next finish() has returned.
  virtual Status copy_to_pinned(void* to, const void* from, uint64_t bytes) = 0;
  /// Both on the device; they do not overlap.
  virtual Status copy_within(void* to, const void* from, uint64_t bytes) = 0;
  virtual Status zero(void* at, uint64_t bytes) = 0;
  /// Waits for all that was asked for. Errors: what a kernel did.
  virtual Status finish() = 0;
  /// Memory of the host that copies are made from and to without another one in between; 4096-byte
  /// aligned. Errors: ENGINE_OVERLOADED.
  virtual Result<void*> allocate_pinned(uint64_t bytes) = 0;
  virtual void release_pinned(void* memory) = 0;
  /// `arguments`: pointers to the arguments, taken before it returns.
  virtual Status launch(const char* kernel, const LaunchShape& shape,
                        std::span<void* const> arguments) = 0;
  /// A product of BF16 (cuda/library/card_library.h), a launch like any other.
  virtual Status multiply(const TesseraCardProduct& product) = 0;
  /// Attention over blocks of prompts, likewise.
  virtual Status attend(const TesseraCardAttention& attention) = 0;
  /// From here to end_recording(), launches are kept instead of run, and all else but release() is
  /// refused: ENGINE_UNAVAILABLE.
  virtual Status begin_recording() = 0;
  /// Errors: the first of what was refused since, and what the device says; nothing is kept then.
  virtual Result<std::unique_ptr<Recording>> end_recording() = 0;
  /// Runs a chain of this queue's.
  virtual Status replay(const Recording& recording) = 0;
};

/// Of a call between begin_recording() and end_recording().
inline Status refused_while_recording(const char* call) {
  return {Code::kEngineUnavailable,
          std::string("device: ") + call + ": expected launches alone while a chain is recorded"};
}

template <typename... Parameters, typename... Arguments>
Status launch(Queue& queue, const Kernel<Parameters...>& kernel, const LaunchShape& shape,
              Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  return std::apply(
      [&](auto&... value) {
        const std::array<void*, sizeof...(Parameters)> pointers = {
            const_cast<void*>(static_cast<const void*>(&value))...};
        return queue.launch(kernel.name, shape, pointers);
      },
      values);
}

/// Memory that a queue has given, by two of its functions. Move-only.
template <auto kAllocate, auto kRelease>
class OwnMemory {
 public:
  OwnMemory() = default;
  /// Errors: ENGINE_OVERLOADED.
  static Result<OwnMemory> allocate(Queue& queue, uint64_t bytes) {
    Result<void*> data = (queue.*kAllocate)(bytes);
    if (!data.is_ok()) return data.status();
    OwnMemory memory;
    memory.queue_ = &queue;
    memory.data_ = data.value();
    return memory;
  }
  OwnMemory(OwnMemory&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}
  OwnMemory& operator=(OwnMemory&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(data_, other.data_);
    return *this;
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() {
    if (queue_ != nullptr) (queue_->*kRelease)(data_);
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Queue* queue_ = nullptr;
  void* data_ = nullptr;
};

/// On the device.
using Memory = OwnMemory<&Queue::allocate, &Queue::release>;
/// Pinned memory of the host.
using PinnedMemory = OwnMemory<&Queue::allocate_pinned, &Queue::release_pinned>;

/// Units that hold `value` of something: blocks of a grid, pages of an array.
constexpr uint32_t ceil_of(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit; }

/// Bytes that an array takes in a shared allocation: the next one begins aligned.
constexpr uint64_t padded_bytes(uint64_t bytes) {
  constexpr uint64_t kArrayAlignment = 256;
  return (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

/// Gives out one allocation array by array; first without memory, to learn its size.
class Arrays {
 public:
  explicit Arrays(char* base) : base_(base) {}
  template <typename T>
  void take(T*& pointer, uint64_t count) {
    pointer = reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += padded_bytes(count * sizeof(T));
  }
  uint64_t bytes() const { return bytes_; }

 private:
  char* base_;
  uint64_t bytes_ = 0;
};

}  // namespace tessera::device::cuda
