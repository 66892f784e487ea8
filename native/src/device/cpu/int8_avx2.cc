// INT8 products for AVX2. vpmaddubsw would saturate, so both sides are widened to 16 bits: rows
// when they are written, weights into a strip on the stack that all rows read. Compiled with its
// own flags; nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kRows = 6;                          // 12 of 16 registers hold sums
constexpr size_t kStripTiles = 8;                    // tiles of k in a strip
constexpr size_t kSumRows = 96;                      // rows that share a strip
constexpr size_t kGroupWords = 2 * kPanelHalf;       // 32-bit pairs of a widened group
constexpr size_t kAhead = 4 * kPanelTile;            // bytes between the reader and the prefetch
constexpr size_t kScalesAhead = 16 * kPanelColumns;  // likewise, floats
constexpr size_t kRowTileBytes = 2 * panel_tile_depth(PanelType::kI8);

}  // namespace

#include "device/cpu/int8_rows_avx2.inc"
#include "device/cpu/int8_sums.inc"

namespace {

/// An odd number of cache lines, so that the rows of a tile do not fall into one set of the cache.
size_t operand_row_bytes(size_t k) { return panel_tiles(PanelType::kI8, k) * kRowTileBytes + 64; }

/// Four values of k become two pairs of 16 bits: (0, 2) and (1, 3). The same for weights and rows.
inline __m256i even_pairs(__m256i groups) {
  return _mm256_srai_epi16(_mm256_slli_epi16(groups, 8), 8);
}
inline __m256i odd_pairs(__m256i groups) { return _mm256_srai_epi16(groups, 8); }

/// [k tiles][16 groups][even pair, odd pair]
inline void place_tile(const int8_t* values, size_t k, size_t row, size_t tile, void* operand) {
  char* to = static_cast<char*>(operand) + row * operand_row_bytes(k) + tile * kRowTileBytes;
  for (size_t i = 0; i < 2; ++i) {
    const __m256i groups = _mm256_load_si256(reinterpret_cast<const __m256i*>(values) + i);
    const __m256i even = even_pairs(groups), odd = odd_pairs(groups);
    const __m256i low = _mm256_unpacklo_epi32(even, odd), high = _mm256_unpackhi_epi32(even, odd);
    __m256i* at = reinterpret_cast<__m256i*>(to) + 2 * i;
    _mm256_storeu_si256(at, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(at + 1, _mm256_permute2x128_si256(low, high, 0x31));
  }
}

inline __m256i load_bytes(const void* from) {
  return _mm256_load_si256(static_cast<const __m256i*>(from));
}
/// One statement, since twelve sums, two vectors of weights, a row's value and a product take all
/// registers: the compiler would compute products ahead of their sums, and copy sums.
inline void add_products(__m256i x, __m256i w, __m256i& sum) {
  __m256i product;
  asm("vpmaddwd %[w], %[x], %[product]\n\tvpaddd %[product], %[sum], %[sum]"
      : [sum] "+x"(sum), [product] "=&x"(product)
      : [x] "x"(x), [w] "x"(w));
}

/// One pair of k of R rows: low and high are the pairs of columns 0..7 and 8..15.
template <int R>
inline void multiply_pair(const char* x, size_t x_row_bytes, __m256i low, __m256i high,
                          __m256i (&sums)[R][2]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    int32_t pair;
    __builtin_memcpy(&pair, x + static_cast<size_t>(r) * x_row_bytes, sizeof pair);
    const __m256i value = _mm256_set1_epi32(pair);
    add_products(value, low, sums[r][0]);
    add_products(value, high, sums[r][1]);
  }
}

/// Rows times 16 columns over some tiles of k.
struct Strip {
  const char* x;
  size_t x_row_bytes;
  const float* x_scales;  // of the strip's first tile; of each further tile one more
  size_t x_scales_stride;
  const char* w;          // widened strip, or half of a panel
  const float* w_scales;  // 16 of each tile, which lie kPanelColumns apart
  size_t tiles;           // of k
  const char* ahead;      // will be wanted: two cache lines per group of k
  float* sums;            // [rows][16], added to
};

/// Adds the exact sums of R rows over one tile.
template <int R, bool kWidened>
inline void multiply_tile(const char* x, size_t x_row_bytes, const char* w, const char* ahead,
                          __m256i (&products)[R][2]) {
#pragma GCC unroll 2
  for (size_t group = 0; group < kPanelGroups; ++group, x += 8, ahead += 128) {
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 64);
    if constexpr (kWidened) {
      multiply_pair<R>(x, x_row_bytes, load_bytes(w), load_bytes(w + 32), products);
      multiply_pair<R>(x + 4, x_row_bytes, load_bytes(w + 64), load_bytes(w + 96), products);
      w += kGroupWords * sizeof(int32_t);
    } else {
      multiply_pair<R>(x, x_row_bytes, even_pairs(load_bytes(w)), even_pairs(load_bytes(w + 32)),
                       products);
      asm("" : "+r"(w));  // kept in registers from the first load they would push sums out of them
      multiply_pair<R>(x + 4, x_row_bytes, odd_pairs(load_bytes(w)), odd_pairs(load_bytes(w + 32)),
                       products);
      w += 64;
    }
  }
}

