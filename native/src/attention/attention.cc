#include "attention/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace tessera::attention {
namespace {

using device::KernelTable;
using tensor::DType;

constexpr uint32_t kKeysPerProduct = 64;
constexpr uint64_t kPositionsPerTranspose = 32;
constexpr uint64_t kForkThreshold = 1u << 14;  // elements written below which a fork costs more

/// Address of an element of a key or value array.
void* at(void* base, DType type, uint64_t element) {
  return static_cast<char*>(base) + element * tensor::dtype_size(type);
}

void store(const KernelTable& kernels, DType type, const float* from, uint32_t n, void* to) {
  if (type == DType::kBf16) {
    kernels.narrow_bf16(from, n, static_cast<uint16_t*>(to));
  } else {
    std::memcpy(to, from, n * sizeof(float));
  }
}

uint64_t prompt_head(const Layer& layer, const PromptKv& prompt, uint32_t kv_head) {
  return (uint64_t{layer.index} * layer.kv_heads + kv_head) * prompt.capacity * layer.head_dim;
}

uint64_t beam_slot(const Layer& layer, const BeamKv& beam, uint32_t step, uint32_t slot,
                   uint32_t kv_head) {
  const uint64_t row = (uint64_t{layer.index} * beam.max_steps + step) * beam.max_width + slot;
  return (row * layer.kv_heads + kv_head) * layer.head_dim;
}

/// Rows [0, rows) of keys and values, each `width` floats, to positions from `position` on. Values
/// are transposed a few positions at a time, so that whole cache lines are written.
void write_prompt_rows(const KernelTable& kernels, const Layer& layer, PromptKv& prompt,
                       uint32_t position, uint64_t rows, const float* keys, const float* values) {
  const uint32_t n = layer.head_dim;
  const uint64_t width = uint64_t{layer.kv_heads} * n;
  for (uint32_t head = 0; head < layer.kv_heads; ++head) {
    const uint64_t base = prompt_head(layer, prompt, head);
    for (uint64_t r = 0; r < rows; ++r) {
      store(kernels, layer.type, keys + r * width + head * n, n,
            at(prompt.keys, layer.type, base + (position + r) * n));
    }
    for (uint32_t d = 0; d < n; ++d) {
      float column[kPositionsPerTranspose];
      for (uint64_t r = 0; r < rows; ++r) column[r] = values[r * width + head * n + d];
      store(kernels, layer.type, column, static_cast<uint32_t>(rows),
            at(prompt.values_transposed, layer.type,
               base + uint64_t{d} * prompt.capacity + position));
    }
  }
}

void write_beam_row(const KernelTable& kernels, const Layer& layer, BeamKv& beam, uint32_t step,
                    uint32_t slot, const float* keys, const float* values) {
  const uint32_t n = layer.kv_heads * layer.head_dim;
  const uint64_t base = beam_slot(layer, beam, step - 1, slot, 0);
  store(kernels, layer.type, keys, n, at(beam.keys, layer.type, base));
  store(kernels, layer.type, values, n, at(beam.values, layer.type, base));
}

void check_group(const RowGroup& group, uint32_t max_context) {
  TESSERA_CHECK(group.prompt != nullptr);
  if (group.beam == nullptr) {
    TESSERA_CHECK(group.first_position <= group.prompt->length);
    TESSERA_CHECK(group.first_position + group.row_count <= group.prompt->capacity);
    TESSERA_CHECK(group.first_position + group.row_count <= max_context);
    return;
  }
  TESSERA_CHECK(group.step >= 1 && group.step <= group.beam->max_steps && group.step <= kMaxSteps);
  TESSERA_CHECK(group.row_count <= group.beam->max_width);
  TESSERA_CHECK(group.prompt->length <= max_context);
  TESSERA_CHECK(group.ancestors.size() == uint64_t{group.row_count} * (group.step - 1));
  for (const uint32_t slot : group.ancestors) TESSERA_CHECK(slot < group.beam->max_width);
}

/// Up to kQueriesPerTask queries of one group that share a KV head. Query i of a group is head i
/// mod (heads / kv_heads) of the KV head, of row i / (heads / kv_heads).
class Task {
 public:
  Task(const KernelTable& kernels, const Layer& layer, const RowGroup& group, uint32_t kv_head,
       uint32_t first_query, float* scratch, uint32_t max_context)
      : kernels_(kernels), layer_(layer), group_(group), kv_head_(kv_head) {
    const uint32_t sharing = layer.heads / layer.kv_heads;
    first_query_ = first_query;
    sharing_ = sharing;
    count_ = std::min(kQueriesPerTask, group.row_count * sharing - first_query);
    stride_ = max_context;
    scores_ = scratch;
    outputs_ = scores_ + uint64_t{kQueriesPerTask} * stride_;
    suffix_ = outputs_ + uint64_t{kQueriesPerTask} * layer.head_dim;
    longest_ = visible(count_ - 1);  // rows see no less than the rows before them
  }

