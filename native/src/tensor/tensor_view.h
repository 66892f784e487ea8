// A view of a tensor: elements in memory with a type and a shape. Owns nothing.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/dtype.h"

namespace tessera::tensor {

inline constexpr uint32_t kMaxRank = 2;

/// Row-major and contiguous. A vector has rank 1 and columns() elements in one row.
struct TensorView {
  const void* data = nullptr;
  DType type = DType::kF32;
  uint32_t rank = 0;
  std::array<uint64_t, kMaxRank> shape{};

  uint64_t rows() const { return rank == 2 ? shape[0] : 1; }
  uint64_t columns() const { return rank == 2 ? shape[1] : shape[0]; }
  uint64_t element_count() const { return rows() * columns(); }
  uint64_t row_bytes() const { return columns() * dtype_size(type); }
  /// REQUIRES: i < rows().
  const void* row(uint64_t i) const { return static_cast<const char*>(data) + i * row_bytes(); }
};

}  // namespace tessera::tensor
