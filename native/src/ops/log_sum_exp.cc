#include "ops/log_sum_exp.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using tensor::DType;
using tensor::TensorView;

constexpr uint64_t kRowBlock = 32;  // rows of x against one tile: 32 KiB of logits per thread

/// Maximum and sum of exp(logit - maximum) of every row of x over rows [first, first + count) of w.
void reduce_tile(const device::KernelTable& kernels, const float* x,
                 std::span<const uint32_t> x_rows, const TensorView& w, uint64_t first,
                 uint64_t count, float* maxima, float* sums) {
  float logits[kRowBlock * kLogSumExpTile];
  const float* x_pointers[kRowBlock];
  const void* w_pointers[kLogSumExpTile];
  for (uint64_t j = 0; j < count; ++j) w_pointers[j] = w.row(first + j);
  const auto dot_rows = w.type == DType::kBf16 ? kernels.dot_rows_bf16 : kernels.dot_rows_f32;
  for (uint64_t i = 0; i < x_rows.size(); i += kRowBlock) {
    const uint64_t rows = std::min<uint64_t>(kRowBlock, x_rows.size() - i);
    for (uint64_t r = 0; r < rows; ++r) x_pointers[r] = x + x_rows[i + r] * w.columns();
    dot_rows(x_pointers, rows, w_pointers, count, w.columns(), logits, kLogSumExpTile);
    for (uint64_t r = 0; r < rows; ++r) {
      float* row = logits + r * kLogSumExpTile;
      maxima[i + r] = kernels.maximum(row, count);
      sums[i + r] = kernels.exp_sum(row, count, 1.0f, maxima[i + r]);
    }
  }
}

/// Joins the tiles of one row, in their order; `stride` floats lie between two tiles.
float join_tiles(const float* maxima, const float* sums, uint64_t tiles, uint64_t stride) {
  float highest = maxima[0];
  for (uint64_t t = 1; t < tiles; ++t) highest = std::max(highest, maxima[t * stride]);
  double total = 0;
  for (uint64_t t = 0; t < tiles; ++t) {
    const double shift = static_cast<double>(maxima[t * stride]) - static_cast<double>(highest);
    total += static_cast<double>(sums[t * stride]) * std::exp(shift);
  }
  return static_cast<float>(static_cast<double>(highest) + std::log(total));
}

}  // namespace

void log_sum_exp(device::Device& device, const float* x, std::span<const uint32_t> x_rows,
                 const TensorView& w, std::span<float> scratch, std::span<float> result) {
  const uint64_t rows = x_rows.size();
  TESSERA_CHECK(w.rank == 2 && w.rows() > 0);
  TESSERA_CHECK(w.type == DType::kF32 || w.type == DType::kBf16);
  TESSERA_CHECK(result.size() == rows && scratch.size() >= log_sum_exp_scratch(rows, w.rows()));
  if (rows == 0) return;
  const uint64_t tiles = (w.rows() + kLogSumExpTile - 1) / kLogSumExpTile;
  float* maxima = scratch.data();
  float* sums = maxima + tiles * rows;
  const uint64_t work = rows * kLogSumExpTile * (w.columns() / 8 + 1);
  for_rows(device, tiles, work, [&](uint64_t begin, uint64_t end) {
    for (uint64_t t = begin; t < end; ++t) {
      const uint64_t first = t * kLogSumExpTile;
      const uint64_t count = std::min(kLogSumExpTile, w.rows() - first);
      reduce_tile(device.kernels(), x, x_rows, w, first, count, maxima + t * rows, sums + t * rows);
    }
  });
  for (uint64_t i = 0; i < rows; ++i) result[i] = join_tiles(maxima + i, sums + i, tiles, rows);
}

}  // namespace tessera::ops
