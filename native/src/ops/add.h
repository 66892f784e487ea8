// Sums of rows: the residual stream and the biases.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace tessera::ops {

/// y[i] += x[i] for `rows` rows of n elements.
void add(device::Device& device, const float* x, uint64_t rows, uint64_t n, float* y);

/// y[i] += bias for `rows` rows of n elements.
void add_bias(device::Device& device, const float* bias, uint64_t rows, uint64_t n, float* y);

}  // namespace tessera::ops
