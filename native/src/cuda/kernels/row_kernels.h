// The decoder's work on rows beside its products and attention, on a card. The residual stream is
// F32; what products and attention read is BF16.
//
//   tessera_embed            grid (rows), block kRowThreads
//   tessera_add_rms_norm     grid (rows), block kRowThreads
//   tessera_silu_mul         grid (rows), block kRowThreads
//   tessera_place_heads      grid (rows, ceil((heads + 2 kv_heads) / kHeadsAtOnce)), block (32,
//                            kHeadsAtOnce)
//   tessera_log_sum_exp      grid (rows), block kRowThreads
//   tessera_check_rows       grid (rows), block kRowThreads
//
// A row's sums are made in one order by one block, whatever the other rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::ops::cuda {

inline constexpr uint32_t kRowThreads = 256;
inline constexpr uint32_t kHeadsAtOnce = 8;  // of a row, a warp each
inline constexpr uint32_t kHeadDimMax = 128;

/// Where the keys and values of a row go; null: nowhere, the row is spare.
struct Place {
  uint16_t* keys = nullptr;  // of layer 0, head 0
  uint16_t* values = nullptr;
  uint64_t layer_stride = 0;  // elements
  uint32_t head_stride = 0;   // elements
};

/// Rows that are looked through for numbers that are not finite.
struct RowCheck {
  const float* rows = nullptr;  // [rows][size]
  uint32_t size = 0;
  uint32_t* struck = nullptr;  // out: [rows], 1 where one of the row's is not finite, else 0
};

/// Heads of a pass's rows, from the products' output to where attention wants them.
struct Heads {
  uint32_t heads = 0, kv_heads = 0, head_dim = 0;  // head_dim: 64 or 128
  uint32_t layer = 0;
  float epsilon = 0;
  const uint16_t* q_norm = nullptr;  // [head_dim], or null where the model has none
  const uint16_t* k_norm = nullptr;
  const float* cosines = nullptr;  // [positions][head_dim / 2]
  const float* sines = nullptr;
  const uint16_t* projected = nullptr;  // [rows][heads + 2 kv_heads][head_dim]: q, k, v
  const uint32_t* positions = nullptr;  // [rows]
  const Place* places = nullptr;        // [rows]
  uint16_t* q = nullptr;                // out: [rows][heads][head_dim]
};

}  // namespace tessera::ops::cuda
