#include "cuda/device/kernel.h"

#include "cuda/kernels/row_kernels.h"

namespace tessera::ops::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::kWarpLanes;
using tessera::cuda::narrow;
using tessera::cuda::warp_maximum;
using tessera::cuda::warp_sum;
using tessera::cuda::widen;

inline constexpr uint32_t kRowWarps = kRowThreads / kWarpLanes;

/// Over all threads of the block, the same in each: within warps first, then warp by warp.
TESSERA_DEVICE float block_sum(float value) {
  TESSERA_SHARED(float, sums, kRowWarps);
  const float own = warp_sum(value);
  __syncthreads();  // of the call before, all have read
  if (threadIdx.x % kWarpLanes == 0) sums[threadIdx.x / kWarpLanes] = own;
  __syncthreads();
  float sum = 0;
  for (uint32_t i = 0; i < kRowWarps; ++i) sum += sums[i];
  return sum;
}

TESSERA_DEVICE float block_maximum(float value) {
  TESSERA_SHARED(float, highest, kRowWarps);
  const float own = warp_maximum(value);
  __syncthreads();
  if (threadIdx.x % kWarpLanes == 0) highest[threadIdx.x / kWarpLanes] = own;
  __syncthreads();
  float maximum = highest[0];
  for (uint32_t i = 1; i < kRowWarps; ++i) maximum = fmaxf(maximum, highest[i]);
  return maximum;
}

/// hidden[row] = the row at from[row], widened; zeros of a spare row, whose address is null.
TESSERA_KERNEL tessera_embed(const uint16_t* const* from, uint32_t size, float* hidden) {
  const size_t row = blockIdx.x;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads)
    hidden[row * size + i] = from[row] == nullptr ? 0.0f : widen(from[row][i]);
}

/// hidden[row] += added[row] (null: nothing), then normed = weight * hidden / sqrt(mean(hidden^2) +
/// epsilon) in BF16; `exact` (null: nowhere) before it is rounded.
TESSERA_KERNEL tessera_add_rms_norm(const uint16_t* added, const uint16_t* weight, uint32_t size,
                                    float epsilon, float* hidden, uint16_t* normed, float* exact) {
  const size_t first = static_cast<size_t>(blockIdx.x) * size;
  float squares = 0;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads) {
    float value = hidden[first + i];
    if (added != nullptr) {
      value += widen(added[first + i]);
      hidden[first + i] = value;
    }
    squares += value * value;
  }
  const float mean = block_sum(squares) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads) {
    const float value = widen(weight[i]) * (hidden[first + i] * factor);
    normed[first + i] = narrow(value);
    if (exact != nullptr) exact[first + i] = value;
  }
}

/// to[i] = from[rows[i]].
TESSERA_KERNEL tessera_gather_rows(const uint16_t* from, const uint32_t* rows, uint32_t size,
                                   uint16_t* to) {
  const uint16_t* row = from + static_cast<size_t>(rows[blockIdx.x]) * size;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads)
    to[static_cast<size_t>(blockIdx.x) * size + i] = row[i];
}

/// to[row][i] = from[row][ids[i]].
TESSERA_KERNEL tessera_gather_columns(const float* from, uint32_t size, const int32_t* ids,
                                      uint32_t count, float* to) {
  const float* row = from + static_cast<size_t>(blockIdx.x) * size;
  for (uint32_t i = threadIdx.x; i < count; i += kRowThreads)
    to[static_cast<size_t>(blockIdx.x) * count + i] = row[ids[i]];
}

/// gated[row] = silu(gate) * up, of [rows][gate: size, up: size].
TESSERA_KERNEL tessera_silu_mul(const uint16_t* gate_up, uint32_t size, uint16_t* gated) {
  const uint16_t* gate = gate_up + static_cast<size_t>(blockIdx.x) * 2 * size;
  uint16_t* to = gated + static_cast<size_t>(blockIdx.x) * size;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads) {
    const float value = widen(gate[i]);
    to[i] = narrow(value / (1.0f + expf(-value)) * widen(gate[size + i]));
  }
}

