// Layer normalisation (Ba, Kiros and Hinton 2016, arXiv:1607.06450), as BERT and its successors use
// it. Mean and variance are sums of F32 in the canonical order (device/kernel_table.h).
#pragma once

#include <cstdint>

#include "device/device.h"
#include "ops/operand.h"

namespace tessera::ops {

struct LayerNorm {
  const float* weight = nullptr;
  const float* bias = nullptr;  // may be null
  float epsilon = 0;
};

/// y[i] = weight * (x[i] - mean) / sqrt(variance + epsilon) + bias for each of `rows` rows of n
/// elements. y may be x. REQUIRES: n > 0.
void layer_norm(device::Device& device, const float* x, uint64_t rows, uint64_t n,
                const LayerNorm& norm, float* y);

/// The same for operand.rows rows of operand.k elements, each also written to the operand while it
/// is in the cache.
void layer_norm(device::Device& device, const float* x, const LayerNorm& norm, float* y,
                const Operand& operand);

}  // namespace tessera::ops
