// Token embedding: rows of a table, widened to F32.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "ops/packed_matrix.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

/// y[i] = table[tokens[i]]. REQUIRES: table is F32 or BF16; every token in [0, table.rows()).
void embed(device::Device& device, const tensor::TensorView& table, std::span<const int32_t> tokens,
           float* y);
/// The same where the table is packed, being the head as well: y[i] = column tokens[i] of w.
void embed(device::Device& device, const PackedMatrix& w, std::span<const int32_t> tokens,
           float* y);

/// y[i] += table[rows[i]], rows of n floats: what a row's position or segment adds to its token.
/// REQUIRES: every row lies in the table.
void add_rows(device::Device& device, const float* table, uint64_t n,
              std::span<const uint32_t> rows, float* y);

/// Rows of a table that replace those of another. Owns nothing.
struct ReplacedRows {
  std::span<const int32_t> ids;  // of the tokens, ascending
  tensor::TensorView rows;       // [ids, n]; null data: they are columns of `columns`
  PanelOverlay columns;
};

/// Writes y[i] again for every token that has a replaced row. REQUIRES: as embed.
void embed_replaced(device::Device& device, const ReplacedRows& replaced,
                    std::span<const int32_t> tokens, uint64_t n, float* y);

}  // namespace tessera::ops
