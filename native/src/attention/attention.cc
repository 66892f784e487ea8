#include "attention/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "attention/row_group.h"
#include "base/check.h"

namespace tessera::attention {
namespace {

using device::KernelTable;
using tensor::DType;

/// Floats of a thread's scratch, in the order of Task's members.
uint64_t scratch_floats(uint32_t head_dim) {
  const uint64_t unpacked = uint64_t{kTilePositions} * head_dim;
  return uint64_t{kQueriesPerTask} * (kTilePositions + uint64_t{head_dim} + 2) + kMaxSteps +
         unpacked;
}

/// Up to kQueriesPerTask queries of one group that share a KV head. Query i of a group is head i
/// mod (heads / kv_heads) of the KV head, of row i / (heads / kv_heads).
class Task {
 public:
  Task(const KernelTable& kernels, const Layer& layer, const RowGroup& group, uint32_t kv_head,
       uint32_t first_query, float* scratch)
      : kernels_(kernels),
        layer_(layer),
        layout_(layer.layout),
        group_(group),
        kv_head_(kv_head),
        first_query_(first_query),
        sharing_(layer.heads / layer.layout.kv_heads),
        factor_(1.0f / std::sqrt(static_cast<float>(layer.layout.head_dim))) {
    count_ = std::min(kQueriesPerTask, group.row_count * sharing_ - first_query);
    const auto take = [&](uint64_t floats) { return std::exchange(scratch, scratch + floats); };
    scores_ = take(uint64_t{kQueriesPerTask} * kTilePositions);
    outputs_ = take(uint64_t{kQueriesPerTask} * layout_.head_dim);
    highest_ = take(kQueriesPerTask);
    totals_ = take(kQueriesPerTask);
    own_ = take(kMaxSteps);
    unpacked_ = scratch;
  }

  void run(const float* q, float* out) {
    std::fill(outputs_, outputs_ + uint64_t{count_} * layout_.head_dim, 0.0f);
    std::fill(highest_, highest_ + count_, -std::numeric_limits<float>::infinity());
    std::fill(totals_, totals_ + count_, 0.0f);
    const uint32_t longest = visible(count_ - 1);  // rows see no less than the rows before them
    for (uint32_t begin = 0; begin < longest; begin += kTilePositions) {
      attend_tile(q, begin, std::min(longest, begin + kTilePositions));
    }
    for (uint32_t i = 0; i < count_; ++i) {
      if (group_.beam != nullptr) attend_steps(q + offset(i), i);
      float* output = outputs_ + uint64_t{i} * layout_.head_dim;
      kernels_.scale(output, layout_.head_dim, 1.0f / totals_[i]);
      std::memcpy(out + offset(i), output, layout_.head_dim * sizeof(float));
    }
  }

 private:
  uint32_t row(uint32_t i) const { return (first_query_ + i) / sharing_; }

  /// Prompt positions that query i sees.
  uint32_t visible(uint32_t i) const {
    return group_.beam != nullptr ? group_.prompt->length : group_.first_position + row(i) + 1;
  }

  /// Where query i lies in q and out.
  uint64_t offset(uint32_t i) const {
    const uint64_t head = kv_head_ * sharing_ + (first_query_ + i) % sharing_;
    return ((uint64_t{group_.first_row} + row(i)) * layer_.heads + head) * layout_.head_dim;
  }

  auto dot_rows() const {
    return layout_.type == DType::kBf16 ? kernels_.dot_rows_bf16 : kernels_.dot_rows_f32;
  }

  /// n scores of query i become exp(score * factor - highest so far), and its sums so far are
  /// brought to that highest.
  void soften(uint32_t i, float* scores, uint32_t n) {
    const float highest = std::max(highest_[i], kernels_.maximum(scores, n) * factor_);
    float before = highest_[i];
    kernels_.exp_sum(&before, 1, 1.0f, highest);
    highest_[i] = highest;
    totals_[i] = totals_[i] * before + kernels_.exp_sum(scores, n, factor_, highest);
    kernels_.scale(outputs_ + uint64_t{i} * layout_.head_dim, layout_.head_dim, before);
    if (layout_.type == DType::kBf16) kernels_.round_bf16(scores, n);
  }

  /// Prompt positions [begin, end) of one tile, for the queries that see any of them.
  void attend_tile(const float* q, uint32_t begin, uint32_t end) {
    uint32_t first = 0;
    while (visible(first) <= begin) ++first;
    unpack<false>(begin, end);
    multiply_keys(q, first, end - begin);
    for (uint32_t i = first; i < count_; ++i) {
      float* scores = scores_ + uint64_t{i} * kTilePositions;
      const uint32_t n = std::min(visible(i), end) - begin;
      soften(i, scores, n);
      std::fill(scores + n, scores + (end - begin), 0.0f);
    }
    unpack<true>(begin, end);
    multiply_values(first, end - begin);
  }

  /// Keys as rows [positions][head_dim], or values as rows [head_dim][kTilePositions].
  template <bool kValues>
  void unpack(uint32_t begin, uint32_t end) {
    if (layout_.type == DType::kBf16) {
      unpack_as<kValues>(begin, end, reinterpret_cast<uint16_t*>(unpacked_));
    } else {
      unpack_as<kValues>(begin, end, unpacked_);
    }
  }
  template <bool kValues, typename T>
  void unpack_as(uint32_t begin, uint32_t end, T* to) {
    const uint32_t n = layout_.head_dim;
    const uint64_t offset = kValues ? layout_.value_offset(layer_.index, kv_head_)
                                    : layout_.key_offset(layer_.index, kv_head_);
    for (uint32_t p = begin; p < end; ++p) {
      const void* block = group_.prompt->blocks[p / kBlockPositions];
      const T* from = reinterpret_cast<const T*>(static_cast<const char*>(block) + offset);
      const uint32_t in_block = p % kBlockPositions;
      for (uint32_t d = 0; d < n; ++d) {
        if constexpr (kValues) {
          to[uint64_t{d} * kTilePositions + p - begin] = from[layout_.value_element(in_block, d)];
        } else {
          to[uint64_t{p - begin} * n + d] = from[layout_.key_element(in_block, d)];
        }
      }
    }
  }