/// A function of its own: inlined it shares registers with its callers and stores sums.
template <int R, bool kWidened>
[[gnu::noinline]] void multiply_strip(const Strip& s) {
  constexpr size_t kTileBytes =
      kWidened ? kPanelGroups * kGroupWords * sizeof(int32_t) : kPanelTile;
  for (size_t tile = 0; tile < s.tiles; ++tile) {
    __m256i products[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) products[r][0] = products[r][1] = _mm256_setzero_si256();
    multiply_tile<R, kWidened>(s.x + tile * kRowTileBytes, s.x_row_bytes, s.w + tile * kTileBytes,
                               s.ahead + tile * kPanelTile, products);
    const float* w_scales = s.w_scales + tile * kPanelColumns;
    __builtin_prefetch(w_scales + kScalesAhead);
    const __m256 low = _mm256_loadu_ps(w_scales), high = _mm256_loadu_ps(w_scales + 8);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const __m256 scale =
          _mm256_broadcast_ss(s.x_scales + static_cast<size_t>(r) * s.x_scales_stride + tile);
      float* sums = s.sums + static_cast<size_t>(r) * kPanelHalf;
      _mm256_store_ps(sums, add_eight(products[r][0], scale, low, _mm256_load_ps(sums)));
      _mm256_store_ps(sums + 8, add_eight(products[r][1], scale, high, _mm256_load_ps(sums + 8)));
    }
  }
}

/// multiply_strip of `rows` <= R rows.
template <int R, bool kWidened>
void multiply_strip_of(size_t rows, const Strip& s) {
  if constexpr (R > 1) {
    if (rows < R) return multiply_strip_of<R - 1, kWidened>(rows, s);
  }
  multiply_strip<R, kWidened>(s);
}

void widen_strip(const char* w, size_t tiles, char* to) {
  for (size_t tile = 0; tile < tiles; ++tile, w += kPanelHalfTile) {
    for (size_t group = 0; group < kPanelGroups; ++group, w += 64, to += 128) {
      const __m256i low = load_bytes(w), high = load_bytes(w + 32);
      __m256i* at = reinterpret_cast<__m256i*>(to);
      _mm256_store_si256(at, even_pairs(low));
      _mm256_store_si256(at + 1, even_pairs(high));
      _mm256_store_si256(at + 2, odd_pairs(low));
      _mm256_store_si256(at + 3, odd_pairs(high));
    }
  }
}

/// Rows [first, first + rows) times the half panel of `column`. While the first half is read, both
/// are fetched.
void multiply_half(const PanelProduct& p, size_t first, size_t rows, size_t column, float* sums) {
  const size_t tiles = panel_tiles(PanelType::kI8, p.k);
  const char* w = static_cast<const char*>(p.panels) + column / kPanelColumns * p.panel_stride +
                  column % kPanelColumns / kPanelHalf * kPanelHalfTile;
  Strip s{static_cast<const char*>(p.x) + first * p.x_row_bytes,
          p.x_row_bytes,
          p.x_scales + first * tiles,
          tiles,
          w,
          scales_of_columns(p, column),
          tiles,
          w + kAhead,
          sums};
  if (rows <= kRows) {
    multiply_strip_of<kRows, false>(rows, s);
    return;
  }
  alignas(64) char strip[kStripTiles * kPanelGroups * kGroupWords * sizeof(int32_t)];
  const size_t blocks = (rows + kRows - 1) / kRows;
  for (size_t tile = 0; tile < tiles; tile += kStripTiles) {
    const size_t count = tiles - tile < kStripTiles ? tiles - tile : kStripTiles;
    widen_strip(w + tile * kPanelTile, count, strip);
    for (size_t block = 0; block < blocks; ++block) {
      const size_t begin = rows * block / blocks, end = rows * (block + 1) / blocks;
      Strip part = s;
      part.x += begin * p.x_row_bytes + tile * kRowTileBytes;
      part.x_scales += begin * tiles + tile;
      part.w = strip;
      part.w_scales += tile * kPanelColumns;
      part.tiles = count;
      part.ahead = w + (tile + count) * kPanelTile;
      part.sums += begin * kPanelHalf;
      multiply_strip_of<kRows, true>(end - begin, part);
    }
  }
}

