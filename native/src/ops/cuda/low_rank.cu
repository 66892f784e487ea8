#include "device/cuda/kernel.h"

#include "ops/cuda/low_rank_kernels.h"
#include "ops/cuda/multiply_tile.h"
#include "ops/cuda/row_kernels.h"

namespace tessera::ops::cuda {

using tessera::cuda::kFullWarp;
using tessera::cuda::kWarpLanes;
using tessera::cuda::narrow;
using tessera::cuda::warp_sum;
using tessera::cuda::widen;

/// x A^T of a term's part, rounded as an operand is. `product`: x and k of the product that the
/// terms belong to.
TESSERA_KERNEL tessera_project(Product product) {
  TESSERA_SHARED(uint16_t, x_tile, kTileElements);
  TESSERA_SHARED(uint16_t, w_tile, kTileElements);
  const LowRankTerms& low_rank = product.low_rank;
  const uint32_t part = blockIdx.z % low_rank.parts.count;
  const AdaptedRows& term = low_rank.terms[blockIdx.z / low_rank.parts.count];
  const uint32_t first_row = blockIdx.y * kMultiplyTile, first_column = blockIdx.x * kMultiplyTile;
  if (first_row >= term.rows) return;
  const LowRank& factors = term.matrices[low_rank.parts.matrices[part]];
  if (first_column >= factors.rank) return;
  TileSums tile;
  clear(tile);
  multiply_tile(
      product.k,
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t row = first_row + i;
        return row < term.rows ? product.x + static_cast<size_t>(term.first + row) * product.k
                               : nullptr;
      },
      [&](uint32_t i) -> const uint16_t* {
        const uint32_t column = first_column + i;
        return column < factors.rank ? factors.a + static_cast<size_t>(column) * product.k
                                     : nullptr;
      },
      x_tile, w_tile, tile);
  uint16_t* inner =
      low_rank.inner +
      (static_cast<size_t>(part) * low_rank.inner_rows + term.first + first_row) * kRankMax;
  for_sums(tile, [&](uint32_t row, uint32_t column, float sum) {
    if (first_row + row >= term.rows || first_column + column >= factors.rank) return;
    inner[static_cast<size_t>(row) * kRankMax + first_column + column] = narrow(sum);
  });
}

/// The term that has a row of the pass; null: none.
TESSERA_DEVICE const AdaptedRows* term_of(const AdaptedRows* terms, uint32_t count, uint32_t row) {
  for (uint32_t i = 0; i < count; ++i) {
    if (row >= terms[i].first && row < terms[i].first + terms[i].rows) return terms + i;
  }
  return nullptr;
}

/// The row that stands in place of a token's; null: none.
TESSERA_DEVICE const uint16_t* row_of(const ReplacedRows& replaced, int32_t id, uint32_t size) {
  uint32_t low = 0, high = replaced.count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (replaced.ids[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == replaced.count || replaced.ids[low] != id) return nullptr;
  return replaced.rows + static_cast<size_t>(low) * size;
}

TESSERA_KERNEL tessera_replace_embedding(const int32_t* tokens, const AdaptedRows* terms,
                                         uint32_t count, uint32_t size, float* hidden) {
  const AdaptedRows* term = term_of(terms, count, blockIdx.x);
  if (term == nullptr) return;
  const uint16_t* from = row_of(term->embedding, tokens[blockIdx.x], size);
  if (from == nullptr) return;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads) {
    hidden[static_cast<size_t>(blockIdx.x) * size + i] = widen(from[i]);
  }
}

/// Lanes look their columns up, then the warp multiplies for each that was found: lane l has
/// elements l, l + 32, ... of k.
TESSERA_KERNEL tessera_replace_logits(ReplacedLogits logits) {
  const uint32_t pass_row = logits.x_rows != nullptr ? logits.x_rows[blockIdx.y] : blockIdx.y;
  const AdaptedRows* term = term_of(logits.terms, logits.count, pass_row);
  if (term == nullptr) return;
  const uint32_t column = blockIdx.x * kRowThreads + threadIdx.x, lane = threadIdx.x % kWarpLanes;
  const uint16_t* own = nullptr;
  if (column < logits.columns) {
    const int32_t id = logits.ids != nullptr ? logits.ids[column] : static_cast<int32_t>(column);
    own = row_of(term->head, id, logits.k);
  }
  const uint16_t* x = logits.x + static_cast<size_t>(pass_row) * logits.k;
  uint32_t found = __ballot_sync(kFullWarp, own != nullptr);
  for (uint32_t from = 0; from < kWarpLanes; ++from) {
    if ((found >> from & 1) == 0) continue;
    const auto* w = reinterpret_cast<const uint16_t*>(
        __shfl_sync(kFullWarp, reinterpret_cast<uint64_t>(own), static_cast<int>(from)));
    float sum = 0;
    for (uint32_t i = lane; i < logits.k; i += kWarpLanes) sum += widen(x[i]) * widen(w[i]);
    sum = warp_sum(sum);
    if (lane == from) logits.y[static_cast<size_t>(blockIdx.y) * logits.columns + column] = sum;
  }
}

}  // namespace tessera::ops::cuda
