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
constexpr uint32_t kRowsAhead = 4;  // fetched before they are wanted
uint64_t output_stride(uint32_t head_dim) {
  return ((head_dim + kLineFloats - 1) / kLineFloats | 1) * kLineFloats;
}

/// Positions of the blocks that hold `positions` of them.
uint32_t padded(uint32_t positions) {
  return (positions + kBlockPositions - 1) / kBlockPositions * kBlockPositions;
}

/// Asks for `bytes` from `data` on.
void fetch_bytes(const void* data, uint64_t bytes) {
  constexpr uint64_t kLineBytes = 64;
  for (uint64_t byte = 0; byte < bytes; byte += kLineBytes) {
    __builtin_prefetch(static_cast<const char*>(data) + byte);
  }
}

/// Asks for `count` floats from `data` on.
void fetch(const void* data, uint32_t count) { fetch_bytes(data, count * sizeof(float)); }

/// Bytes of kTileQueries operand rows over k inputs.
uint64_t operand_bytes(const PanelKernels& kernels, uint32_t k) {
  const uint64_t rows =
      (kTileQueries + kernels.row_block - 1) / kernels.row_block * kernels.row_block;
  return (rows * kernels.operand_row_bytes(k) + 63) / 64 * 64;
}

}  // namespace

uint64_t QueryTile::scratch_bytes(device::PanelType type, const PanelKernels& kernels,
                                  uint32_t head_dim) {
  const uint64_t floats = kTileQueries * (kScoreStride + output_stride(head_dim) + kMaxSteps + 4);
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
      factor_(layer.factor > 0 ? layer.factor
                               : 1.0f / std::sqrt(static_cast<float>(layer.layout.head_dim))),
      query_bytes_(panels_.operand_row_bytes(layer.layout.head_dim)),
      row_block_(static_cast<uint32_t>(panels_.row_block)),
      earliest_(seen_from(0) / kTilePositions * kTilePositions) {
  query_operand_ = static_cast<char*>(scratch);
  weight_operand_ = query_operand_ + operand_bytes(panels_, layout_.head_dim);
  value_panel_ = weight_operand_ + operand_bytes(panels_, kTilePositions);
  scores_ = reinterpret_cast<float*>(value_panel_ +
                                     device::panel_bytes(layout_.panel_type(), kTilePositions));
  outputs_ = scores_ + kTileQueries * kScoreStride;
  own_ = outputs_ + kTileQueries * output_stride(layout_.head_dim);
  highest_ = own_ + kTileQueries * (kMaxSteps + 1);
  totals_ = highest_ + kTileQueries;
  shrinks_ = totals_ + kTileQueries;
}

uint64_t QueryTile::offset(uint32_t i) const {
  return ((uint64_t{group_.first_row} + row(i)) * layer_.heads + head(i)) * layout_.head_dim;
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
  write_queries(q);
  std::fill(highest_, highest_ + queries_.count, -std::numeric_limits<float>::infinity());
  std::fill(totals_, totals_ + queries_.count, 0.0f);
  const uint32_t longest = visible(queries_.count - 1);
  if (longest == 0) std::fill(outputs_, output(queries_.count), 0.0f);
  for (uint32_t begin = earliest_; begin < longest; begin += kTilePositions) {
    attend_positions(begin, std::min(longest, begin + kTilePositions));
  }
  if (own_steps() > 0) {
    score_steps(q);
    soften_steps();
  }
  finish(out);
}

void QueryTile::write_queries(const float* q) {
  const uint32_t n = layout_.head_dim;
  for (uint32_t i = 0; i < queries_.count; ++i) {
    fetch(q + offset(std::min(i + kRowsAhead, queries_.count - 1)), n);
    panels_.write_operand(q + offset(i), n, i, 1, n, query_operand_, nullptr);
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
  add_biases(first, begin, end);
  hide(first, begin, end);
  raise_highest(first, begin, end);
  soften(first_row, first, begin, end);
  multiply_values(first_row, begin, end);
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
    const char* panel = static_cast<const char*>(block) + offset;
    std::memcpy(value_panel_ + i * bytes, panel, bytes);
    if (d + device::kPanelColumns < layout_.head_dim) fetch_bytes(panel + bytes, bytes);
  }
}

/// Adds the values of a tile's positions, weighted, to the outputs of the queries from `first` on.
void QueryTile::multiply_values(uint32_t first, uint32_t begin, uint32_t end) {
  const uint32_t covered = padded(end - begin);
  PanelProduct product;
  const char* weights = reinterpret_cast<const char*>(scores_);
  product.x_row_bytes = kScoreStride * sizeof(float);
  if (!panels_.takes_float_rows) {
    if (panels_.tile_stride == 0) {
      panels_.write_operand(scores(first), kScoreStride, first, queries_.count - first, covered,
                            weight_operand_, nullptr);
    }
    weights = weight_operand_;
    product.x_row_bytes = panels_.operand_row_bytes(covered);
  }
  product.panels = value_panel_;
  product.y_stride = output_stride(layout_.head_dim);
  product.accumulate = begin > earliest_;
  for (uint32_t d = 0; d < layout_.head_dim; d += device::kPanelColumns) {
    gather_values(begin / kBlockPositions, covered / kBlockPositions, d);
    product.columns = std::min<size_t>(device::kPanelColumns, layout_.head_dim - d);
    for (uint32_t i = first; i < queries_.count; i += static_cast<uint32_t>(product.rows)) {
      // Together go the queries whose last block is the same; weights of zero change nothing.
      product.k = row_block_ > 1 ? covered : padded(std::min(visible(i), end) - begin);
      const uint32_t next = begin + static_cast<uint32_t>(product.k);
      product.rows = (next >= end ? queries_.count : first_seeing(next, i)) - i;
      product.x = weights + i * product.x_row_bytes;
      product.y = output(i) + d;
      panels_.multiply(product);
    }
  }
}

/// Scores are multiplied by the factor when they become weights, so biases are divided by it.
void QueryTile::add_biases(uint32_t first, uint32_t begin, uint32_t end) {
  if (layer_.sight.bias.values == nullptr) return;
  for (uint32_t i = first; i < queries_.count; ++i) {
    const float* const added = biases(i) + begin;
    float* const to = scores(i);
    const uint32_t from = std::min(std::max(seen_from(i), begin), end) - begin;
    const uint32_t n = std::min(visible(i), end) - begin;
    for (uint32_t p = from; p < n; ++p) to[p] += added[p] / factor_;
  }
}

/// Scores with positions before those that a query sees count as nothing: their weight is 0 as soon
/// as the query has met one that it sees, and what was summed before is multiplied by 0.
void QueryTile::hide(uint32_t first, uint32_t begin, uint32_t end) {
  constexpr float kHidden = -1e30f;
  for (uint32_t i = first; i < queries_.count; ++i) {
    const uint32_t from = std::min(seen_from(i), end);
    if (from > begin) std::fill(scores(i), scores(i) + (from - begin), kHidden);
  }
}

/// The highest scores so far, and what they make of the sums of the queries from `first` on.
void QueryTile::raise_highest(uint32_t first, uint32_t begin, uint32_t end) {
  for (uint32_t i = first; i < queries_.count; ++i) {
    const uint32_t n = std::min(visible(i), end) - begin;
    const float highest = std::max(highest_[i], kernels_.maximum(scores(i), n) * factor_);
    shrinks_[i] = highest_[i] - highest;
    highest_[i] = highest;
  }
  kernels_.exp_sum(shrinks_ + first, queries_.count - first, 1.0f, 0.0f);
}

/// Scores of the tile become weights, exp(score * factor - highest so far), 0 for the queries
/// before `first`; what the others have summed before is brought to that highest.
void QueryTile::soften(uint32_t first_row, uint32_t first, uint32_t begin, uint32_t end) {
  for (uint32_t i = first_row; i < queries_.count; ++i) {
    const uint32_t n = i < first ? 0 : std::min(visible(i), end) - begin;
    const float total = weigh(i, n, padded(end - begin));
    if (i < first) continue;
    totals_[i] = totals_[i] * shrinks_[i] + total;
    if (begin > earliest_ && shrinks_[i] != 1.0f) {
      kernels_.scale(output(i), layout_.head_dim, shrinks_[i]);
    }
  }
}

/// The first n scores of a query become weights, in the form that the product with values wants;
/// zeros up to `covered`. Returns the sum of the weights.
float QueryTile::weigh(uint32_t i, uint32_t n, uint32_t covered) {
  if (panels_.tile_stride > 0) {
    char* to = panels_.operand_row(weight_operand_, i, panels_.operand_row_bytes(covered));
    return kernels_.exp_sum_bf16(scores(i), n, factor_, highest_[i], covered, to,
                                 panels_.tile_stride);
  }
  std::fill(scores(i) + n, scores(i) + covered, 0.0f);
  const auto exp_sum = layout_.type == DType::kBf16 ? kernels_.exp_sum_rounded : kernels_.exp_sum;
  return exp_sum(scores(i), n, factor_, highest_[i]);
}

/// Keys (or values) that the ancestors of a row and the row itself have written, oldest first.
void QueryTile::find_steps(void* base, uint32_t own_row, const void** found) const {
  const uint32_t before = group_.step - 1;
  for (uint32_t t = 0; t < group_.step; ++t) {
    const uint32_t slot = t == before ? group_.first_slot + own_row
                                      : group_.ancestors[uint64_t{own_row} * before + t];
    const uint64_t element = beam_element(layer_, *group_.beam, slot, kv_head_);
    found[t] = element_at(base, layout_.type, element);
  }
}

/// The same, after what the row after that will want has been asked for.
void QueryTile::find_steps_ahead(void* base, uint32_t own_row, const void** found) const {
  if (own_row + 1 < group_.row_count) {
    find_steps(base, own_row + 1, found);
    for (uint32_t t = 0; t < group_.step; ++t) fetch(found[t], layout_.head_dim);
  }
  find_steps(base, own_row, found);
}

/// Scores of every query with its own steps.
void QueryTile::score_steps(const float* q) {
  const auto dot_rows =
      layout_.type == DType::kBf16 ? kernels_.dot_rows_bf16 : kernels_.dot_rows_f32;
  const uint32_t stride = group_.step + 1;
  const void* keys[kMaxSteps];
  const float* queries[kTileQueries] = {};
  for (uint32_t i = 0, of_row = 0; i < queries_.count; i += of_row) {
    of_row = std::min(sharing_ - (queries_.first + i) % sharing_, queries_.count - i);
    find_steps_ahead(group_.beam->keys, row(i), keys);
    for (uint32_t j = 0; j < of_row; ++j) queries[j] = q + offset(i + j);
    dot_rows(queries, of_row, keys, group_.step, layout_.head_dim, own_ + i * stride + 1, stride);
  }
}

/// The own steps as the last tile of the softmax: own_ holds for each query what becomes of its
/// sums of the prompt, then the weights of its steps.
void QueryTile::soften_steps() {
  const uint32_t stride = group_.step + 1;
  for (uint32_t i = 0; i < queries_.count; ++i) {
    float* own = own_ + i * stride;
    own[0] = highest_[i];
    float highest = own[0];
    const float* const added = biases(i);
    for (uint32_t t = 1; t < stride; ++t) {
      own[t] *= factor_;
      if (added != nullptr) own[t] += added[group_.first_position + t - group_.step];
      highest = std::max(highest, own[t]);
    }
    for (uint32_t t = 0; t < stride; ++t) own[t] -= highest;
  }
  kernels_.exp_sum(own_, queries_.count * stride, 1.0f, 0.0f);
  for (uint32_t i = 0; i < queries_.count; ++i) {
    float* own = own_ + i * stride;
    totals_[i] *= own[0];
    for (uint32_t t = 1; t < stride; ++t) totals_[i] += own[t];
    if (layout_.type == DType::kBf16) kernels_.round_bf16(own + 1, group_.step);
  }
}

/// The sums of the prompt and of the own steps, divided by the weights' total.
void QueryTile::finish(float* out) {
  const auto weighted_sum =
      layout_.type == DType::kBf16 ? kernels_.weighted_sum_bf16 : kernels_.weighted_sum_f32;
  const uint32_t steps = own_steps();
  const void* values[kMaxSteps];
  for (uint32_t i = 0; i < queries_.count; ++i) {
    fetch(out + offset(std::min(i + kRowsAhead, queries_.count - 1)), layout_.head_dim);
    const float* own = own_ + i * (steps + 1);
    if (steps > 0 && (i == 0 || row(i) != row(i - 1))) {
      find_steps_ahead(group_.beam->values, row(i), values);
    }
    weighted_sum(output(i), steps > 0 ? own[0] : 1.0f, values, own + 1, steps, layout_.head_dim,
                 1.0f / totals_[i], out + offset(i));
  }
}

}  // namespace tessera::attention
