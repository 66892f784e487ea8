#include "ops/gemm.h"

#include <algorithm>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

constexpr uint64_t kMaxBlock = 64;            // rows of x, and of w, that one task multiplies
constexpr uint64_t kProductsPerElement = 8;   // multiply-adds in the time of touching one element
constexpr uint64_t kBlockBytes = 256 * 1024;  // of w: a block stays in the second-level cache

using tensor::DType;
using tensor::TensorView;

uint64_t w_block_rows(const TensorView& w) {
  const uint64_t fitting = kBlockBytes / std::max<uint64_t>(w.row_bytes(), 1) / 4 * 4;
  return std::clamp<uint64_t>(fitting, 8, kMaxBlock);
}

auto dot_rows_of(const device::KernelTable& kernels, DType type) {
  return type == DType::kBf16 ? kernels.dot_rows_bf16 : kernels.dot_rows_f32;
}

/// Tasks are blocks of w times blocks of x, all blocks of x of one block of w in a row, so that a
/// thread finds the block of w in its cache. x_row and w_row give the index of an operand's i-th
/// row.
template <typename XRow, typename WRow>
void multiply(device::Device& device, const float* x, uint64_t m, XRow x_row, const TensorView& w,
              uint64_t n, WRow w_row, float* y, uint64_t y_stride) {
  TESSERA_CHECK(w.type == DType::kF32 || w.type == DType::kBf16);
  if (m == 0 || n == 0) return;
  const uint64_t k = w.columns();
  const uint64_t w_block = w_block_rows(w);
  const uint64_t x_blocks = (m + kMaxBlock - 1) / kMaxBlock;
  const uint64_t w_blocks = (n + w_block - 1) / w_block;
  const auto dot_rows = dot_rows_of(device.kernels(), w.type);
  const auto run = [&](uint64_t begin, uint64_t end) {
    const float* x_rows[kMaxBlock];
    const void* w_rows[kMaxBlock];
    for (uint64_t task = begin; task < end; ++task) {
      const uint64_t i = task % x_blocks * kMaxBlock, j = task / x_blocks * w_block;
      const uint64_t x_count = std::min(kMaxBlock, m - i), w_count = std::min(w_block, n - j);
      for (uint64_t a = 0; a < x_count; ++a) x_rows[a] = x + x_row(i + a) * k;
      for (uint64_t b = 0; b < w_count; ++b) w_rows[b] = w.row(w_row(j + b));
      dot_rows(x_rows, x_count, w_rows, w_count, k, y + i * y_stride + j, y_stride);
    }
  };
  const uint64_t tasks = x_blocks * w_blocks;
  for_rows(device, tasks, m * n * k / tasks / kProductsPerElement, run);
}

}  // namespace

void gemm(device::Device& device, const float* x, uint64_t rows, const TensorView& w, float* y,
          uint64_t y_stride) {
  TESSERA_CHECK(w.rank == 2 && y_stride >= w.rows());
  const auto same = [](uint64_t i) { return i; };
  multiply(device, x, rows, same, w, w.rows(), same, y, y_stride);
}

void gemm_rows(device::Device& device, const float* x, std::span<const uint32_t> x_rows,
               const TensorView& w, std::span<const int32_t> w_rows, float* y) {
  TESSERA_CHECK(w.rank == 2);
  for (const int32_t row : w_rows) {
    TESSERA_CHECK(row >= 0 && static_cast<uint64_t>(row) < w.rows());
  }
  multiply(
      device, x, x_rows.size(), [&](uint64_t i) -> uint64_t { return x_rows[i]; }, w, w_rows.size(),
      [&](uint64_t j) { return static_cast<uint64_t>(w_rows[j]); }, y, w_rows.size());
}

}  // namespace tessera::ops