  void multiply_keys(const float* q, uint32_t first, uint32_t positions) {
    const float* queries[kQueriesPerTask];
    const void* keys[kTilePositions];
    for (uint32_t i = first; i < count_; ++i) queries[i] = q + offset(i);
    for (uint32_t p = 0; p < positions; ++p) {
      keys[p] = element_at(unpacked_, layout_.type, uint64_t{p} * layout_.head_dim);
    }
    dot_rows()(queries + first, count_ - first, keys, positions, layout_.head_dim,
               scores_ + uint64_t{first} * kTilePositions, kTilePositions);
  }

  void multiply_values(uint32_t first, uint32_t positions) {
    const float* weights[kQueriesPerTask];
    float sums[kQueriesPerTask];
    for (uint32_t i = first; i < count_; ++i) weights[i] = scores_ + uint64_t{i} * kTilePositions;
    for (uint32_t d = 0; d < layout_.head_dim; ++d) {
      const void* values = element_at(unpacked_, layout_.type, uint64_t{d} * kTilePositions);
      dot_rows()(weights + first, count_ - first, &values, 1, positions, sums, 1);
      for (uint32_t i = first; i < count_; ++i) {
        outputs_[uint64_t{i} * layout_.head_dim + d] += sums[i - first];
      }
    }
  }

  /// Slot that the ancestor of query i (or the row itself) wrote at step t, counted from 0.
  uint64_t element_of_step(uint32_t i, uint32_t t) const {
    const uint32_t own = row(i), before = group_.step - 1;
    const uint32_t slot = t == before ? own : group_.ancestors[uint64_t{own} * before + t];
    return beam_element(layer_, *group_.beam, t, slot, kv_head_);
  }

  /// The own steps of query i as its last tile.
  void attend_steps(const float* query, uint32_t i) {
    for (uint32_t t = 0; t < group_.step; ++t) {
      const void* key = element_at(group_.beam->keys, layout_.type, element_of_step(i, t));
      dot_rows()(&query, 1, &key, 1, layout_.head_dim, own_ + t, 1);
    }
    soften(i, own_, group_.step);
    const auto axpy = layout_.type == DType::kBf16 ? kernels_.axpy_bf16 : kernels_.axpy_f32;
    for (uint32_t t = 0; t < group_.step; ++t) {
      const void* value = element_at(group_.beam->values, layout_.type, element_of_step(i, t));
      axpy(own_[t], value, layout_.head_dim, outputs_ + uint64_t{i} * layout_.head_dim);
    }
  }

  const KernelTable& kernels_;
  const Layer& layer_;
  const BlockLayout& layout_;
  const RowGroup& group_;
  const uint32_t kv_head_, first_query_, sharing_;
  const float factor_;
  uint32_t count_;
  float* scores_;    // [queries][kTilePositions], then probabilities
  float* outputs_;   // [queries][head_dim], weighted with exp(score - highest)
  float* highest_;   // [queries]: highest score so far, times factor
  float* totals_;    // [queries]: sum of the weights so far
  float* own_;       // [kMaxSteps]: scores of one query's own steps
  float* unpacked_;  // a tile's keys or values as rows
};

uint64_t task_count(const Layer& layer, const RowGroup& group) {
  const uint64_t queries = uint64_t{group.row_count} * (layer.heads / layer.layout.kv_heads);
  return (queries + kQueriesPerTask - 1) / kQueriesPerTask * layer.layout.kv_heads;
}

}  // namespace

Result<Scratch> Scratch::allocate(device::Device& device, uint32_t head_dim) {
  Scratch scratch;
  scratch.floats_per_thread_ = scratch_floats(head_dim);
  scratch.head_dim_ = head_dim;
  Result<device::Buffer> memory =
      device.allocate(device.threads().thread_count() * scratch.floats_per_thread_ * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  scratch.memory_ = std::move(memory).value();
  return scratch;
}

void attend(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
            const float* q, float* out, Scratch& scratch) {
  const uint32_t kv_heads = layer.layout.kv_heads;
  TESSERA_CHECK(kv_heads > 0 && layer.heads % kv_heads == 0);
  TESSERA_CHECK(layer.layout.head_dim == scratch.head_dim());
  uint64_t tasks = 0;
  for (const RowGroup& group : groups) {
    check_group(group);
    tasks += task_count(layer, group);
  }
  // Causal tasks differ in length, so threads take the next one; who takes it changes no result.
  std::atomic<uint64_t> next{0};
  const auto work = [&](uint64_t begin, uint64_t end) {
    for (uint64_t thread = begin; thread < end; ++thread) {
      float* memory = scratch.of_thread(static_cast<uint32_t>(thread));
      for (uint64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
        const RowGroup* group = groups.data();
        uint64_t index = task;
        while (index >= task_count(layer, *group)) index -= task_count(layer, *group++);
        const auto kv_head = static_cast<uint32_t>(index % kv_heads);
        const uint32_t first = static_cast<uint32_t>(index / kv_heads) * kQueriesPerTask;
        Task(device.kernels(), layer, *group, kv_head, first, memory).run(q, out);
      }
    }
  };
  device.threads().parallel_for(device.threads().thread_count(), work);
}

}  // namespace tessera::attention
