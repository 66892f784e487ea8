// Products of a mixture of experts: each group of rows with the matrices of its expert, all groups
// in one fork.
//
// How it is spread: tasks of about the same work, taken by whichever thread is free, so that an
// expert with many rows delays no thread. One thread adds up the experts' parts of a row, in the
// order of the experts. A row's bits depend on the row alone, as those of matmul().
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "ops/expert_rows.h"
#include "ops/low_rank.h"
#include "ops/operand.h"
#include "ops/packed_matrix.h"

namespace tessera::ops {

/// Writes row rows.rows()[i] of x, or row i itself where `is_sorted`, for every chosen pair i to
/// its place in the operand. x is [..][operand.k]. `scales`, where it is not empty, has the fixed
/// scale of each expert's rows. REQUIRES: the operand holds rows.places() rows.
void write_expert_rows(device::Device& device, const ExpertRows& rows, const float* x,
                       bool is_sorted, std::span<const float> scales, const Operand& operand);

/// y[i] = silu(x w) * (x up) of every chosen pair i, with the matrices of its expert: w and up of
/// expert e are gates[e] and ups[e]. Terms are those of the operand's rows, in their order.
struct GatedExperts {
  std::span<const PackedMatrix> gates, ups;
  std::span<const LowRankTerm> gate_terms = {}, up_terms = {};
  float* y = nullptr;  // [pairs][columns]
};
void multiply_gated(device::Device& device, const ExpertRows& rows, const Operand& operand,
                    const GatedExperts& experts);

/// Into how many parts of about as many rows each panel of the summed product is cut: 1, but where
/// there are more threads than panels, as many as give them work while a part of an expert's rows
/// is still kMinRowBlock rows on average.
uint64_t down_parts(uint64_t rows, uint64_t pairs, uint64_t groups, uint64_t panels,
                    uint64_t threads);

/// y[rows.rows()[i]] += weights[i] * (x w) of every chosen pair i, expert by expert.
struct SummedExperts {
  std::span<const PackedMatrix> matrices;
  std::span<const LowRankTerm> terms = {};
  float* y = nullptr;  // [rows of the pass][columns]
};
void add_products(device::Device& device, const ExpertRows& rows, const Operand& operand,
                  const SummedExperts& experts);

}  // namespace tessera::ops
