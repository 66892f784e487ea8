// Root-mean-square normalisation (Zhang and Sennrich 2019, arXiv:1910.07467), as Llama, Qwen and
// Mistral use it.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "ops/operand.h"

namespace tessera::ops {

/// y[i] = weight * x[i] / sqrt(mean(x[i]^2) + epsilon) for each of `rows` rows of n elements. y may
/// be x. REQUIRES: n > 0.
void rms_norm(device::Device& device, const float* x, uint64_t rows, uint64_t n,
              const float* weight, float epsilon, float* y);

/// The same for operand.rows rows of operand.k elements, each also written to the operand while it
/// is in the cache.
void rms_norm(device::Device& device, const float* x, const float* weight, float epsilon, float* y,
              const Operand& operand);

}  // namespace tessera::ops
