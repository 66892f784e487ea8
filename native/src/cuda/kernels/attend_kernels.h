// Attention on a card over a prompt's blocks in place, grouped queries, BF16, sums in F32: prompt
// rows of a chunk and beams of a step by the same two kernels (attention/attention.h says what a
// row sees).
//
//   tessera_attend_prompt   grid (row tiles, kv_heads, splits of all groups), block kAttendThreads:
//                           tensor-core products of 64 query heads with 32 positions at a time;
//                           softmax online (Milakov and Gimelshein 2018, arXiv:1805.02867); each
//                           split of kSplitPositions positions leaves its part
//   tessera_attend_merge    grid (rows of all groups, heads), block 32: adds the parts by their
//                           log-sum-exp in the order of positions, and a beam's own ancestors
//                           behind them (Dao et al. 2023, Flash-Decoding)
//
// Behind the groups stands one that has the spare rows and splits of a launch whose grid was
// rounded up: its q is null, and nothing is done for it.
//
// Splits begin at fixed positions, so a row's bits depend on the row alone.
//
// A block of the pool as a card reads it, for head_dim 64 or 128 (BF16); unwritten positions hold
// finite numbers, since they are multiplied by zero:
//   [layer][ keys: [kv_head][32 positions][head_dim] ][ values: [kv_head][32 positions][head_dim] ]
#pragma once

#include <cstdint>

namespace tessera::attention::cuda {

inline constexpr uint32_t kAttendThreads = 128;   // four warps of 16 query heads each
inline constexpr uint32_t kQueriesPerTile = 64;   // a tile's rows times heads of one kv head
inline constexpr uint32_t kBlockPositions = 32;   // of the pool
inline constexpr uint32_t kSplitPositions = 512;  // a multiple of kBlockPositions
inline constexpr uint32_t kHeadDimMax = 128;
inline constexpr uint32_t kMergeThreads = 32;

struct Layer {
  uint32_t index = 0;
  uint32_t heads = 0;  // a multiple of kv_heads
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;  // 64 or 128
};

/// The part of a row's head that a split leaves: the weighted values are relative to the maximum.
struct Part {
  float maximum = 0;  // of the scaled scores, base 2
  float sum = 0;      // of 2^(score - maximum); 0: it saw nothing
};

/// Rows of one request in a pass.
struct Rows {
  const uint16_t* q = nullptr;              // [rows][heads][head_dim]
  const uint16_t* const* blocks = nullptr;  // of the prompt
  uint32_t rows = 0;
  uint32_t visible = 0;          // prompt positions that row 0 sees
  uint32_t visible_step = 0;     // 1: row r sees r more (prompt rows); 0: all see the same (beams)
  uint32_t first_split = 0;      // of this group among all groups' splits
  uint32_t splits = 0;           // ceil of what the last row sees / kSplitPositions
  uint32_t first_row = 0;        // of this group among all groups' rows
  float* part_values = nullptr;  // [splits][rows][heads][head_dim] scratch
  Part* parts = nullptr;         // [splits][rows][heads] scratch
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
