#include "attention/query_tile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention/row_group.h"

namespace tessera::attention {
namespace {

using device::PanelKernels;
using device::PanelProduct;
using tensor::DType;

// Floats from one row to the next: an odd number of cache lines, so that the rows that a product
// reads together do not fall into one set of the cache.
constexpr uint64_t kLineFloats = 16;
constexpr uint64_t kScoreStride = kTilePositions + kLineFloats;
uint64_t output_stride(uint32_t head_dim) {
  return ((head_dim + kLineFloats - 1) / kLineFloats | 1) * kLineFloats;
}

/// Bytes of kTileQueries operand rows over k inputs.
uint64_t operand_bytes(const PanelKernels& kernels, uint32_t k) {
  const uint64_t rows =
      (kTileQueries + kernels.row_block - 1) / kernels.row_block * kernels.row_block;
  return (rows * kernels.operand_row_bytes(k) + 63) / 64 * 64;
}

}  // namespace

uint64_t QueryTile::scratch_bytes(device::PanelType type, const PanelKernels& kernels,
                                  uint32_t head_dim) {
  const uint64_t floats = kTileQueries * (kScoreStride + output_stride(head_dim) + kMaxSteps + 2);
  return operand_bytes(kernels, head_dim) + operand_bytes(kernels, kTilePositions) +
         device::panel_bytes(type, kTilePositions) + floats * sizeof(float);
}

QueryTile::QueryTile(const device::KernelTable& kernels, const Layer& layer, const RowGroup& group,
                     uint32_t kv_head, QueryRange queries, void* scratch)
    : kernels_(kernels),
      panels_(kernels.panel(layer.layout.panel_type())),
      layer_(layer),
      layout_(layer.layout),
      group_(group),
      kv_head_(kv_head),
      queries_(queries),
      sharing_(layer.heads / layer.layout.kv_heads),
      factor_(1.0f / std::sqrt(static_cast<float>(layer.layout.head_dim))),
      query_bytes_(panels_.operand_row_bytes(layer.layout.head_dim)),
      row_block_(static_cast<uint32_t>(panels_.row_block)) {
  query_operand_ = static_cast<char*>(scratch);
  weight_operand_ = query_operand_ + operand_bytes(panels_, layout_.head_dim);
  value_panel_ = weight_operand_ + operand_bytes(panels_, kTilePositions);
  scores_ = reinterpret_cast<float*>(value_panel_ +
                                     device::panel_bytes(layout_.panel_type(), kTilePositions));
  outputs_ = scores_ + kTileQueries * kScoreStride;
  own_ = outputs_ + kTileQueries * output_stride(layout_.head_dim);
  highest_ = own_ + kTileQueries * kMaxSteps;
  totals_ = highest_ + kTileQueries;
}

uint64_t QueryTile::offset(uint32_t i) const {
  const uint64_t head = kv_head_ * sharing_ + (queries_.first + i) % sharing_;
  return ((uint64_t{group_.first_row} + row(i)) * layer_.heads + head) * layout_.head_dim;
}

float* QueryTile::scores(uint32_t i) const { return scores_ + i * kScoreStride; }
float* QueryTile::output(uint32_t i) const {
  return outputs_ + i * output_stride(layout_.head_dim);
}

uint32_t QueryTile::first_seeing(uint32_t position, uint32_t from) const {
  while (visible(from) <= position) ++from;
  return from;
}

void QueryTile::run(const float* q, float* out) {
  for (uint32_t i = 0; i < queries_.count; ++i) {
    panels_.write_operand(q + offset(i), layout_.head_dim, i, 1, layout_.head_dim, query_operand_,
                          nullptr);
  }
  std::fill(outputs_, output(queries_.count), 0.0f);
  std::fill(highest_, highest_ + queries_.count, -std::numeric_limits<float>::infinity());
  std::fill(totals_, totals_ + queries_.count, 0.0f);
  const uint32_t longest = visible(queries_.count - 1);
  for (uint32_t begin = 0; begin < longest; begin += kTilePositions) {
    attend_positions(begin, std::min(longest, begin + kTilePositions));
  }
  for (uint32_t i = 0; group_.beam != nullptr && i < queries_.count;) {
    const uint32_t of_row =
        std::min(sharing_ - (queries_.first + i) % sharing_, queries_.count - i);
    attend_steps(q, i, of_row);
    i += of_row;
  }
  for (uint32_t i = 0; i < queries_.count; ++i) {
    kernels_.scale(output(i), layout_.head_dim, 1.0f / totals_[i]);
    std::memcpy(out + offset(i), output(i), layout_.head_dim * sizeof(float));
  }
}

/// One tile of positions, for the queries that see any of them. Kernels whose operands come in
/// blocks of rows begin at the block of the first such query: the scores of the queries before it
/// are overwritten with weights of zero.
void QueryTile::attend_positions(uint32_t begin, uint32_t end) {
  const uint32_t first = first_seeing(begin, 0);
  const uint32_t first_row = first / row_block_ * row_block_;
  uint32_t seeing = first;
  for (uint32_t p = begin; p < end; p += kBlockPositions) {
    seeing = first_seeing(p, seeing);
    multiply_keys(p / kBlockPositions, seeing / row_block_ * row_block_, scores_ + (p - begin));
  }
  const uint32_t covered = (end - begin + kBlockPositions - 1) / kBlockPositions * kBlockPositions;
  for (uint32_t i = first_row; i < queries_.count; ++i) {
    const uint32_t n = i < first ? 0 : std::min(visible(i), end) - begin;
    if (n > 0) soften(i, scores(i), n);
    std::fill(scores(i) + n, scores(i) + covered, 0.0f);
  }
  const void* weights = scores_;
  uint64_t weight_bytes = kScoreStride * sizeof(float);
  if (row_block_ > 1) {
    panels_.write_operand(scores(first_row), kScoreStride, first_row, queries_.count - first_row,
                          covered, weight_operand_, nullptr);
    weights = weight_operand_;
    weight_bytes = panels_.operand_row_bytes(covered);
  }
  for (uint32_t d = 0; d < layout_.head_dim; d += device::kPanelColumns) {
    gather_values(begin / kBlockPositions, covered / kBlockPositions, d);
    for (uint32_t i = first_row; i < queries_.count;) {
      // Queries whose last block is the same; to the others' weights of zero it makes no
      // difference.
      const uint32_t seen = std::min(visible(i), end) - begin;
      const uint32_t k = row_block_ > 1
                             ? covered
                             : (seen + kBlockPositions - 1) / kBlockPositions * kBlockPositions;
      const uint32_t next = k == covered ? queries_.count : first_seeing(begin + k, i);
      multiply_values(static_cast<const char*>(weights) + i * weight_bytes, weight_bytes,
                      {i, next - i}, k, d);
      i = next;
    }
  }
}

/// Scores of the queries from `first` on with the keys of a block.
void QueryTile::multiply_keys(uint32_t block, uint32_t first, float* scores) {
  PanelProduct product;
  product.x = query_operand_ + first * query_bytes_;
  product.x_row_bytes = query_bytes_;
  product.rows = queries_.count - first;
  product.k = layout_.head_dim;
  product.panels = static_cast<const char*>(group_.prompt->blocks[block]) +
                   layout_.key_offset(layer_.index, kv_head_);
  product.columns = kBlockPositions;
  product.y = scores + first * kScoreStride;
  product.y_stride = kScoreStride;
  panels_.multiply(product);
}

/// The panel of values whose first column is d, of consecutive blocks: one product over all of them
/// keeps its sums in registers.
void QueryTile::gather_values(uint32_t first_block, uint32_t count, uint32_t d) {
  const uint64_t bytes = layout_.value_panel_bytes();
  const uint64_t offset =
      layout_.value_offset(layer_.index, kv_head_) + d / device::kPanelColumns * bytes;
  for (uint32_t i = 0; i < count; ++i) {
    const void* block = group_.prompt->blocks[first_block + i];
    std::memcpy(value_panel_ + i * bytes, static_cast<const char*>(block) + offset, bytes);
  }
}

/// Adds the gathered values of k positions, weighted, to columns d and on of the queries' outputs.
void QueryTile::multiply_values(const void* weights, uint64_t weight_bytes, QueryRange queries,
                                uint32_t k, uint32_t d) {
  PanelProduct product;
  product.x = weights;
  product.x_row_bytes = weight_bytes;
  product.rows = queries.count;
  product.k = k;
  product.panels = value_panel_;
  product.columns = std::min<size_t>(device::kPanelColumns, layout_.head_dim - d);
  product.y = output(queries.first) + d;
  product.y_stride = output_stride(layout_.head_dim);
  product.accumulate = true;
  panels_.multiply(product);
}

/// n scores of query i become exp(score * factor - highest so far), and what query i has summed so
/// far is brought to that highest.
void QueryTile::soften(uint32_t i, float* scores, uint32_t n) {
  const float highest = std::max(highest_[i], kernels_.maximum(scores, n) * factor_);
  float shrink = highest_[i];
  kernels_.exp_sum(&shrink, 1, 1.0f, highest);
  highest_[i] = highest;
  totals_[i] = totals_[i] * shrink + kernels_.exp_sum(scores, n, factor_, highest);
  if (shrink != 1.0f) kernels_.scale(output(i), layout_.head_dim, shrink);
  if (layout_.type == DType::kBf16) kernels_.round_bf16(scores, n);
}

/// The own steps of `count` queries of one row, as their last tile.
void QueryTile::attend_steps(const float* q, uint32_t first, uint32_t count) {
  const bool is_bf16 = layout_.type == DType::kBf16;
  const uint32_t own_row = row(first), before = group_.step - 1;
  const float* queries[kTileQueries];
  const void* keys[kMaxSteps];
  const void* values[kMaxSteps];
  for (uint32_t i = 0; i < count; ++i) queries[i] = q + offset(first + i);
  for (uint32_t t = 0; t < group_.step; ++t) {
    const uint32_t slot = t == before ? own_row : group_.ancestors[uint64_t{own_row} * before + t];
    const uint64_t element = beam_element(layer_, *group_.beam, t, slot, kv_head_);
    keys[t] = element_at(group_.beam->keys, layout_.type, element);
    values[t] = element_at(group_.beam->values, layout_.type, element);
  }
  const auto dot_rows = is_bf16 ? kernels_.dot_rows_bf16 : kernels_.dot_rows_f32;
  const auto axpy = is_bf16 ? kernels_.axpy_bf16 : kernels_.axpy_f32;
  dot_rows(queries, count, keys, group_.step, layout_.head_dim, own_, kMaxSteps);
  for (uint32_t i = 0; i < count; ++i) {
    float* weights = own_ + uint64_t{i} * kMaxSteps;
    soften(first + i, weights, group_.step);
    for (uint32_t t = 0; t < group_.step; ++t) {
      axpy(weights[t], values[t], layout_.head_dim, output(first + i));
    }
  }
}

}  // namespace tessera::attention
