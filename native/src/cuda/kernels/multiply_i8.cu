#include "cuda/device/kernel.h"

#include "cuda/kernels/multiply_kernels.h"
#include "cuda/kernels/multiply_terms.h"

namespace tessera::ops::cuda {

using tessera::cuda::Chunk;
using tessera::cuda::kFullWarp;
using tessera::cuda::kWarpLanes;
using tessera::cuda::widen;

constexpr uint32_t kBytesStride = kStride * sizeof(uint16_t);  // of a row in shared memory
static_assert(kBytesStride == kQuantisedDepth + 16);
constexpr float kLargest = 127.0f;
constexpr float kSmallestTile = 1e-30f;  // tiles of smaller magnitudes count as zero
constexpr float kRound = 12582912.0f;    // 1.5 * 2^23: leaves the nearest integer, ties to even

/// A lane's two values of a tile, `low` of lane and `high` of lane + 32, transformed with the
/// others' in the order of additions of ops::hadamard_tile.
TESSERA_DEVICE void transform(float& low, float& high) {
  for (uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
    const bool is_second = (threadIdx.x & distance) != 0;
    const float other_low = __shfl_xor_sync(kFullWarp, low, static_cast<int>(distance));
    const float other_high = __shfl_xor_sync(kFullWarp, high, static_cast<int>(distance));
    low = is_second ? other_low - low : low + other_low;
    high = is_second ? other_high - high : high + other_high;
  }
  const float sum = low + high;
  high = low - high;
  low = sum;
}

TESSERA_DEVICE int8_t nearest(float x) {
  const float value = fminf(kLargest, fmaxf(-kLargest, x));
  return static_cast<int8_t>(static_cast<int32_t>((value + kRound) - kRound));
}

TESSERA_DEVICE bool is_finite(float x) {
  return (tessera::cuda::float_bits(x) & 0x7F800000u) != 0x7F800000u;
}

/// A warp per tile. A tile with a number that is not finite has a scale that is none.
TESSERA_KERNEL tessera_quantise_rows(const uint16_t* x, uint32_t k, int8_t* values, float* scales) {
  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint32_t tiles = (k + kQuantisedDepth - 1) / kQuantisedDepth;
  const uint16_t* row = x + static_cast<size_t>(blockIdx.x) * k;
  for (uint32_t tile = threadIdx.x / kWarpLanes; tile < tiles;
       tile += kQuantiseThreads / kWarpLanes) {
    const uint32_t at = tile * kQuantisedDepth + lane;
    float low = at < k ? widen(row[at]) : 0.0f;
    float high = at + kWarpLanes < k ? widen(row[at + kWarpLanes]) : 0.0f;
    transform(low, high);
    const bool is_right = __ballot_sync(kFullWarp, !is_finite(low) || !is_finite(high)) == 0;
    const float largest = tessera::cuda::warp_maximum(fmaxf(fabsf(low), fabsf(high)));
    const float step = largest < kSmallestTile ? 0.0f : largest / kLargest;
    const float inverse = step > 0 ? 1.0f / step : 0.0f;
    const size_t place = static_cast<size_t>(blockIdx.x) * tiles + tile;
    int8_t* to = values + place * kQuantisedDepth + lane;
    to[0] = is_right ? nearest(low * inverse) : int8_t{0};
    to[kWarpLanes] = is_right ? nearest(high * inverse) : int8_t{0};
    if (lane == 0) scales[place] = is_right ? step : tessera::cuda::bits_float(0x7FC00000u);
  }
}

/// Tile `tile` of 64 rows from `first` on; zeros behind the last.
TESSERA_DEVICE void load_bytes(const int8_t* rows, uint32_t first, uint32_t count, uint32_t tiles,
                               uint32_t tile, int8_t* to) {
  constexpr uint32_t kChunks = kQuantisedDepth / sizeof(Chunk);
  for (uint32_t i = threadIdx.x; i < kMultiplyTile * kChunks; i += kMultiplyThreads) {
    const uint32_t row = first + i / kChunks, chunk = i % kChunks * sizeof(Chunk);
    Chunk bytes = {{0, 0, 0, 0}};
    if (row < count) {
      const size_t at = (static_cast<size_t>(row) * tiles + tile) * kQuantisedDepth;
      bytes = *reinterpret_cast<const Chunk*>(rows + at + chunk);
    }
    *reinterpret_cast<Chunk*>(to + i / kChunks * kBytesStride + chunk) = bytes;
  }
}

TESSERA_DEVICE uint32_t four_at(const int8_t* bytes) {
  return *reinterpret_cast<const uint32_t*>(bytes);
}

TESSERA_DEVICE float scale_of(const float* scales, uint32_t row, uint32_t count, uint32_t tiles,
                              uint32_t tile) {
  return row < count ? scales[static_cast<size_t>(row) * tiles + tile] : 0.0f;
}

/// Adds a tile's products: the exact sum times both scales, in one fused multiply-add.
TESSERA_DEVICE void add_tile(const Product& product, const Quantised& sides, const Corner& corner,
                             uint32_t tile, const int8_t* x_tile, const int8_t* w_tile,
                             TileSums& sums) {
  const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, first = threadIdx.x / 32 * 16 + g;
  const float x_scales[2] = {
      scale_of(sides.x_scales, corner.row + first, product.rows, sides.tiles, tile),
      scale_of(sides.x_scales, corner.row + first + 8, product.rows, sides.tiles, tile)};
  for (uint32_t n = 0; n < kMultiplyTile / 8; ++n) {
    int32_t exact[4] = {0, 0, 0, 0};
    for (uint32_t step = 0; step < kQuantisedDepth; step += 32) {
      const int8_t* low = x_tile + first * kBytesStride + step + 4 * t;
      const int8_t* high = low + 8 * kBytesStride;
      const int8_t* column = w_tile + (n * 8 + g) * kBytesStride + step + 4 * t;
      const uint32_t a[4] = {four_at(low), four_at(high), four_at(low + 16), four_at(high + 16)};
      const uint32_t b[2] = {four_at(column), four_at(column + 16)};
      tessera::cuda::multiply_16x8x32(a, b, exact);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t column = corner.column + n * 8 + 2 * t + i % 2;
      const float w_scale = scale_of(sides.w_scales, column, product.columns, sides.tiles, tile);
      sums.sums[n][i] =
          fmaf(static_cast<float>(exact[i]), x_scales[i / 2] * w_scale, sums.sums[n][i]);
    }
  }
}

TESSERA_KERNEL tessera_multiply_i8(Product product, Quantised sides) {
  TESSERA_SHARED(uint16_t, x_tile, kTileElements);
  TESSERA_SHARED(uint16_t, w_tile, kTileElements);
  auto* const x_bytes = reinterpret_cast<int8_t*>(x_tile);
  auto* const w_bytes = reinterpret_cast<int8_t*>(w_tile);
  const Corner corner = {blockIdx.y * kMultiplyTile, blockIdx.x * kMultiplyTile};
  TileSums sums;
  clear(sums);
  for (uint32_t tile = 0; tile < sides.tiles; ++tile) {
    __syncthreads();  // all have read the tiles before
    load_bytes(sides.x, corner.row, product.rows, sides.tiles, tile, x_bytes);
    load_bytes(sides.w, corner.column, product.columns, sides.tiles, tile, w_bytes);
    __syncthreads();
    add_tile(product, sides, corner, tile, x_bytes, w_bytes, sums);
  }
  finish(product, corner, x_tile, w_tile, sums);
}

}  // namespace tessera::ops::cuda
