#include "ops/convert.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using tensor::DType;

/// `count` <= kConvertPiece elements of unaligned bytes as floats.
void widen_piece(const device::KernelTable& kernels, const char* from, DType type, uint64_t count,
                 float* values) {
  if (type == DType::kF32) {
    std::memcpy(values, from, count * sizeof(float));
    return;
  }
  uint16_t bits[kConvertPiece];
  std::memcpy(bits, from, count * sizeof(uint16_t));
  if (type == DType::kBf16) {
    kernels.widen_bf16(bits, count, values);
  } else {
    for (uint64_t i = 0; i < count; ++i) values[i] = tensor::f32_of_f16(bits[i]);
  }
}

}  // namespace

void convert_piece(const device::KernelTable& kernels, const void* from, DType from_type,
                   uint64_t count, DType type, void* to) {
  TESSERA_CHECK(count <= kConvertPiece && (type == DType::kF32 || type == DType::kBf16));
  if (from_type == type) {
    std::memcpy(to, from, count * tensor::dtype_size(type));
    return;
  }
  float values[kConvertPiece];
  widen_piece(kernels, static_cast<const char*>(from), from_type, count, values);
  if (type == DType::kF32) {
    std::memcpy(to, values, count * sizeof(float));
  } else {
    kernels.narrow_bf16(values, count, static_cast<uint16_t*>(to));
  }
}

void convert(device::Device& device, const tensor::TensorView& from, DType type, void* to) {
  TESSERA_CHECK(type == DType::kF32 || type == DType::kBf16);
  const device::KernelTable& kernels = device.kernels();
  const uint64_t count = from.element_count();
  const char* source = static_cast<const char*>(from.data);
  for_rows(device, (count + kConvertPiece - 1) / kConvertPiece, kConvertPiece,
           [&](uint64_t begin, uint64_t end) {
             for (uint64_t piece = begin; piece < end; ++piece) {
               const uint64_t at = piece * kConvertPiece,
                              size = std::min(kConvertPiece, count - at);
               convert_piece(kernels, source + at * tensor::dtype_size(from.type), from.type, size,
                             type, static_cast<char*>(to) + at * tensor::dtype_size(type));
             }
           });
}

void scale(float* x, uint64_t n, float factor) {
  for (uint64_t i = 0; i < n; ++i) x[i] *= factor;
}

void add_one(float* x, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) x[i] += 1;
}

void transpose(float* x, uint64_t rows, uint64_t columns) {
  const std::vector<float> from(x, x + rows * columns);
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column)
      x[column * rows + row] = from[row * columns + column];
  }
}

void round_bf16(device::Device& device, float* x, uint64_t rows, uint64_t n) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    kernels.round_bf16(x + begin * n, (end - begin) * n);
  });
}

}  // namespace tessera::ops
