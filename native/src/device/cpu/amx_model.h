// A model of the tile unit after the pseudo code of the SDM (volume 2, TDPBF16PS and TDPBSSD), for
// machines without one. Test only; one state per thread, as in a processor.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "device/cpu/amx_tiles.h"

namespace tessera::device::cpu {

class TileModel {
 public:
  static void configure(const TileConfig& config) {
    TESSERA_CHECK(config.palette == 1 && config.start_row == 0);
    for (const uint8_t byte : config.reserved) TESSERA_CHECK(byte == 0);
    for (size_t i = 0; i < 16; ++i) {
      const size_t limit = i < kTileCount ? 1 : 0;
      TESSERA_CHECK(config.rows[i] <= kTileRows * limit);
      TESSERA_CHECK(config.row_bytes[i] <= kTileRowBytes * limit && config.row_bytes[i] % 4 == 0);
    }
    state() = {true, config, {}};
  }
  static void release() { state() = {}; }

  template <int kTile>
  static void zero() {
    std::memset(tile(kTile).bytes, 0, sizeof(Tile));
  }
  template <int kTile>
  static void load(const void* from, size_t stride) {
    zero<kTile>();
    for (size_t row = 0; row < rows(kTile); ++row) {
      std::memcpy(tile(kTile).bytes[row], static_cast<const char*>(from) + row * stride,
                  row_bytes(kTile));
    }
  }
  template <int kTile>
  static void load_streamed(const void* from, size_t stride) {
    load<kTile>(from, stride);
  }
  template <int kTile>
  static void store(void* to, size_t stride) {
    for (size_t row = 0; row < rows(kTile); ++row) {
      std::memcpy(static_cast<char*>(to) + row * stride, tile(kTile).bytes[row], row_bytes(kTile));
    }
  }

  template <int kSum, int kLeft, int kRight>
  static void multiply_bf16() {
    check_shapes(kSum, kLeft, kRight);
    for (size_t m = 0; m < rows(kSum); ++m) {
      for (size_t n = 0; n < row_bytes(kSum) / 4; ++n) {
        float even = 0, odd = 0;
        for (size_t k = 0; k < row_bytes(kLeft) / 4; ++k) {
          const auto* a = row<uint16_t>(kLeft, m) + 2 * k;
          const auto* b = row<uint16_t>(kRight, k) + 2 * n;
          even = flush(std::fma(widen(a[0]), widen(b[0]), even));
          odd = flush(std::fma(widen(a[1]), widen(b[1]), odd));
        }
        float& sum = row<float>(kSum, m)[n];
        sum = flush(flush(sum) + flush(even + odd));
      }
    }
  }

  template <int kSum, int kLeft, int kRight>
  static void multiply_i8() {
    check_shapes(kSum, kLeft, kRight);
    for (size_t m = 0; m < rows(kSum); ++m) {
      for (size_t n = 0; n < row_bytes(kSum) / 4; ++n) {
        int32_t& sum = row<int32_t>(kSum, m)[n];
        for (size_t k = 0; k < row_bytes(kLeft) / 4; ++k) {
          const auto* a = row<int8_t>(kLeft, m) + 4 * k;
          const auto* b = row<int8_t>(kRight, k) + 4 * n;
          sum += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        }
      }
    }
  }

 private:
  struct alignas(64) Tile {
    char bytes[kTileRows][kTileRowBytes] = {};
  };
  struct State {
    bool configured = false;
    TileConfig config;
    Tile tiles[kTileCount];
  };

  static State& state() {
    static thread_local State of_thread;
    return of_thread;
  }
  static Tile& tile(int index) {
    TESSERA_CHECK(state().configured);  // the processor would raise #UD
    return state().tiles[index];
  }
  static size_t rows(int index) { return state().config.rows[index]; }
  static size_t row_bytes(int index) { return state().config.row_bytes[index]; }
  template <typename T>
  static T* row(int index, size_t at) {
    return reinterpret_cast<T*>(tile(index).bytes[at]);
  }
  static void check_shapes(int sum, int left, int right) {
    TESSERA_CHECK(sum != left && sum != right && left != right);
    TESSERA_CHECK(rows(sum) == rows(left) && row_bytes(sum) == row_bytes(right));
    TESSERA_CHECK(row_bytes(left) == rows(right) * 4);
  }

  /// Denormals are zero, of operands and of results; rounding is to nearest, ties to even.
  static float flush(float value) { return std::abs(value) < FLT_MIN ? value * 0.0f : value; }
  static float widen(uint16_t bits) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return flush(value);
  }
};

}  // namespace tessera::device::cpu
