// Gates: rows scaled by one number each, y *= sigmoid(x . w) (the expert that all rows of Qwen2-MoE
// go through), and heads scaled number by number by the numbers beside their queries (Qwen3.5).
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

/// [heads][queries, then gates: head_dim each] of a row.
struct HeadGates {
  const float* both = nullptr;  // [rows][heads][2][head_dim]
  uint64_t heads = 0;
  uint64_t head_dim = 0;
};

/// Copies the queries: q is [rows][heads][head_dim].
void copy_queries(device::Device& device, const HeadGates& gates, uint64_t rows, float* q);
/// y *= sigmoid(gates): y is [rows][heads][head_dim].
void scale_by_gates(device::Device& device, const HeadGates& gates, uint64_t rows, float* y);

}  // namespace tessera::ops
