#include "cuda/device/kernel.h"

#include "cuda/kernels/attend_kernels.h"

namespace tessera::attention::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::narrow;
using tessera::cuda::warp_sum;
using tessera::cuda::widen;

constexpr float kLog2E = 1.44269504088896f;

TESSERA_DEVICE float minus_infinity() { return bits_float(0xFF800000u); }

/// 1 / sqrt(head_dim) for powers of base 2.
TESSERA_DEVICE float score_scale(const Layer& layer) {
  return kLog2E / sqrtf(static_cast<float>(layer.head_dim));
}

TESSERA_DEVICE const Rows& group_of_row(const Rows* groups, uint32_t row) {
  while (groups->first_row + groups->rows <= row) ++groups;
  return *groups;
}

/// A row's head as one lane has it in registers: kCount dimensions, lane, lane + 32, ...
template <uint32_t kCount>
struct Merged {
  float values[kCount];
  float maximum;
  float sum;
};

/// Adds a part: its values, divided by its sum, whose log is given.
template <uint32_t kCount>
TESSERA_DEVICE void add_part(const float* values, float log, Merged<kCount>& merged) {
  const float highest = fmaxf(merged.maximum, log);
  const float keep = merged.sum > 0 ? exp2f(merged.maximum - highest) : 0.0f;
  const float take = exp2f(log - highest);
  for (uint32_t i = 0; i < kCount; ++i)
    merged.values[i] = merged.values[i] * keep + values[i] * take;
  merged.sum = merged.sum * keep + take;
  merged.maximum = highest;
}

/// The decoded tokens of a beam, oldest first, then its own.
template <uint32_t kCount>
TESSERA_DEVICE void add_own(const Layer& layer, const Rows& group, uint32_t row, uint32_t head,
                            const float* query, Merged<kCount>& merged) {
  const uint32_t lane = threadIdx.x;
  const uint32_t kv_head = head / (layer.heads / layer.kv_heads);
  for (uint32_t step = 0; step < group.steps; ++step) {
    const uint32_t slot = step + 1 < group.steps
                              ? group.ancestors[static_cast<size_t>(row) * (group.steps - 1) + step]
                              : group.first_slot + row;
    const size_t at =
        ((static_cast<size_t>(layer.index) * group.slots + slot) * layer.kv_heads + kv_head) *
        layer.head_dim;
    float product = 0, values[kCount];
    for (uint32_t i = 0; i < kCount; ++i) {
      product += query[i] * widen(group.own_keys[at + lane + 32 * i]);
      values[i] = widen(group.own_values[at + lane + 32 * i]);
    }
    add_part(values, warp_sum(product) * score_scale(layer), merged);
  }
}

template <uint32_t kCount>
TESSERA_DEVICE void merge(const Layer& layer, const Rows* groups) {
  const Rows& group = group_of_row(groups, blockIdx.x);
  if (group.q == nullptr) return;  // spare
  const uint32_t row = blockIdx.x - group.first_row, head = blockIdx.y, lane = threadIdx.x;
  const size_t index = static_cast<size_t>(row) * layer.heads + head;
  const size_t all = static_cast<size_t>(group.rows) * layer.heads;
  Merged<kCount> merged = {{}, minus_infinity(), 0};
  // The next part's log comes while this one is added.
  const float* const logs = group.part_logs;
  const float* const part_values = group.part_values;
  float log = group.splits > 0 ? logs[index] : 0.0f;
  for (uint32_t split = 0; split < group.splits; ++split) {
    const float next = split + 1 < group.splits ? logs[(split + 1) * all + index] : 0.0f;
    float values[kCount];
    for (uint32_t i = 0; i < kCount; ++i)
      values[i] = part_values[(split * all + index) * layer.head_dim + lane + 32 * i];
    if (!(log < TESSERA_CARD_NOTHING)) add_part(values, log, merged);
    log = next;
  }
  float query[kCount];
  for (uint32_t i = 0; i < kCount; ++i)
    query[i] = widen(group.q[index * layer.head_dim + lane + 32 * i]);
  add_own(layer, group, row, head, query, merged);
  for (uint32_t i = 0; i < kCount; ++i) {
    group.mixed[index * layer.head_dim + lane + 32 * i] = narrow(merged.values[i] / merged.sum);
  }
}

TESSERA_KERNEL tessera_attend_merge(Layer layer, const Rows* groups) {
  if (layer.head_dim == kHeadDimMax) {
    merge<kHeadDimMax / 32>(layer, groups);
  } else {
    merge<kHeadDimMax / 64>(layer, groups);
  }
}

}  // namespace tessera::attention::cuda
