#include "cuda/device/heap.h"

#include <algorithm>
#include <bit>

namespace tessera::device::cuda {
namespace {

uint64_t class_bytes(uint32_t size_class) { return Heap::kPieceBytesMin << size_class; }

}  // namespace

Heap::Piece::~Piece() {
  if (heap_ == nullptr) return;
  heap_->bytes_in_use_ -= class_bytes(size_class_);
  if (size_class_ < kClassOfOwn) heap_->free_[size_class_].push_back(data_);
}

Result<Heap::Piece> Heap::take(uint64_t bytes) {
  const uint64_t size = std::bit_ceil(std::max(bytes, kPieceBytesMin));
  Piece piece;
  piece.size_class_ = static_cast<uint32_t>(std::countr_zero(size / kPieceBytesMin));
  static_assert(kPieceBytesMin << (kClassOfOwn - 1) == kSlabBytes);
  if (piece.size_class_ >= kClassOfOwn) {
    Result<Memory> own = Memory::allocate(queue_, size);
    if (!own.is_ok()) return own.status();
    piece.own_ = std::move(own).value();
    piece.data_ = piece.own_.as<void>();
  } else if (std::vector<void*>& free = free_[piece.size_class_]; !free.empty()) {
    piece.data_ = free.back();
    free.pop_back();
  } else {
    // The rest of a slab is lost where it is too small: less than the piece that did not fit.
    if (used_ + size > kSlabBytes) {
      Result<Memory> slab = Memory::allocate(queue_, kSlabBytes);
      if (!slab.is_ok()) return slab.status();
      slabs_.push_back(std::move(slab).value());
      used_ = 0;
    }
    piece.data_ = slabs_.back().as<char>() + used_;
    used_ += size;
  }
  piece.heap_ = this;
  bytes_in_use_ += size;
  return piece;
}

}  // namespace tessera::device::cuda