/// One head of one row: normed where the model says so, turned by its position, put where attention
/// reads it. A lane has kCount dimensions, lane, lane + 32, ...: of a pair (i, i + half) both.
template <uint32_t kCount>
TESSERA_DEVICE void place_head(const Heads& heads) {
  const uint32_t row = blockIdx.x, head = blockIdx.y, lane = threadIdx.x;
  const uint32_t all = heads.heads + 2 * heads.kv_heads;
  const bool is_query = head < heads.heads;
  const bool is_value = head >= heads.heads + heads.kv_heads;
  const uint16_t* from = heads.projected + (static_cast<size_t>(row) * all + head) * heads.head_dim;
  float values[kCount];
  for (uint32_t i = 0; i < kCount; ++i) values[i] = widen(from[lane + kWarpLanes * i]);
  const uint16_t* norm = is_query ? heads.q_norm : heads.k_norm;
  if (!is_value && norm != nullptr) {
    float squares = 0;
    for (uint32_t i = 0; i < kCount; ++i) squares += values[i] * values[i];
    const float mean = warp_sum(squares) / static_cast<float>(heads.head_dim);
    const float factor = 1.0f / sqrtf(mean + heads.epsilon);
    for (uint32_t i = 0; i < kCount; ++i) {
      values[i] = widen(norm[lane + kWarpLanes * i]) * (values[i] * factor);
    }
  }
  if (!is_value) {
    const size_t angles = static_cast<size_t>(heads.positions[row]) * (heads.head_dim / 2);
    for (uint32_t i = 0; i < kCount / 2; ++i) {
      const float cosine = heads.cosines[angles + lane + kWarpLanes * i];
      const float sine = heads.sines[angles + lane + kWarpLanes * i];
      const float low = values[i], high = values[i + kCount / 2];
      values[i] = low * cosine - high * sine;
      values[i + kCount / 2] = high * cosine + low * sine;
    }
  }
  uint16_t* to = heads.q + (static_cast<size_t>(row) * heads.heads + head) * heads.head_dim;
  if (!is_query) {
    const Place& place = heads.places[row];
    if (place.keys == nullptr) return;  // spare
    const uint32_t kv_head = head - heads.heads - (is_value ? heads.kv_heads : 0);
    to = (is_value ? place.values : place.keys) + heads.layer * place.layer_stride +
         static_cast<size_t>(kv_head) * place.head_stride;
  }
  for (uint32_t i = 0; i < kCount; ++i) to[lane + kWarpLanes * i] = narrow(values[i]);
}

/// A lane keeps its dimensions in registers, since the compiler knows their number.
TESSERA_KERNEL tessera_place_heads(Heads heads) {
  if (heads.head_dim == kHeadDimMax) {
    place_head<kHeadDimMax / kWarpLanes>(heads);
  } else {
    place_head<kHeadDimMax / 2 / kWarpLanes>(heads);
  }
}

TESSERA_KERNEL tessera_check_rows(RowCheck check) {
  constexpr uint32_t kExponent = 0x7F800000u;  // all ones: infinity or not a number
  if (threadIdx.x == 0) check.struck[blockIdx.x] = 0;
  __syncthreads();
  const float* row = check.rows + static_cast<size_t>(blockIdx.x) * check.size;
  for (uint32_t i = threadIdx.x; i < check.size; i += kRowThreads) {
    if ((tessera::cuda::float_bits(row[i]) & kExponent) == kExponent) check.struck[blockIdx.x] = 1;
  }
}

/// result[row] = log(sum(exp(logits[row]))) over `size` logits; minus infinity of nothing finite.
TESSERA_KERNEL tessera_log_sum_exp(const float* logits, uint32_t size, float* result) {
  const float* row = logits + static_cast<size_t>(blockIdx.x) * size;
  const float lowest = bits_float(0xFF800000u);
  float highest = lowest;
  for (uint32_t i = threadIdx.x; i < size; i += kRowThreads) {
    highest = row[i] > highest ? row[i] : highest;
  }
  highest = block_maximum(highest);
  float sum = 0;
  for (uint32_t i = threadIdx.x; i < size && highest > lowest; i += kRowThreads) {
    const float term = expf(row[i] - highest);
    sum += term == term ? term : 0.0f;  // not a number is left out
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) result[blockIdx.x] = highest > lowest ? highest + logf(sum) : lowest;
}

}  // namespace tessera::ops::cuda
