#include "ops/convert.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using tensor::DType;

constexpr uint64_t kPiece = 4096;  // elements converted at a time through an aligned copy

/// `count` <= kPiece elements of unaligned bytes as floats.
void widen_piece(const device::KernelTable& kernels, const char* from, DType type, uint64_t count,
                 float* values) {
  if (type == DType::kF32) {
    std::memcpy(values, from, count * sizeof(float));
    return;
  }
  uint16_t bits[kPiece];
  std::memcpy(bits, from, count * sizeof(uint16_t));
  if (type == DType::kBf16) {
    kernels.widen_bf16(bits, count, values);
  } else {
    for (uint64_t i = 0; i < count; ++i) values[i] = tensor::f32_of_f16(bits[i]);
  }
}

}  // namespace

void round_rows(device::Device& device, float* x, uint64_t rows, uint64_t n) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    kernels.round_bf16(x + begin * n, (end - begin) * n);
  });
}

void convert(device::Device& device, const tensor::TensorView& from, DType type, void* to) {
  TESSERA_CHECK(type == DType::kF32 || type == DType::kBf16);
  const device::KernelTable& kernels = device.kernels();
  const uint64_t count = from.element_count();
  const char* source = static_cast<const char*>(from.data);
  for_rows(device, (count + kPiece - 1) / kPiece, kPiece, [&](uint64_t begin, uint64_t end) {
    float values[kPiece];
    for (uint64_t piece = begin; piece < end; ++piece) {
      const uint64_t at = piece * kPiece, size = std::min(kPiece, count - at);
      widen_piece(kernels, source + at * tensor::dtype_size(from.type), from.type, size, values);
      if (type == DType::kF32) {
        std::memcpy(static_cast<float*>(to) + at, values, size * sizeof(float));
      } else {
        kernels.narrow_bf16(values, size, static_cast<uint16_t*>(to) + at);
      }
    }
  });
}

}  // namespace tessera::ops
