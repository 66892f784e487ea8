// Small pieces of a queue's device memory: allocating each from the driver would cost more than
// what is written there. Pieces have sizes of powers of two and come from slabs, which are kept.
//
// Thread-safety: one thread at a time, that of the queue. A piece that was given back is taken
// again by what is asked for later, so kernels asked for before have read it by then. The heap
// outlives its pieces.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuda/device/queue.h"

namespace tessera::device::cuda {

class Heap {
 public:
  static constexpr uint64_t kPieceBytesMin = 64;
  static constexpr uint64_t kSlabBytes = 1u << 20;

  /// Move-only; gives its memory back.
  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept
        : heap_(std::exchange(other.heap_, nullptr)),
          size_class_(other.size_class_),
          data_(other.data_),
          own_(std::move(other.own_)) {}
    Piece& operator=(Piece&& other) noexcept {
      std::swap(heap_, other.heap_);
      std::swap(size_class_, other.size_class_);
      std::swap(data_, other.data_);
      std::swap(own_, other.own_);
      return *this;
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece();
    /// Aligned to kPieceBytesMin.
    void* data() const { return data_; }

   private:
    friend class Heap;
    Heap* heap_ = nullptr;  // null: nothing to give back
    uint32_t size_class_ = 0;
    void* data_ = nullptr;
    Memory own_;  // of a piece beyond a slab
  };

  explicit Heap(Queue& queue) : queue_(queue) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Errors: ENGINE_OVERLOADED.
  Result<Piece> take(uint64_t bytes);
  /// Of the pieces that are out, as their classes are sized.
  uint64_t bytes_in_use() const { return bytes_in_use_; }

 private:
  static constexpr uint32_t kClassOfOwn = 15;  // the first size beyond a slab

  Queue& queue_;
  std::vector<Memory> slabs_;
  uint64_t used_ = kSlabBytes;  // of the last slab
  std::array<std::vector<void*>, kClassOfOwn> free_;
  uint64_t bytes_in_use_ = 0;
};

}  // namespace tessera::device::cuda
