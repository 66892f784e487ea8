// Rows scaled by a gate of one number each: y *= sigmoid(x . w) (the expert that all rows of
// Qwen2-MoE go through).
#pragma once

#include <cstdint>

#include "device/device.h"

namespace tessera::ops {

struct GatedRows {
  const float* x = nullptr;  // [rows][k]
  const float* w = nullptr;  // [k]
  uint64_t k = 0;
  float* y = nullptr;  // [rows][n]
  uint64_t n = 0;
};

/// In F32, the same bits on every instruction set.
void scale_by_sigmoid(device::Device& device, const GatedRows& gated, uint64_t rows);

}  // namespace tessera::ops
