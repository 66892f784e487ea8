// INT8 products for AVX2. vpmaddubsw would saturate, so both sides are widened to 16 bits: rows
// when they are written, weights into a strip on the stack that all rows read. With a strip two
// products take one multiplication (Winograd 1968): x0 w0 + x1 w1 = (x0 + w1)(x1 + w0) - x0 x1 -
// w0 w1, where the last two are of a row and of a column alone. Compiled with its own flags;
// nothing but intrinsics and anonymous namespaces here.
#include <immintrin.h>

#include <utility>

#include "device/cpu/int8_kernels.h"

namespace tessera::device::cpu {
namespace {

constexpr size_t kRows = 4;            // 8 of 16 registers hold sums
constexpr size_t kFewRows = 6;         // of weights as they are; 12 hold sums
constexpr size_t kWorthWidening = 13;  // rows that pay for a strip
constexpr size_t kLine = 64;           // of the cache, bytes
constexpr size_t kStripTiles = 8;      // tiles of k in a strip
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

/// Weights of some tiles of k, widened: [16 groups][even, odd][16] of each tile, and then what the
/// sums of its crossed products start from.
struct WideStrip {
  alignas(64) char tiles[kStripTiles * kWideTileBytes];

  void widen(const char* w, size_t count) {
    auto* to = reinterpret_cast<__m256i*>(tiles);
    for (size_t tile = 0; tile < count; ++tile, w += kPanelHalfTile) {
      __m256i low_start = _mm256_setzero_si256(), high_start = low_start;
#pragma GCC unroll 2
      for (size_t group = 0; group < kPanelGroups; ++group, w += 64, to += 4) {
        const __m256i low = load_bytes(w), high = load_bytes(w + 32);
        const __m256i even_low = even_pairs(low), odd_low = odd_pairs(low);
        const __m256i even_high = even_pairs(high), odd_high = odd_pairs(high);
        low_start = _mm256_sub_epi32(low_start, _mm256_madd_epi16(even_low, odd_low));
        high_start = _mm256_sub_epi32(high_start, _mm256_madd_epi16(even_high, odd_high));
        _mm256_store_si256(to, even_low);
        _mm256_store_si256(to + 1, even_high);
        _mm256_store_si256(to + 2, odd_low);
        _mm256_store_si256(to + 3, odd_high);
      }
      _mm256_store_si256(to++, low_start);
      _mm256_store_si256(to++, high_start);
    }
  }
};

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

/// Adds the crossed products of one group of k of one row and 16 columns. One statement: it takes
/// all registers that sums and weights leave.
inline void add_crossed(const char* x, const __m256i (&even)[2], const __m256i (&odd)[2],
                        __m256i& low, __m256i& high) {
  using Pairs = const int32_t[2];
  const Pairs& pairs = *reinterpret_cast<const Pairs*>(x);
  __m256i x_even, x_odd, left, right;
  asm("vpbroadcastd %[even_pair], %[x_even]\n\tvpbroadcastd %[odd_pair], %[x_odd]\n\t"
      "vpaddw %[odd_low], %[x_even], %[left]\n\tvpaddw %[even_low], %[x_odd], %[right]\n\t"
      "vpaddw %[odd_high], %[x_even], %[x_even]\n\tvpaddw %[even_high], %[x_odd], %[x_odd]\n\t"
      "vpmaddwd %[left], %[right], %[left]\n\tvpmaddwd %[x_even], %[x_odd], %[x_even]\n\t"
      "vpaddd %[left], %[low], %[low]\n\tvpaddd %[x_even], %[high], %[high]"
      : [low] "+x"(low), [high] "+x"(high), [x_even] "=&x"(x_even), [x_odd] "=&x"(x_odd),
        [left] "=&x"(left), [right] "=&x"(right)
      : [even_pair] "m"(pairs[0]), [odd_pair] "m"(pairs[1]), [even_low] "x"(even[0]),
        [even_high] "x"(even[1]), [odd_low] "x"(odd[0]), [odd_high] "x"(odd[1]));
}

/// Ahead of the reader, a few lines at a time: more at once wait for one another.
inline void fetch(const char* from, size_t lines) {
  for (size_t i = 0; i < lines; ++i) __builtin_prefetch(from + i * kLine);
}

/// Exact sums of some tiles of k, one by one.
struct Products {
  alignas(64) int32_t of[kStripTiles][kRows][kPanelHalf];
};

/// `count` tiles of rows N; beside each, `lines` of what will be wanted. The indices are constants
/// before any loop is unrolled, and no loop is unrolled by request, or GCC stores every sum after
/// every product.
template <size_t... N>
[[gnu::noinline]] void multiply_tiles(const char* x, size_t x_row_bytes, const char* w,
                                      size_t count, const char* ahead, size_t lines,
                                      Products& products, std::index_sequence<N...>) {
  const auto excess = [&](size_t row) {
    int32_t value;
    __builtin_memcpy(&value, x + row * x_row_bytes, sizeof value);
    return _mm256_set1_epi32(value);
  };
  auto* to = reinterpret_cast<__m256i*>(products.of);
  for (; count > 0; --count, w += kLine, to += 2 * kRows, ahead += lines * kLine) {
    fetch(ahead, lines);
    const char* starts = w + kPanelGroups * kWideGroupBytes;
    __m256i low[] = {_mm256_sub_epi32(load_bytes(starts), excess(N))...};
    __m256i high[] = {_mm256_sub_epi32(load_bytes(starts + 32), excess(N))...};
    x += kExcessBytes;
    for (size_t group = 0; group < kPanelGroups; group += 2) {
      for (size_t i = 0; i < 2; ++i, x += 8, w += kWideGroupBytes) {
        const __m256i even[] = {load_bytes(w), load_bytes(w + 32)};
        const __m256i odd[] = {load_bytes(w + 64), load_bytes(w + 96)};
        (add_crossed(x + N * x_row_bytes, even, odd, low[N], high[N]), ...);
      }
    }
    ((_mm256_store_si256(to + 2 * N, low[N]), _mm256_store_si256(to + 2 * N + 1, high[N])), ...);
  }
}

/// Adds the scaled sums of rows N over `count` tiles to `sums`, [rows][16].
template <size_t... N>
[[gnu::noinline]] void add_scaled(const Products& products, size_t count, const float* x_scales,
                                  size_t x_scales_stride, const float* w_scales, float* sums,
                                  std::index_sequence<N...>) {
  __m256 low[] = {_mm256_load_ps(sums + N * kPanelHalf)...};
  __m256 high[] = {_mm256_load_ps(sums + N * kPanelHalf + 8)...};
  for (size_t tile = 0; tile < count; ++tile, ++x_scales, w_scales += kPanelColumns) {
    const __m256 low_scales = _mm256_loadu_ps(w_scales),
                 high_scales = _mm256_loadu_ps(w_scales + 8);
    const auto of = products.of[tile];
    const __m256 x_scale[] = {_mm256_broadcast_ss(x_scales + N * x_scales_stride)...};
    ((low[N] = add_eight(load_bytes(of[N]), x_scale[N], low_scales, low[N]),
      high[N] = add_eight(load_bytes(of[N] + 8), x_scale[N], high_scales, high[N])),
     ...);
  }
  ((_mm256_store_ps(sums + N * kPanelHalf, low[N]),
    _mm256_store_ps(sums + N * kPanelHalf + 8, high[N])),
   ...);
}

/// Adds the exact sums of a row over `count` tiles.
inline void add_exact(const Products& products, size_t row, size_t count, int32_t* sums) {
  auto* to = reinterpret_cast<__m256i*>(sums);
  __m256i low = to[0], high = to[1];
  for (size_t tile = 0; tile < count; ++tile) {
    const int32_t* of = products.of[tile][row];
    low = _mm256_add_epi32(low, load_bytes(of));
    high = _mm256_add_epi32(high, load_bytes(of + 8));
  }
  to[0] = low;
  to[1] = high;
}

/// All rows against the half of a panel: add(products, their first tile, how many tiles, their
/// first row, index sequence of their rows).
template <typename Add>
void multiply_wide(const Strip& s, size_t rows, const Add& add) {
  WideStrip wide;
  Products products;
  const size_t blocks = (rows + kRows - 1) / kRows;
  for (size_t tile = 0; tile < s.tiles; tile += kStripTiles) {
    const size_t count = s.tiles - tile < kStripTiles ? s.tiles - tile : kStripTiles;
    wide.widen(s.w + tile * kPanelTile, count);
    const char* ahead = s.w + (tile + count) * kPanelTile;
    const size_t lines = (kPanelTile / kLine + blocks - 1) / blocks;
    for (size_t block = 0; block < blocks; ++block, ahead += count * lines * kLine) {
      const size_t begin = rows * block / blocks, end = rows * (block + 1) / blocks;
      const char* x = s.x + begin * s.x_row_bytes + tile * kRowTileBytes;
      with_rows<kRows>(end - begin, [&](auto indices) {
        multiply_tiles(x, s.x_row_bytes, wide.tiles, count, ahead, lines, products, indices);
        add(products, tile, count, begin, indices);
      });
    }
  }
}

/// Rows from `first` on times the half panel of `column`. While the first half is read, both are
/// fetched.
Strip strip_of(const PanelProduct& p, size_t first, size_t column) {
  const size_t tiles = panel_tiles(PanelType::kI8, p.k);
  Strip s{};
  s.x = static_cast<const char*>(p.x) + first * p.x_row_bytes;
  s.x_row_bytes = p.x_row_bytes;
  s.w = static_cast<const char*>(p.panels) + column / kPanelColumns * p.panel_stride +
        column % kPanelColumns / kPanelHalf * kPanelHalfTile;
  s.tiles = tiles;
  return s;
}

/// `rows` rows from `first` on, at most kSumRows.
void multiply_half(const PanelProduct& p, size_t first, size_t rows, size_t column, float* sums) {
  Strip whole = strip_of(p, first, column);
  whole.x_scales = p.x_scales + first * whole.tiles;
  whole.x_scales_stride = whole.tiles;
  whole.w_scales = scales_of_columns(p, column);
  whole.sums = sums;
  if (rows < kWorthWidening) return multiply_few_rows(whole, rows);
  multiply_wide(whole, rows,
                [&](const Products& products, size_t tile, size_t count, size_t row, auto indices) {
                  add_scaled(products, count, whole.x_scales + row * whole.tiles + tile,
                             whole.tiles, whole.w_scales + tile * kPanelColumns,
                             sums + row * kPanelHalf, indices);
                });
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

/// The same with exact sums over all of k.
void multiply_static_half(const PanelProduct& p, size_t first, size_t rows, size_t column,
                          int32_t* sums) {
  multiply_wide(strip_of(p, first, column), rows,
                [&](const Products& products, size_t, size_t count, size_t row, auto indices) {
                  for (size_t i = 0; i < indices.size(); ++i) {
                    add_exact(products, i, count, sums + (row + i) * kPanelHalf);
                  }
                });
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
