// The tile unit (Intel AMX, SDM volume 1 chapter 18). Kernels see it as a type with the few static
// members that they use, with tile numbers as template arguments because they are part of the
// instruction: configure, release, zero, load, load_streamed, store, multiply_bf16, multiply_i8.
// amx.cc has the hardware, amx_model.h a model for tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::device::cpu {

inline constexpr size_t kTileRows = 16, kTileRowBytes = 64, kTileCount = 8;

/// The operand of ldtilecfg.
struct alignas(64) TileConfig {
  uint8_t palette = 0;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// Every tile 16 rows of 64 bytes: kernels pad instead of using smaller tiles.
constexpr TileConfig whole_tiles() {
  TileConfig config;
  config.palette = 1;
  for (size_t i = 0; i < kTileCount; ++i) {
    config.row_bytes[i] = kTileRowBytes;
    config.rows[i] = kTileRows;
  }
  return config;
}

}  // namespace tessera::device::cpu