void multiply(const PanelProduct& p) {
  alignas(64) float sums[kSumRows * kPanelHalf];
  for (size_t column = 0; column < p.columns; column += kPanelHalf) {
    const size_t columns = p.columns - column < kPanelHalf ? p.columns - column : kPanelHalf;
    for (size_t first = 0; first < p.rows; first += kSumRows) {
      const size_t rows = p.rows - first < kSumRows ? p.rows - first : kSumRows;
      __builtin_memset(sums, 0, rows * kPanelHalf * sizeof(float));
      multiply_half(p, first, rows, column, sums);
      for (size_t i = 0; i < rows; ++i) {
        finish_row(p, first + i, column, columns, sums + i * kPanelHalf);
      }
    }
  }
}

/// Rows times 16 columns over some tiles of k, with static scales.
struct StaticStrip {
  const char* x;
  size_t x_row_bytes;
  const char* w;      // widened strip
  size_t tiles;       // of k
  const char* ahead;  // will be wanted: two cache lines per group of k
  int32_t* sums;      // [rows][16], added to
};

/// As multiply_strip, with sums that stay in registers over all tiles of the strip.
template <int R>
[[gnu::noinline]] void multiply_static_strip(const StaticStrip& s) {
  constexpr size_t kTileBytes = kPanelGroups * kGroupWords * sizeof(int32_t);
  __m256i products[R][2];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const auto* at = reinterpret_cast<const __m256i*>(s.sums + r * kPanelHalf);
    products[r][0] = _mm256_loadu_si256(at);
    products[r][1] = _mm256_loadu_si256(at + 1);
  }
  for (size_t tile = 0; tile < s.tiles; ++tile) {
    multiply_tile<R, true>(s.x + tile * kRowTileBytes, s.x_row_bytes, s.w + tile * kTileBytes,
                           s.ahead + tile * kPanelTile, products);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    auto* at = reinterpret_cast<__m256i*>(s.sums + r * kPanelHalf);
    _mm256_storeu_si256(at, products[r][0]);
    _mm256_storeu_si256(at + 1, products[r][1]);
  }
}

/// multiply_static_strip of `rows` <= R rows.
template <int R>
void multiply_static_strip_of(size_t rows, const StaticStrip& s) {
  if constexpr (R > 1) {
    if (rows < R) return multiply_static_strip_of<R - 1>(rows, s);
  }
  multiply_static_strip<R>(s);
}

/// Rows [first, first + rows), at most kSumRows, times the half panel of `column`.
void multiply_static_half(const PanelProduct& p, size_t first, size_t rows, size_t column,
                          int32_t* sums) {
  const size_t tiles = panel_tiles(PanelType::kI8, p.k);
  const char* w = static_cast<const char*>(p.panels) + column / kPanelColumns * p.panel_stride +
                  column % kPanelColumns / kPanelHalf * kPanelHalfTile;
  alignas(64) char strip[kStripTiles * kPanelGroups * kGroupWords * sizeof(int32_t)];
  for (size_t tile = 0; tile < tiles; tile += kStripTiles) {
    const size_t count = tiles - tile < kStripTiles ? tiles - tile : kStripTiles;
    widen_strip(w + tile * kPanelTile, count, strip);
    for (size_t row = 0; row < rows; row += kRows) {
      const char* x = static_cast<const char*>(p.x) + (first + row) * p.x_row_bytes;
      multiply_static_strip_of<static_cast<int>(kRows)>(
          rows - row < kRows ? rows - row : kRows,
          {x + tile * kRowTileBytes, p.x_row_bytes, strip, count, w + (tile + count) * kPanelTile,
           sums + row * kPanelHalf});
    }
  }
}

void multiply_static(const PanelProduct& p) {
  alignas(64) int32_t sums[kSumRows * kPanelHalf];
  for (size_t column = 0; column < p.columns; column += kPanelHalf) {
    const size_t columns = p.columns - column < kPanelHalf ? p.columns - column : kPanelHalf;
    for (size_t first = 0; first < p.rows; first += kSumRows) {
      const size_t rows = p.rows - first < kSumRows ? p.rows - first : kSumRows;
      __builtin_memset(sums, 0, rows * kPanelHalf * sizeof(int32_t));
      multiply_static_half(p, first, rows, column, sums);
      for (size_t i = 0; i < rows; ++i) {
        finish_static_row(p, first + i, column, columns, sums + i * kPanelHalf);
      }
    }
  }
}

}  // namespace

#include "device/cpu/int8_rows.inc"

PanelKernels int8_avx2() {
  return {.operand_row_bytes = operand_row_bytes,
          .write_operand = write_int8_rows,
          .multiply = multiply,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = multiply_static};
}

}  // namespace tessera::device::cpu
