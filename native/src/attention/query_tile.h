// Attention of a tile of queries that share a KV head: what one thread does at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/attention.h"
#include "device/kernel_table.h"

namespace tessera::attention {

inline constexpr uint32_t kTileQueries = 96;  // a multiple of the register tiles' rows: 6, 16, 32

/// Queries [first, first + count) of one group. Query i of a group is head i mod (heads / kv_heads)
/// of the KV head, of row i / (heads / kv_heads).
struct QueryRange {
  uint32_t first = 0;
  uint32_t count = 0;  // 1..kTileQueries
};

class QueryTile {
 public:
  /// Bytes of scratch that a tile needs, a multiple of 64.
  static uint64_t scratch_bytes(device::PanelType type, const device::PanelKernels& kernels,
                                uint32_t head_dim);

  /// `scratch` is aligned to 64 bytes.
  QueryTile(const device::KernelTable& kernels, const Layer& layer, const RowGroup& group,
            uint32_t kv_head, QueryRange queries, void* scratch);

  void run(const float* q, float* out);

 private:
  uint32_t row(uint32_t i) const { return (queries_.first + i) / sharing_; }
  /// Prompt positions that query i sees end here; no sooner than those of the queries before it.
  uint32_t visible(uint32_t i) const {
    if (layer_.sight.part == Sight::Part::kEncoded) return group_.prompt->encoded;
    if (group_.beam != nullptr) return group_.prompt->length;
    const uint32_t own = group_.first_position + row(i) + 1;
    if (layer_.sight.is_causal) return own;
    return std::min(group_.first_position + group_.row_count, own + layer_.sight.reach);
  }
  /// They begin here.
  uint32_t seen_from(uint32_t i) const {
    if (layer_.sight.part == Sight::Part::kEncoded) return 0;
    if (layer_.sight.part == Sight::Part::kDecoded) return group_.prompt->encoded;
    const uint32_t own = group_.first_position + row(i);
    const bool is_near = group_.beam == nullptr && !layer_.sight.is_causal;
    return is_near && own > layer_.sight.reach ? own - layer_.sight.reach : 0;
  }
  /// Steps of a beam that its queries see: all of them, or none.
  uint32_t own_steps() const {
    const bool sees = group_.beam != nullptr && layer_.sight.part != Sight::Part::kEncoded;
    return sees ? group_.step : 0;
  }
  /// Biases of query i by the position of a key; null: there are none.
  const float* biases(uint32_t i) const {
    const DistanceBias& bias = layer_.sight.bias;
    if (bias.values == nullptr) return nullptr;
    const uint32_t own = group_.first_position + (group_.beam == nullptr ? row(i) : 0);
    return bias.values + uint64_t{head(i)} * bias.stride() + bias.reach - own;
  }
  uint32_t head(uint32_t i) const { return kv_head_ * sharing_ + (queries_.first + i) % sharing_; }
  /// The first query that sees a position, at or after `from`.
  uint32_t first_seeing(uint32_t position, uint32_t from) const;
  /// Offset of query i in q and out.
  uint64_t offset(uint32_t i) const;
  float* scores(uint32_t i) const;
  float* output(uint32_t i) const;

  void write_queries(const float* q);
  void attend_positions(uint32_t begin, uint32_t end);
  void multiply_keys(uint32_t block, uint32_t first, float* scores);
  void add_biases(uint32_t first, uint32_t begin, uint32_t end);
  void hide(uint32_t first, uint32_t begin, uint32_t end);
  void raise_highest(uint32_t first, uint32_t begin, uint32_t end);
  void soften(uint32_t first_row, uint32_t first, uint32_t begin, uint32_t end);
  float weigh(uint32_t i, uint32_t n, uint32_t covered);
  void gather_values(uint32_t first_block, uint32_t count, uint32_t d);
  void multiply_values(uint32_t first, uint32_t begin, uint32_t end);
  void find_steps(void* base, uint32_t own_row, const void** found) const;
  void find_steps_ahead(void* base, uint32_t own_row, const void** found) const;
  void score_steps(const float* q);
  void soften_steps();
  void finish(float* out);

  const device::KernelTable& kernels_;
  const device::PanelKernels& panels_;
  const Layer& layer_;
  const BlockLayout& layout_;
  const RowGroup& group_;
  const uint32_t kv_head_;
  const QueryRange queries_;
  const uint32_t sharing_;      // queries of one row
  const float factor_;          // of the scores
  const uint64_t query_bytes_;  // of one query as an operand
  const uint32_t row_block_;    // of the kernels
  const uint32_t earliest_;     // position at which the first tile of positions begins
  char* query_operand_;
  char* weight_operand_;  // of kernels whose operands are not plain rows
  char* value_panel_;     // 32 columns of values, a tile of positions
  float* scores_;         // [queries][kScoreStride], then weights
  float* outputs_;        // [queries][output stride]: values weighted with exp(score - highest)
  float* highest_;        // [queries]: highest score so far, times factor_
  float* totals_;         // [queries]: sum of the weights so far
  float* shrinks_;        // [queries]: what a new highest score makes of the sums before it
  float* own_;            // [queries][step + 1]: of the own steps
};

}  // namespace tessera::attention