  void run(const float* q, float* out) {
    const float factor = 1.0f / std::sqrt(static_cast<float>(layer_.head_dim));
    score_prompt(q);
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t steps = group_.beam != nullptr ? group_.step : 0;
      float* own = suffix_ + i * kMaxSteps;
      for (uint32_t t = 0; t < steps; ++t) own[t] = score_step(q + offset(i), i, t);
      totals_[i] = soften(scores_ + uint64_t{i} * stride_, visible(i), own, steps, factor);
      std::fill(scores_ + uint64_t{i} * stride_ + visible(i),
                scores_ + uint64_t{i} * stride_ + longest_, 0.0f);
    }
    weigh_prompt();
    for (uint32_t i = 0; i < count_; ++i) finish(i, out + offset(i));
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
    return ((uint64_t{group_.first_row} + row(i)) * layer_.heads + head) * layer_.head_dim;
  }

  auto dot_rows() const {
    return layer_.type == DType::kBf16 ? kernels_.dot_rows_bf16 : kernels_.dot_rows_f32;
  }

  /// Slot that the ancestor of query i (or the row itself) wrote at step t, counted from 0.
  uint64_t element_of_step(uint32_t i, uint32_t t) const {
    const uint32_t own = row(i), before = group_.step - 1;
    const uint32_t slot = t == before ? own : group_.ancestors[uint64_t{own} * before + t];
    return beam_slot(layer_, *group_.beam, t, slot, kv_head_);
  }

  void score_prompt(const float* q) {
    const uint64_t base = prompt_head(layer_, *group_.prompt, kv_head_);
    const float* queries[kQueriesPerTask];
    const void* keys[kKeysPerProduct];
    for (uint32_t i = 0; i < count_; ++i) queries[i] = q + offset(i);
    for (uint32_t p = 0; p < longest_; p += kKeysPerProduct) {
      const uint32_t n = std::min(kKeysPerProduct, longest_ - p);
      for (uint32_t j = 0; j < n; ++j) {
        keys[j] = at(group_.prompt->keys, layer_.type, base + uint64_t{p + j} * layer_.head_dim);
      }
      dot_rows()(queries, count_, keys, n, layer_.head_dim, scores_ + p, stride_);
    }
  }

  float score_step(const float* query, uint32_t i, uint32_t t) const {
    const void* key = at(group_.beam->keys, layer_.type, element_of_step(i, t));
    float score = 0;
    dot_rows()(&query, 1, &key, 1, layer_.head_dim, &score, 1);
    return score;
  }

  /// Scores become exp(score * factor - maximum); returns their sum over prompt and own steps.
  float soften(float* prompt, uint32_t positions, float* own, uint32_t steps, float factor) const {
    float highest = positions > 0 ? kernels_.maximum(prompt, positions) : own[0];
    if (steps > 0) highest = std::max(highest, kernels_.maximum(own, steps));
    const float shift = highest * factor;
    float total = kernels_.exp_sum(prompt, positions, factor, shift);
    total += kernels_.exp_sum(own, steps, factor, shift);
    if (layer_.type == DType::kBf16) {
      kernels_.round_bf16(prompt, positions);
      kernels_.round_bf16(own, steps);
    }
    return total;
  }

  void weigh_prompt() {
    const uint64_t base = prompt_head(layer_, *group_.prompt, kv_head_);
    const float* weights[kQueriesPerTask];
    const void* values[kKeysPerProduct];
    for (uint32_t i = 0; i < count_; ++i) weights[i] = scores_ + uint64_t{i} * stride_;
    for (uint32_t d = 0; d < layer_.head_dim; d += kKeysPerProduct) {
      const uint32_t n = std::min(kKeysPerProduct, layer_.head_dim - d);
      for (uint32_t j = 0; j < n; ++j) {
        values[j] = at(group_.prompt->values_transposed, layer_.type,
                       base + uint64_t{d + j} * group_.prompt->capacity);
      }
      dot_rows()(weights, count_, values, n, longest_, outputs_ + d, layer_.head_dim);
    }
  }

