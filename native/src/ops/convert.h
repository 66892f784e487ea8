// Element types: rounding activations to BF16 before a product, and converting weights once when
// they are loaded.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

/// Rounds every element to the nearest BF16 value, in place.
void round_rows(device::Device& device, float* x, uint64_t rows, uint64_t n);

/// Writes `from`, of any type and alignment, as `type` (F32 or BF16) to `to`, which holds
/// from.element_count() elements.
void convert(device::Device& device, const tensor::TensorView& from, tensor::DType type, void* to);

}  // namespace tessera::ops
