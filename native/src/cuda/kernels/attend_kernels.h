// Attention on a card: over a prompt's blocks in place by the library (cuda/library), which leaves
// a part for each split of kSplitPositions positions; here what comes behind it, for prompt rows of
// a chunk and beams of a step (attention/attention.h says what a row sees).
//
//   tessera_attend_merge    grid (rows of all groups, heads), block 32: adds the parts by their
//                           log-sum-exp in the order of positions, and a beam's own ancestors
//                           behind them (Dao et al. 2023, Flash-Decoding)
//
// Behind the groups stands one that has the spare rows of a launch whose grid was rounded up: its q
// is null, and nothing is done for it.
//
// Splits begin at fixed positions, so a row's bits depend on the row alone.
//
// A block of the pool as a card reads it, for head_dim 64 or 128 (BF16); unwritten positions hold
// finite numbers, since they are multiplied by zero:
//   [layer][ keys: [kv_head][32 positions][head_dim] ][ values: [kv_head][32 positions][head_dim] ]
#pragma once

#include <cstdint>

#include "cuda/library/card_library.h"

namespace tessera::attention::cuda {

inline constexpr uint32_t kQueriesPerTile = 64;  // rows times heads of one kv head, in a block
inline constexpr uint32_t kBlockPositions = 32;  // of the pool
inline constexpr uint32_t kSplitPositions = TESSERA_CARD_SPLIT;
inline constexpr uint32_t kHeadDimMax = 128;
inline constexpr uint32_t kMergeThreads = 32;

struct Layer {
  uint32_t index = 0;
  uint32_t heads = 0;  // a multiple of kv_heads
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;  // 64 or 128
};

/// Rows of one request in a pass.
struct Rows {
  const uint16_t* q = nullptr;  // [rows][heads][head_dim]
  uint32_t rows = 0;
  uint32_t splits = 0;
  uint32_t first_row = 0;              // of this group among all groups' rows
  const float* part_values = nullptr;  // [splits][rows][heads][head_dim], each divided by its sum
  const float* part_logs = nullptr;    // [splits][rows][heads], base 2, of the sums
  // Beams: keys and values of decoded tokens, [layers][slots][kv_heads][head_dim].
  const uint16_t* own_keys = nullptr;
  const uint16_t* own_values = nullptr;
  uint32_t slots = 0;
  uint32_t first_slot = 0;              // of row 0; the others follow
  uint32_t steps = 0;                   // that a row has taken, its own included
  const uint32_t* ancestors = nullptr;  // [rows][steps - 1]: slots of the earlier steps
  uint16_t* mixed = nullptr;            // out: [rows][heads][head_dim]
};

}  // namespace tessera::attention::cuda
