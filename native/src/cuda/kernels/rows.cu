#include "cuda/device/kernel.h"

#include "cuda/kernels/row_kernels.h"

namespace tessera::ops::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::Chunk;
using tessera::cuda::float_bits;
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

/// Numbers that a thread loads before it computes with them: 16 bytes of BF16. Rows are of
/// multiples of so many.
inline constexpr uint32_t kAtOnce = 8;

TESSERA_DEVICE void load(const uint16_t* from, float (&to)[kAtOnce]) {
  const Chunk chunk = *reinterpret_cast<const Chunk*>(from);
  TESSERA_UNROLL
  for (uint32_t i = 0; i < kAtOnce / 2; ++i) {
    to[2 * i] = widen(static_cast<uint16_t>(chunk.words[i]));
    to[2 * i + 1] = widen(static_cast<uint16_t>(chunk.words[i] >> 16));
  }
}

TESSERA_DEVICE void load(const float* from, float (&to)[kAtOnce]) {
  TESSERA_UNROLL
  for (uint32_t half = 0; half < 2; ++half) {
    const Chunk chunk = reinterpret_cast<const Chunk*>(from)[half];
    TESSERA_UNROLL
    for (uint32_t i = 0; i < 4; ++i) to[4 * half + i] = bits_float(chunk.words[i]);
  }
}

TESSERA_DEVICE void store(const float (&from)[kAtOnce], uint16_t* to) {
  Chunk chunk;
  TESSERA_UNROLL
  for (uint32_t i = 0; i < kAtOnce / 2; ++i) {
    chunk.words[i] = static_cast<uint32_t>(narrow(from[2 * i])) |
                     static_cast<uint32_t>(narrow(from[2 * i + 1])) << 16;
  }
  *reinterpret_cast<Chunk*>(to) = chunk;
}

TESSERA_DEVICE void store(const float (&from)[kAtOnce], float* to) {
  TESSERA_UNROLL
  for (uint32_t half = 0; half < 2; ++half) {
    Chunk chunk;
    TESSERA_UNROLL
    for (uint32_t i = 0; i < 4; ++i) chunk.words[i] = float_bits(from[4 * half + i]);
    reinterpret_cast<Chunk*>(to)[half] = chunk;
  }
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
  for (uint32_t i = threadIdx.x * kAtOnce; i < size; i += kRowThreads * kAtOnce) {
    float values[kAtOnce];
    load(hidden + first + i, values);
    if (added != nullptr) {
      float more[kAtOnce];
      load(added + first + i, more);
      TESSERA_UNROLL
      for (uint32_t j = 0; j < kAtOnce; ++j) values[j] += more[j];
      store(values, hidden + first + i);
    }
    TESSERA_UNROLL
    for (uint32_t j = 0; j < kAtOnce; ++j) squares += values[j] * values[j];
  }
  const float mean = block_sum(squares) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (uint32_t i = threadIdx.x * kAtOnce; i < size; i += kRowThreads * kAtOnce) {
    float values[kAtOnce], factors[kAtOnce];
    load(hidden + first + i, values);
    load(weight + i, factors);
    TESSERA_UNROLL
    for (uint32_t j = 0; j < kAtOnce; ++j) values[j] = factors[j] * (values[j] * factor);
    store(values, normed + first + i);
    if (exact != nullptr) store(values, exact + first + i);
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
  for (uint32_t i = threadIdx.x * kAtOnce; i < size; i += kRowThreads * kAtOnce) {
    float values[kAtOnce], up[kAtOnce];
    load(gate + i, values);
    load(gate + size + i, up);
    TESSERA_UNROLL
    for (uint32_t j = 0; j < kAtOnce; ++j)
      values[j] = values[j] / (1.0f + expf(-values[j])) * up[j];
    store(values, to + i);
  }
}

/// One head of one row: normed where the model says so, turned by its position, put where attention
/// reads it. A lane has kCount dimensions, lane, lane + 32, ...: of a pair (i, i + half) both.
template <uint32_t kCount>
TESSERA_DEVICE void place_head(const Heads& heads) {
  const uint32_t row = blockIdx.x, lane = threadIdx.x;
  const uint32_t head = blockIdx.y * kHeadsAtOnce + threadIdx.y;
  const uint32_t all = heads.heads + 2 * heads.kv_heads;
  if (head >= all) return;  // a warp whole
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
