// Element types: converting weights once when they are loaded.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

inline constexpr uint64_t kConvertPiece = 1024;  // elements converted at a time

/// Writes `count` <= kConvertPiece elements of any type and alignment as `type` (F32 or BF16), on
/// the calling thread.
void convert_piece(const device::KernelTable& kernels, const void* from, tensor::DType from_type,
                   uint64_t count, tensor::DType type, void* to);

/// Writes `from`, of any type and alignment, as `type` (F32 or BF16) to `to`, which holds
/// from.element_count() elements.
void convert(device::Device& device, const tensor::TensorView& from, tensor::DType type, void* to);

/// x += 1, n elements, on the calling thread.
void add_one(float* x, uint64_t n);
/// x *= factor, on the calling thread.
void scale(float* x, uint64_t n, float factor);
/// [rows][columns] becomes [columns][rows], in the same memory, on the calling thread.
void transpose(float* x, uint64_t rows, uint64_t columns);

/// Rounds rows of n floats in place to the nearest BF16 values.
void round_bf16(device::Device& device, float* x, uint64_t rows, uint64_t n);

}  // namespace tessera::ops
