// Launches of the library's kernels, and the tiles of products: compiled file by file (hopper.cu,
// ampere.cu), since each takes its compiler half a minute.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/library/card_library.h"

namespace tessera::card {

/// Weights are the rows of a tile's left operand, for 64 of them are the least that wgmma takes
/// there, where rows of x may be as few as 8: up to 64 rows then cost little more than the
/// weights' bytes. They are so in every tile, so that no product changes sides with its shape; and
/// the depth of k is the same in every tile of a kind of card.
struct Tile {
  uint32_t columns;
  uint32_t rows;
  /// Blocks side by side in columns that load their rows of x together.
  uint32_t cluster;
  /// Two groups of warps compute a tile together; else each one of its own, and one writes while
  /// the other multiplies.
  bool cooperative;
};

/// Tiles of compute capability 9.0, by wgmma.
inline constexpr Tile kHopperTiles[] = {
    {64, 16, 1, false},  {64, 32, 1, false},   {64, 64, 1, false},  {64, 64, 4, false},
    {64, 128, 1, false}, {128, 128, 2, false}, {128, 256, 2, true},
};
inline constexpr uint32_t kHopperDepth = 64;  // of k

/// Tiles of 8.0 and every later one, by mma.sync.
inline constexpr Tile kAmpereTiles[] = {{64, 32, 1, true}, {64, 64, 1, true}, {128, 128, 1, true}};
inline constexpr uint32_t kAmpereDepth = 32;  // of k
/// Shared memory of a block: as much as a launch has unasked, and cards of 8.6 and 8.9 have twice.
inline constexpr uint32_t kAmpereSharedBytes = 48 << 10;

/// Without a product: only loads the code.
using Launch = cudaError_t (*)(const TesseraCardProduct* product, int processors,
                               cudaStream_t stream);

template <uint32_t kTile>
cudaError_t launch_hopper(const TesseraCardProduct* product, int processors, cudaStream_t stream);

template <uint32_t kTile>
cudaError_t launch_ampere(const TesseraCardProduct* product, int processors, cudaStream_t stream);

/// attend.cu. REQUIRES: heads as the face wants them.
cudaError_t launch_attention(const TesseraCardAttention& attention, cudaStream_t stream);
cudaError_t load_attention();

}  // namespace tessera::card
