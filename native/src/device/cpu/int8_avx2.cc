// INT8 products for AVX2. vpmaddubsw would saturate, so both sides are widened to 16 bits: rows
// when they are written, weights when they are read or, for many rows, into strips on the stack
// that all rows read (int8_crossed_avx2.inc). Compiled with its own flags; nothing but intrinsics
// and anonymous namespaces here.
#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kRows = 4;            // 8 of 16 registers hold sums
constexpr size_t kFewRows = 6;         // of weights as they are; 12 hold sums
constexpr size_t kWorthWidening = 13;  // rows that pay for a strip
constexpr size_t kLine = 64;           // of the cache, bytes
constexpr size_t kStripTiles = 4;      // tiles of k in a strip
constexpr size_t kSumRows = 96;        // rows that share a strip
constexpr size_t kWideGroupBytes = 2 * kPanelHalf * sizeof(int32_t);
constexpr size_t kWideTileBytes = (kPanelGroups + 1) * kWideGroupBytes - kLine;
constexpr size_t kAhead = 4 * kPanelTile;            // bytes between the reader and the prefetch
constexpr size_t kScalesAhead = 16 * kPanelColumns;  // likewise, floats
constexpr size_t kExcessBytes = sizeof(int32_t);
constexpr size_t kRowTileBytes = kExcessBytes + 2 * panel_tile_depth(PanelType::kI8);

}  // namespace

#include "device/cpu/int8_rows_avx2.inc"
#include "device/cpu/int8_sums.inc"

