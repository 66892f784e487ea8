#include "cuda/device/kernel.h"

#include "cuda/kernels/attend_kernels.h"

namespace tessera::attention::cuda {

using tessera::cuda::bits_float;
using tessera::cuda::Chunk;
using tessera::cuda::multiply_16x8x16;
using tessera::cuda::narrow;
using tessera::cuda::narrow_pair;
using tessera::cuda::pair_at;
using tessera::cuda::warp_maximum;
using tessera::cuda::warp_sum;
using tessera::cuda::widen;

constexpr float kLog2E = 1.44269504088896f;
/// Elements between rows of a tile in shared memory: 16 bytes more than a row, so that the eight
/// rows that a fragment reads at once lie in different banks.
constexpr uint32_t kTileStride = kHeadDimMax + 8;

TESSERA_DEVICE float minus_infinity() { return bits_float(0xFF800000u); }

/// 1 / sqrt(head_dim) for powers of base 2.
TESSERA_DEVICE float score_scale(const Layer& layer) {
  return kLog2E / sqrtf(static_cast<float>(layer.head_dim));
}

TESSERA_DEVICE const uint16_t* keys_of(const Layer& layer, const uint16_t* block, uint32_t head) {
  const size_t head_elements = static_cast<size_t>(kBlockPositions) * layer.head_dim;
  return block + (static_cast<size_t>(layer.index) * 2 * layer.kv_heads + head) * head_elements;
}

TESSERA_DEVICE const uint16_t* values_of(const Layer& layer, const uint16_t* block, uint32_t head) {
  const size_t head_elements = static_cast<size_t>(kBlockPositions) * layer.head_dim;
  return keys_of(layer, block, head) + layer.kv_heads * head_elements;
}

/// The group whose splits include `split`.
TESSERA_DEVICE const Rows& group_of_split(const Rows* groups, uint32_t split) {
  while (groups->first_split + groups->splits <= split) ++groups;
  return *groups;
}

TESSERA_DEVICE const Rows& group_of_row(const Rows* groups, uint32_t row) {
  while (groups->first_row + groups->rows <= row) ++groups;
  return *groups;
}

/// Copies a block's [32 positions][head_dim] elements into a tile, 16 bytes at a time.
TESSERA_DEVICE void load_tile(const uint16_t* from, uint32_t head_dim, uint16_t* tile) {
  const uint32_t chunks = head_dim / 8;
  for (uint32_t i = threadIdx.x; i < kBlockPositions * chunks; i += kAttendThreads) {
    const uint32_t row = i / chunks, chunk = i % chunks;
    *reinterpret_cast<Chunk*>(tile + row * kTileStride + chunk * 8) =
        *reinterpret_cast<const Chunk*>(from + static_cast<size_t>(row) * head_dim + chunk * 8);
  }
}

/// One warp's 16 query heads on their way through the positions.
template <uint32_t kHeadDim>
struct Online {
  float values[kHeadDim / 8][4];
  float maximum[2];  // of rows g and g + 8 of the fragment
  float sum[2];
};

/// Scores of 16 query heads with a tile's 32 positions, fragment by fragment.
template <uint32_t kHeadDim>
TESSERA_DEVICE void multiply_keys(const uint16_t* queries, const uint16_t* keys,
                                  float (&scores)[kBlockPositions / 8][4]) {
  const uint32_t lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  for (uint32_t n = 0; n < kBlockPositions / 8; ++n) {
    for (uint32_t i = 0; i < 4; ++i) scores[n][i] = 0;
  }
  for (uint32_t k = 0; k < kHeadDim; k += 16) {
    const uint16_t* low = queries + g * kTileStride + k + 2 * t;
    const uint16_t* high = low + 8 * kTileStride;
    const uint32_t a[4] = {pair_at(low), pair_at(high), pair_at(low + 8), pair_at(high + 8)};
    for (uint32_t n = 0; n < kBlockPositions / 8; ++n) {
      const uint16_t* column = keys + (n * 8 + g) * kTileStride + k + 2 * t;
      const uint32_t b[2] = {pair_at(column), pair_at(column + 8)};
      multiply_16x8x16(a, b, scores[n]);
    }
  }
}

/// Turns scores into weights relative to the new maximum and rescales what was there before.
/// `visible`: of the tile's positions, by fragment row.
template <uint32_t kHeadDim>
TESSERA_DEVICE void weigh(const uint32_t (&visible)[2], float scale,
                          float (&scores)[kBlockPositions / 8][4], Online<kHeadDim>& online) {
  const uint32_t t = threadIdx.x % 4;
  for (uint32_t half = 0; half < 2; ++half) {
    float highest = online.maximum[half];
    for (uint32_t n = 0; n < kBlockPositions / 8; ++n) {
      for (uint32_t i = 2 * half; i < 2 * half + 2; ++i) {
        const uint32_t position = n * 8 + 2 * t + i % 2;
        scores[n][i] = position < visible[half] ? scores[n][i] * scale : minus_infinity();
        highest = fmaxf(highest, scores[n][i]);
      }
    }
    // The four lanes of a fragment row.
    highest = fmaxf(highest, __shfl_xor_sync(tessera::cuda::kFullWarp, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(tessera::cuda::kFullWarp, highest, 2));
    const bool sees = highest > minus_infinity();
    const float keep = sees ? exp2f(online.maximum[half] - highest) : 1.0f;
    float sum = 0;
    for (uint32_t n = 0; n < kBlockPositions / 8; ++n) {
      for (uint32_t i = 2 * half; i < 2 * half + 2; ++i) {
        scores[n][i] = sees ? exp2f(scores[n][i] - highest) : 0.0f;
        sum += scores[n][i];
      }
    }
    sum += __shfl_xor_sync(tessera::cuda::kFullWarp, sum, 1);
    sum += __shfl_xor_sync(tessera::cuda::kFullWarp, sum, 2);
    online.maximum[half] = highest;
    online.sum[half] = online.sum[half] * keep + sum;
    for (uint32_t n = 0; n < kHeadDim / 8; ++n) {
      online.values[n][2 * half] *= keep;
      online.values[n][2 * half + 1] *= keep;
    }
  }
}

/// Adds the weighted values: a fragment of weights is one of the left side as it lies.
template <uint32_t kHeadDim>
TESSERA_DEVICE void add_values(const float (&weights)[kBlockPositions / 8][4],
                               const uint16_t* values, Online<kHeadDim>& online) {
  const uint32_t lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  for (uint32_t k = 0; k < kBlockPositions / 16; ++k) {
    const uint32_t a[4] = {narrow_pair(weights[2 * k][0], weights[2 * k][1]),
                           narrow_pair(weights[2 * k][2], weights[2 * k][3]),
                           narrow_pair(weights[2 * k + 1][0], weights[2 * k + 1][1]),
                           narrow_pair(weights[2 * k + 1][2], weights[2 * k + 1][3])};
    for (uint32_t n = 0; n < kHeadDim / 8; ++n) {
      const uint16_t* at = values + (k * 16 + 2 * t) * kTileStride + n * 8 + g;
      const auto pair = [&](uint32_t row) {
        return static_cast<uint32_t>(at[row * kTileStride]) |
               static_cast<uint32_t>(at[(row + 1) * kTileStride]) << 16;
      };
      const uint32_t b[2] = {pair(0), pair(8)};
      multiply_16x8x16(a, b, online.values[n]);
    }
  }
}

/// Fragment rows' query heads: index into [rows][heads], or none.
struct Queries {
  uint32_t index[2];
  bool is_there[2];
  uint32_t visible[2];  // positions of the prompt
};

TESSERA_DEVICE Queries queries_of(const Layer& layer, const Rows& group, uint32_t kv_head,
                                  uint32_t first) {
  const uint32_t per_head = layer.heads / layer.kv_heads;
  Queries queries;
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t query = first + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * half;
    const uint32_t row = query / per_head;
    queries.is_there[half] = row < group.rows;
    queries.index[half] = row * layer.heads + kv_head * per_head + query % per_head;
    queries.visible[half] = queries.is_there[half] ? group.visible + row * group.visible_step : 0;
  }
  return queries;
}

/// Query heads [first, first + 64) of one kv head: they lie per_head together in each row.
TESSERA_DEVICE void load_queries(const Layer& layer, const Rows& group, uint32_t kv_head,
                                 uint32_t first, uint16_t* tile) {
  const uint32_t per_head = layer.heads / layer.kv_heads;
  for (uint32_t i = threadIdx.x; i < kQueriesPerTile * layer.head_dim; i += kAttendThreads) {
    const uint32_t query = first + i / layer.head_dim, row = query / per_head;
    const size_t index =
        static_cast<size_t>(row) * layer.heads + kv_head * per_head + query % per_head;
    tile[i / layer.head_dim * kTileStride + i % layer.head_dim] =
        row < group.rows ? group.q[index * layer.head_dim + i % layer.head_dim] : uint16_t{0};
  }
}

template <uint32_t kHeadDim>
TESSERA_DEVICE void attend(const Layer& layer, const Rows& group, uint32_t split,
                           uint16_t* query_tile, uint16_t* key_tile, uint16_t* value_tile) {
  const uint32_t kv_head = blockIdx.y, first = blockIdx.x * kQueriesPerTile;
  const uint32_t lane = threadIdx.x % 32, t = lane % 4;
  load_queries(layer, group, kv_head, first, query_tile);
  const Queries queries = queries_of(layer, group, kv_head, first);
  Online<kHeadDim> online;
  for (uint32_t half = 0; half < 2; ++half) {
    online.maximum[half] = minus_infinity();
    online.sum[half] = 0;
  }
  for (uint32_t n = 0; n < kHeadDim / 8; ++n) {
    for (uint32_t i = 0; i < 4; ++i) online.values[n][i] = 0;
  }
  const uint32_t seen = group.visible + (group.rows - 1) * group.visible_step;
  const uint32_t begin = split * kSplitPositions;
  const uint32_t end = begin + kSplitPositions < seen ? begin + kSplitPositions : seen;
  for (uint32_t position = begin; position < end; position += kBlockPositions) {
    const uint16_t* block = group.blocks[position / kBlockPositions];
    __syncthreads();  // all have read the tiles before
    load_tile(keys_of(layer, block, kv_head), kHeadDim, key_tile);
    load_tile(values_of(layer, block, kv_head), kHeadDim, value_tile);
    __syncthreads();
    float scores[kBlockPositions / 8][4];
    multiply_keys<kHeadDim>(query_tile + threadIdx.x / 32 * 16 * kTileStride, key_tile, scores);
    const uint32_t visible[2] = {queries.visible[0] > position ? queries.visible[0] - position : 0,
                                 queries.visible[1] > position ? queries.visible[1] - position : 0};
    weigh<kHeadDim>(visible, score_scale(layer), scores, online);
    add_values<kHeadDim>(scores, value_tile, online);
  }
  const size_t all = static_cast<size_t>(group.rows) * layer.heads;
  for (uint32_t half = 0; half < 2; ++half) {
    if (!queries.is_there[half]) continue;
    const size_t index = split * all + queries.index[half];
    if (t == 0) group.parts[index] = {online.maximum[half], online.sum[half]};
    for (uint32_t n = 0; n < kHeadDim / 8; ++n) {
      float* to = group.part_values + index * kHeadDim + n * 8 + 2 * t;
      to[0] = online.values[n][2 * half];
      to[1] = online.values[n][2 * half + 1];
    }
  }
}

TESSERA_KERNEL tessera_attend_prompt(Layer layer, const Rows* groups) {
  TESSERA_SHARED(uint16_t, query_tile, kQueriesPerTile * kTileStride);
  TESSERA_SHARED(uint16_t, key_tile, kBlockPositions * kTileStride);
  TESSERA_SHARED(uint16_t, value_tile, kBlockPositions * kTileStride);
  const Rows& group = group_of_split(groups, blockIdx.z);
  if (group.q == nullptr) return;  // spare
  const uint32_t queries = group.rows * (layer.heads / layer.kv_heads);
  if (blockIdx.x * kQueriesPerTile >= queries) return;
  const uint32_t split = blockIdx.z - group.first_split;
  if (layer.head_dim == 64) {
    attend<64>(layer, group, split, query_tile, key_tile, value_tile);
  } else {
    attend<128>(layer, group, split, query_tile, key_tile, value_tile);
  }
}

/// A row's head as one lane has it: dimensions lane, lane + 32, ...
struct Merged {
  float values[kHeadDimMax / 32];
  float maximum;
  float sum;
};

/// Adds a part with `count` dimensions per lane, whose values are relative to `maximum`.
TESSERA_DEVICE void add_part(const float* values, float maximum, float sum, uint32_t count,
                             Merged& merged) {
  const float highest = fmaxf(merged.maximum, maximum);
  const float keep = merged.sum > 0 ? exp2f(merged.maximum - highest) : 0.0f;
  const float take = exp2f(maximum - highest);
  for (uint32_t i = 0; i < count; ++i)
    merged.values[i] = merged.values[i] * keep + values[i] * take;
  merged.sum = merged.sum * keep + sum * take;
  merged.maximum = highest;
}

/// The decoded tokens of a beam, oldest first, then its own.
TESSERA_DEVICE void add_own(const Layer& layer, const Rows& group, uint32_t row, uint32_t head,
                            const float* query, uint32_t count, Merged& merged) {
  const uint32_t lane = threadIdx.x;
  const uint32_t kv_head = head / (layer.heads / layer.kv_heads);
  for (uint32_t step = 0; step < group.steps; ++step) {
    const uint32_t slot = step + 1 < group.steps
                              ? group.ancestors[static_cast<size_t>(row) * (group.steps - 1) + step]
                              : group.first_slot + row;
    const size_t at =
        ((static_cast<size_t>(layer.index) * group.slots + slot) * layer.kv_heads + kv_head) *
        layer.head_dim;
    float product = 0, values[kHeadDimMax / 32];
    for (uint32_t i = 0; i < count; ++i) {
      product += query[i] * widen(group.own_keys[at + lane + 32 * i]);
      values[i] = widen(group.own_values[at + lane + 32 * i]);
    }
    add_part(values, warp_sum(product) * score_scale(layer), 1.0f, count, merged);
  }
}

TESSERA_KERNEL tessera_attend_merge(Layer layer, const Rows* groups) {
  const Rows& group = group_of_row(groups, blockIdx.x);
  if (group.q == nullptr) return;  // spare
  const uint32_t row = blockIdx.x - group.first_row, head = blockIdx.y, lane = threadIdx.x;
  const uint32_t count = layer.head_dim / 32;
  const size_t index = static_cast<size_t>(row) * layer.heads + head;
  const size_t all = static_cast<size_t>(group.rows) * layer.heads;
  Merged merged = {{0, 0, 0, 0}, minus_infinity(), 0};
  for (uint32_t split = 0; split < group.splits; ++split) {
    const Part part = group.parts[split * all + index];
    if (!(part.sum > 0)) continue;
    float values[kHeadDimMax / 32];
    for (uint32_t i = 0; i < count; ++i) {
      values[i] = group.part_values[(split * all + index) * layer.head_dim + lane + 32 * i];
    }
    add_part(values, part.maximum, part.sum, count, merged);
  }
  float query[kHeadDimMax / 32];
  for (uint32_t i = 0; i < count; ++i)
    query[i] = widen(group.q[index * layer.head_dim + lane + 32 * i]);
  add_own(layer, group, row, head, query, count, merged);
  for (uint32_t i = 0; i < count; ++i) {
    group.mixed[index * layer.head_dim + lane + 32 * i] = narrow(merged.values[i] / merged.sum);
  }
}

}  // namespace tessera::attention::cuda
