// Low-rank terms of matrix products: y += (x A^T) B^T for some rows of an operand, each stretch of
// rows with matrices of its own (LoRA, Hu et al. 2021, arXiv:2106.09685). x A^T is computed by
// project() and kept as an operand; matmul() adds its product with B to the product with the
// weights before anything that follows it (bias, SiLU, residual). Where the matrix has scales, the
// sum is multiplied by them (DoRA, Liu et al. 2024, arXiv:2402.09353).
//
// A row's bits: canonical product with A, rounded to the operand's type; canonical product with B;
// their sum with the weights' product; times the scale of each. They depend on the row and its
// matrices alone, not on which rows have other ones or none.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "ops/operand.h"
#include "ops/packed_matrix.h"

namespace tessera::ops {

inline constexpr uint64_t kRankMax = 128;

/// The two factors of one matrix; none where a.columns is 0. Own nothing.
struct LowRank {
  PackedMatrix a;                 // inputs to rank
  PackedMatrix b;                 // rank to outputs, the scale within
  const float* scales = nullptr;  // one per output; null: all are 1
  bool is_set() const { return a.columns > 0; }
};

/// Rows [first, first + rows) of the operand of a product, and where their x A^T lies.
struct LowRankTerm {
  const LowRank* factors = nullptr;
  uint64_t first = 0;
  uint64_t rows = 0;
  void* inner = nullptr;  // low_rank_bytes of it, 64-byte aligned
};

/// Bytes of LowRankTerm::inner.
uint64_t low_rank_bytes(const device::Device& device, device::PanelType type, uint64_t first,
                        uint64_t rows, uint64_t rank);

/// Writes x A^T of every term. `operand` is of the factors' type and holds the terms' rows.
/// REQUIRES: ranks at most kRankMax; nothing quantised.
void project(device::Device& device, const Operand& operand, std::span<const LowRankTerm> terms);

/// Adds the products of the terms, in the order of their rows, that lie in rows
/// [first, first + rows) to `tile`, rows of 32 floats, for panel `panel`, and multiplies their rows
/// by the scales. On the calling thread.
void add_terms(const device::KernelTable& kernels, std::span<const LowRankTerm> terms,
               uint64_t first, uint64_t rows, uint64_t panel, float* tile);

}  // namespace tessera::ops