namespace {

/// An odd number of cache lines, so that the rows of a tile do not fall into one set of the cache.
size_t operand_row_bytes(size_t k) {
  return ((panel_tiles(PanelType::kI8, k) * kRowTileBytes + kLine - 1) / kLine | 1) * kLine;
}

/// Four values of k become two pairs of 16 bits: (0, 2) and (1, 3). The same for weights and rows.
inline __m256i even_pairs(__m256i groups) {
  return _mm256_srai_epi16(_mm256_slli_epi16(groups, 8), 8);
}
inline __m256i odd_pairs(__m256i groups) { return _mm256_srai_epi16(groups, 8); }

inline int32_t sum_of_lanes(__m256i x) {
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
}

/// Of each tile what its crossed products have too much, then [16 groups][even pair, odd pair]: in
/// the order in which they are read.
inline void place_tile(const int8_t* values, size_t k, size_t row, size_t tile, void* operand) {
  char* to = static_cast<char*>(operand) + row * operand_row_bytes(k) + tile * kRowTileBytes;
  __m256i crossed = _mm256_setzero_si256();
  for (size_t i = 0; i < 2; ++i) {
    const __m256i groups = _mm256_load_si256(reinterpret_cast<const __m256i*>(values) + i);
    const __m256i even = even_pairs(groups), odd = odd_pairs(groups);
    const __m256i low = _mm256_unpacklo_epi32(even, odd), high = _mm256_unpackhi_epi32(even, odd);
    __m256i* at = reinterpret_cast<__m256i*>(to + kExcessBytes) + 2 * i;
    _mm256_storeu_si256(at, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(at + 1, _mm256_permute2x128_si256(low, high, 0x31));
    crossed = _mm256_add_epi32(crossed, _mm256_madd_epi16(even, odd));
  }
  const int32_t excess = sum_of_lanes(crossed);
  __builtin_memcpy(to, &excess, sizeof excess);
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
template <size_t R>
inline void multiply_pair(const char* x, size_t x_row_bytes, __m256i low, __m256i high,
                          __m256i (&sums)[R][2]) {
#pragma GCC unroll 8
  for (size_t r = 0; r < R; ++r) {
    int32_t pair;
    __builtin_memcpy(&pair, x + r * x_row_bytes, sizeof pair);
    const __m256i value = _mm256_set1_epi32(pair);
    add_products(value, low, sums[r][0]);
    add_products(value, high, sums[r][1]);
  }
}

}  // namespace

#include "device/cpu/int8_crossed_avx2.inc"

namespace {

/// Rows times 16 columns.
struct Strip {
  const char* x;
  size_t x_row_bytes;
  const float* x_scales;  // of the first tile; of each further tile one more
  size_t x_scales_stride;
  const char* w;          // half of a panel
  const float* w_scales;  // 16 of each tile, which lie kPanelColumns apart
  size_t tiles;           // of k
  float* sums;            // [rows][16], added to
};

/// run(index sequence of `rows` <= R rows).
template <size_t R, typename Run>
void with_rows(size_t rows, const Run& run) {
  if constexpr (R > 1) {
    if (rows < R) return with_rows<R - 1>(rows, run);
  }
  run(std::make_index_sequence<R>());
}

/// R <= kFewRows rows times weights as they lie. A function of its own: inlined it shares registers
/// with its callers and stores sums.
template <size_t R>
[[gnu::noinline]] void multiply_few(const Strip& s) {
  const char* x = s.x;
  const char* w = s.w;
  const char* ahead = s.w + kAhead;
  for (size_t tile = 0; tile < s.tiles; ++tile, x += kExcessBytes, w += kPanelHalfTile) {
    __m256i products[R][2];
#pragma GCC unroll 8
    for (size_t r = 0; r < R; ++r) products[r][0] = products[r][1] = _mm256_setzero_si256();
#pragma GCC unroll 2
    for (size_t group = 0; group < kPanelGroups; ++group, x += 8, w += 64, ahead += 128) {
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
      multiply_pair<R>(x + kExcessBytes, s.x_row_bytes, even_pairs(load_bytes(w)),
                       even_pairs(load_bytes(w + 32)), products);
      asm("" : "+r"(w));  // kept in registers from the first load they would push sums out of them
      multiply_pair<R>(x + kExcessBytes + 4, s.x_row_bytes, odd_pairs(load_bytes(w)),
                       odd_pairs(load_bytes(w + 32)), products);
    }
    const float* w_scales = s.w_scales + tile * kPanelColumns;
    __builtin_prefetch(w_scales + kScalesAhead);
    const __m256 low = _mm256_loadu_ps(w_scales), high = _mm256_loadu_ps(w_scales + 8);
#pragma GCC unroll 8
    for (size_t r = 0; r < R; ++r) {
      const __m256 scale = _mm256_broadcast_ss(s.x_scales + r * s.x_scales_stride + tile);
      float* sums = s.sums + r * kPanelHalf;
      _mm256_store_ps(sums, add_eight(products[r][0], scale, low, _mm256_load_ps(sums)));
      _mm256_store_ps(sums + 8, add_eight(products[r][1], scale, high, _mm256_load_ps(sums + 8)));
    }
  }
}

/// In blocks of nearly equal size.
void multiply_few_rows(const Strip& whole, size_t rows) {
  const size_t blocks = (rows + kFewRows - 1) / kFewRows;
  for (size_t block = 0; block < blocks; ++block) {
    const size_t begin = rows * block / blocks, end = rows * (block + 1) / blocks;
    Strip s = whole;
    s.x += begin * s.x_row_bytes;
    s.x_scales += begin * s.x_scales_stride;
    s.sums += begin * kPanelHalf;
    with_rows<kFewRows>(end - begin, [&](auto indices) { multiply_few<indices.size()>(s); });
  }
}

/// All rows against `halves` halves of a panel, one strip of both after the other, so that the rows
/// come into the first-level cache once: add(products, half, their first tile, how many tiles,
/// their first row, index sequence of their rows).
template <typename Add>
void multiply_wide(const Strip& s, size_t rows, size_t halves, const Add& add) {
  WideStrip wide[2];
  Products products;
  const size_t blocks = (rows + kRows - 1) / kRows;
  for (size_t tile = 0; tile < s.tiles; tile += kStripTiles) {
    const size_t count = s.tiles - tile < kStripTiles ? s.tiles - tile : kStripTiles;
    for (size_t half = 0; half < halves; ++half) {
      wide[half].widen(s.w + tile * kPanelTile + half * kPanelHalfTile, count);
    }
    const char* ahead = s.w + (tile + count) * kPanelTile;
    const size_t lines = (kPanelTile / kLine + blocks * halves - 1) / (blocks * halves);
    for (size_t block = 0; block < blocks; ++block) {
      const size_t begin = rows * block / blocks, end = rows * (block + 1) / blocks;
      const char* x = s.x + begin * s.x_row_bytes + tile * kRowTileBytes;
      for (size_t half = 0; half < halves; ++half, ahead += count * lines * kLine) {
        with_rows<kRows>(end - begin, [&](auto indices) {
          multiply_tiles(x, s.x_row_bytes, wide[half].tiles, count, ahead, lines, products,
                         indices);
          add(products, half, tile, count, begin, indices);
        });
      }
    }
  }
}

/// Rows from `first` on times the half panel of `column`.
Strip strip_of(const PanelProduct& p, size_t first, size_t column) {
  Strip s{};
  s.x = static_cast<const char*>(p.x) + first * p.x_row_bytes;
  s.x_row_bytes = p.x_row_bytes;
  s.w = static_cast<const char*>(p.panels) + column / kPanelColumns * p.panel_stride +
        column % kPanelColumns / kPanelHalf * kPanelHalfTile;
  s.tiles = panel_tiles(PanelType::kI8, p.k);
  return s;
}

/// Sums of at most kSumRows rows with the halves of a panel.
template <typename T>
struct Sums {
  alignas(64) T of[2][kSumRows * kPanelHalf];
};

/// `rows` rows from `first` on times the panel of `column`.
void multiply_panel(const PanelProduct& p, size_t first, size_t rows, size_t column, size_t halves,
                    Sums<float>& sums) {
  Strip s = strip_of(p, first, column);
  s.x_scales = p.x_scales + first * s.tiles;
  s.x_scales_stride = s.tiles;
  s.w_scales = scales_of_columns(p, column);
  if (rows >= kWorthWidening) {
    multiply_wide(s, rows, halves,
                  [&](const Products& products, size_t half, size_t tile, size_t count, size_t row,
                      auto indices) {
                    add_scaled(products, count, s.x_scales + row * s.tiles + tile, s.tiles,
                               s.w_scales + tile * kPanelColumns + half * kPanelHalf,
                               sums.of[half] + row * kPanelHalf, indices);
                  });
    return;
  }
  for (size_t half = 0; half < halves; ++half) {
    s.sums = sums.of[half];
    multiply_few_rows(s, rows);
    s.w += kPanelHalfTile;
    s.w_scales += kPanelHalf;
  }
}

/// Multiplies a panel with static scales.
void multiply_panel(const PanelProduct& p, size_t first, size_t rows, size_t column, size_t halves,
                    Sums<int32_t>& sums) {
  multiply_wide(
      strip_of(p, first, column), rows, halves,
      [&](const Products& products, size_t half, size_t, size_t count, size_t row, auto indices) {
        for (size_t i = 0; i < indices.size(); ++i) {
          add_exact(products, i, count, sums.of[half] + (row + i) * kPanelHalf);
        }
      });
}

template <typename T>
void multiply_panels(const PanelProduct& p) {
  Sums<T> sums;
  for (size_t column = 0; column < p.columns; column += kPanelColumns) {
    const size_t columns = p.columns - column < kPanelColumns ? p.columns - column : kPanelColumns;
    const size_t halves = (columns + kPanelHalf - 1) / kPanelHalf;
    for (size_t first = 0; first < p.rows; first += kSumRows) {
      const size_t rows = p.rows - first < kSumRows ? p.rows - first : kSumRows;
      for (size_t half = 0; half < halves; ++half) {
        __builtin_memset(sums.of[half], 0, rows * kPanelHalf * sizeof(T));
      }
      multiply_panel(p, first, rows, column, halves, sums);
      for (size_t half = 0; half < halves; ++half) {
        const size_t at = half * kPanelHalf;
        const size_t n = columns - at < kPanelHalf ? columns - at : kPanelHalf;
        for (size_t i = 0; i < rows; ++i) {
          const T* row = sums.of[half] + i * kPanelHalf;
          if constexpr (std::is_same_v<T, float>) {
            finish_row(p, first + i, column + at, n, row);
          } else {
            finish_static_row(p, first + i, column + at, n, row);
          }
        }
      }
    }
  }
}

}  // namespace

#include "device/cpu/int8_rows.inc"

PanelKernels int8_avx2() {
  return {.operand_row_bytes = operand_row_bytes,
          .write_operand = write_int8_rows,
          .multiply = multiply_panels<float>,
          .write_scaled_operand = write_scaled_int8_rows,
          .write_static = write_static_int8_rows,
          .multiply_static = multiply_panels<int32_t>};
}

}  // namespace tessera::device::cpu
