// Plain views of one request's keys and values, as attention reads and writes them in place. They
// own nothing. Owner of the bytes: engine::RunningRequest. Thread: the one that runs the forward
// pass.
//
// Element type of keys and values: the compute type (float for f32, uint16_t BF16 bits for bf16).
#pragma once

#include <cstdint>
#include <span>

#include "attention/delta_state.h"

namespace tessera::attention {

/// Keys and values of the prompt as a chain of blocks (block.h): block b holds positions [32 b,
/// 32 b + 32). Shared by all beams of the request and never copied per beam; a block may be in the
/// chains of several requests whose prompts begin alike.
struct PromptKv {
  void* const* blocks = nullptr;  // [block_count]
  uint32_t block_count = 0;
  uint32_t length = 0;  // positions already computed and readable
  /// First positions, which an encoder reads: they hold what the decoder's rows read of it, and
  /// the others keys and values of the decoder's rows. 0: there is no encoder.
  uint32_t encoded = 0;
  DeltaState* delta = nullptr;  // of models that have one
};

/// Keys and values of the decoded tokens, a slot for each row of beams. A beam finds its ancestors
/// through slot numbers, so a fork copies nothing.
struct BeamKv {
  void* keys = nullptr;    // [layers][slots][kv_heads][head_dim]
  void* values = nullptr;  // [layers][slots][kv_heads][head_dim]
  uint32_t slots = 0;
  float* delta = nullptr;  // [layers][slots] of tokens, then of inputs of the convolution
};

/// Positions [first_position, first_position + count) of a group's rows are also written to `to`,
/// at the same positions: for a request that shares the beginning of a block with the group's.
struct Mirror {
  const PromptKv* to = nullptr;
  uint32_t first_position = 0;
  uint32_t count = 0;
};

/// Consecutive rows of a batch that belong to one request. All are prompt tokens or all are beams
/// of one step. The rows of all groups of a pass are written before any row attends, so a row may
/// read blocks that another group of the same pass writes.
struct RowGroup {
  const PromptKv* prompt = nullptr;
  uint32_t first_row = 0;
  uint32_t row_count = 0;
  uint32_t first_position = 0;        // position of the first row (prompt), or of every row (beams)
  std::span<const Mirror> mirrors{};  // prompt rows only: positions of this group's rows
  std::span<const DeltaCapture> captures{};  // likewise
  // Beams only (null / 0 for prompt rows):
  const BeamKv* beam = nullptr;
  uint32_t step = 0;        // 1-based: decoded tokens of each row, its own included
  uint32_t first_slot = 0;  // of the first row; the others follow
  std::span<const uint32_t>
      ancestors{};  // [row_count][step-1]: slot of the row's ancestor at each earlier step
};

}  // namespace tessera::attention
