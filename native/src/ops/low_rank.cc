#include "ops/low_rank.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

using device::kPanelColumns;
using device::PanelKernels;
using device::PanelProduct;
using device::PanelType;

constexpr uint64_t kTermRows = 32;  // rows of one task; a multiple of every row_block

uint64_t aligned_down(uint64_t row, const PanelKernels& kernels) {
  return row / kernels.row_block * kernels.row_block;
}

/// Rows of the term's inner operand: from its first row, rounded down to a block, to its end.
uint64_t inner_rows(const LowRankTerm& term, const PanelKernels& kernels) {
  return term.first + term.rows - aligned_down(term.first, kernels);
}

/// Rows [row, row + rows) of the inner operand, whose row 0 is row `base` of the operand.
void project_rows(const PanelKernels& kernels, const Operand& x, const LowRankTerm& term,
                  uint64_t row, uint64_t rows) {
  alignas(64) float tile[kTermRows * kRankMax];
  const PackedMatrix& a = term.factors->a;
  const uint64_t base = aligned_down(term.first, kernels);
  PanelProduct p;
  p.x_row_bytes = kernels.operand_row_bytes(x.k);
  p.x = static_cast<const char*>(x.data) + (base + row) * p.x_row_bytes;
  p.rows = rows;
  p.k = x.k;
  p.panels = a.panels;
  p.panel_stride = a.panel_stride;
  p.columns = a.columns;
  p.y = tile;
  p.y_stride = a.columns;
  kernels.multiply(p);
  // Rows before the term's own share a block with it: as zeros they add nothing to anybody.
  const uint64_t strangers = term.first - base;
  if (row < strangers) {
    std::memset(tile, 0, std::min(rows, strangers - row) * a.columns * sizeof(float));
  }
  kernels.write_operand(tile, a.columns, row, rows, a.columns, term.inner, nullptr);
}

}  // namespace

uint64_t low_rank_bytes(const device::Device& device, PanelType type, uint64_t first, uint64_t rows,
                        uint64_t rank) {
  const PanelKernels& kernels = device.kernels().panel(type);
  const uint64_t bytes =
      operand_bytes(device, type, first + rows - aligned_down(first, kernels), rank);
  return (bytes + device::Device::kAlignment - 1) / device::Device::kAlignment *
         device::Device::kAlignment;
}

void project(device::Device& device, const Operand& operand, std::span<const LowRankTerm> terms) {
  if (terms.empty()) return;
  const PanelKernels& kernels = device.kernels().panel(operand.type);
  uint64_t tasks = 0, work = 0;
  for (const LowRankTerm& term : terms) {
    const LowRank& factors = *term.factors;
    TESSERA_CHECK(operand.type != PanelType::kI8 && factors.a.type == operand.type);
    TESSERA_CHECK(factors.a.k == operand.k && factors.b.k == factors.a.columns);
    TESSERA_CHECK(factors.a.columns <= kRankMax && term.first + term.rows <= operand.rows);
    tasks += (inner_rows(term, kernels) + kTermRows - 1) / kTermRows;
    work += term.rows * factors.a.columns;
  }
  for_rows(device, tasks, work / tasks * operand.k / 8, [&](uint64_t begin, uint64_t end) {
    uint64_t task = 0;
    for (const LowRankTerm& term : terms) {
      const uint64_t rows = inner_rows(term, kernels);
      for (uint64_t row = 0; row < rows; row += kTermRows, ++task) {
        if (task < begin || task >= end) continue;
        project_rows(kernels, operand, term, row, std::min(kTermRows, rows - row));
      }
    }
  });
}

void add_terms(const device::KernelTable& kernels, std::span<const LowRankTerm> terms,
               uint64_t first, uint64_t rows, uint64_t panel, float* tile) {
  const auto from = std::partition_point(
      terms.begin(), terms.end(),
      [first](const LowRankTerm& term) { return term.first + term.rows <= first; });
  for (auto term = from; term != terms.end() && term->first < first + rows; ++term) {
    const PackedMatrix& b = term->factors->b;
    const PanelKernels& products = kernels.panel(b.type);
    const uint64_t base = aligned_down(term->first, products);
    const uint64_t begin = std::max(first, base);
    const uint64_t end = std::min(first + rows, term->first + term->rows);
    PanelProduct p;
    p.x_row_bytes = products.operand_row_bytes(b.k);
    p.x = static_cast<const char*>(term->inner) + (begin - base) * p.x_row_bytes;
    p.rows = end - begin;
    p.k = b.k;
    p.panels = b.panel(panel);
    p.panel_stride = b.panel_stride;
    p.columns = std::min<uint64_t>(kPanelColumns, b.columns - panel * kPanelColumns);
    p.y = tile + (begin - first) * kPanelColumns;
    p.y_stride = kPanelColumns;
    p.accumulate = true;
    products.multiply(p);
    if (term->factors->scales == nullptr) continue;
    const float* const scales = term->factors->scales + panel * kPanelColumns;
    for (uint64_t row = std::max(first, term->first); row < end; ++row) {
      float* const y = tile + (row - first) * kPanelColumns;
      for (uint64_t i = 0; i < p.columns; ++i) y[i] *= scales[i];
    }
  }
}

}  // namespace tessera::ops