  /// Adds the values of the own steps, in their order, and divides by the total.
  void finish(uint32_t i, float* out) {
    float* output = outputs_ + uint64_t{i} * layer_.head_dim;
    const auto axpy = layer_.type == DType::kBf16 ? kernels_.axpy_bf16 : kernels_.axpy_f32;
    const uint32_t steps = group_.beam != nullptr ? group_.step : 0;
    for (uint32_t t = 0; t < steps; ++t) {
      const void* value = at(group_.beam->values, layer_.type, element_of_step(i, t));
      axpy(suffix_[i * kMaxSteps + t], value, layer_.head_dim, output);
    }
    kernels_.scale(output, layer_.head_dim, 1.0f / totals_[i]);
    std::memcpy(out, output, layer_.head_dim * sizeof(float));
  }

  const KernelTable& kernels_;
  const Layer& layer_;
  const RowGroup& group_;
  uint32_t kv_head_, first_query_, sharing_, count_, stride_, longest_;
  float* scores_;   // [queries][stride]
  float* outputs_;  // [queries][head_dim]
  float* suffix_;   // [queries][kMaxSteps]
  float totals_[kQueriesPerTask];
};

uint64_t task_count(const Layer& layer, const RowGroup& group) {
  const uint64_t queries = uint64_t{group.row_count} * (layer.heads / layer.kv_heads);
  return (queries + kQueriesPerTask - 1) / kQueriesPerTask * layer.kv_heads;
}

}  // namespace

Result<Scratch> Scratch::allocate(device::Device& device, uint32_t max_context, uint32_t head_dim) {
  Scratch scratch;
  scratch.floats_per_thread_ =
      uint64_t{kQueriesPerTask} * (uint64_t{max_context} + head_dim + kMaxSteps);
  scratch.max_context_ = max_context;
  scratch.head_dim_ = head_dim;
  Result<device::Buffer> memory =
      device.allocate(device.threads().thread_count() * scratch.floats_per_thread_ * sizeof(float));
  if (!memory.is_ok()) return memory.status();
  scratch.memory_ = std::move(memory).value();
  return scratch;
}

void write_kv(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
              const float* keys, const float* values) {
  const KernelTable& kernels = device.kernels();
  const uint64_t width = uint64_t{layer.kv_heads} * layer.head_dim;
  for (const RowGroup& group : groups) {
    check_group(group, UINT32_MAX);
    const auto write = [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; i += kPositionsPerTranspose) {
        const uint64_t from = (group.first_row + i) * width;
        const uint64_t rows = std::min(kPositionsPerTranspose, end - i);
        const uint32_t row = static_cast<uint32_t>(i);
        if (group.beam == nullptr) {
          write_prompt_rows(kernels, layer, *group.prompt, group.first_position + row, rows,
                            keys + from, values + from);
          continue;
        }
        for (uint32_t r = 0; r < rows; ++r) {
          write_beam_row(kernels, layer, *group.beam, group.step, row + r, keys + from + r * width,
                         values + from + r * width);
        }
      }
    };
    if (group.row_count * width < kForkThreshold) {
      write(0, group.row_count);
    } else {
      device.threads().parallel_for(group.row_count, write);
    }
  }
}

void attend(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
            const float* q, float* out, Scratch& scratch) {
  TESSERA_CHECK(layer.kv_heads > 0 && layer.heads % layer.kv_heads == 0);
  TESSERA_CHECK(layer.head_dim == scratch.head_dim());
  uint64_t tasks = 0;
  for (const RowGroup& group : groups) {
    check_group(group, scratch.max_context());
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
        const uint32_t kv_head = static_cast<uint32_t>(index % layer.kv_heads);
        const uint32_t first = static_cast<uint32_t>(index / layer.kv_heads) * kQueriesPerTask;
        Task(device.kernels(), layer, *group, kv_head, first, memory, scratch.max_context())
            .run(q, out);
      }
    }
  };
  device.threads().parallel_for(device.threads().thread_count(), work);
}

}  // namespace tessera::attention
