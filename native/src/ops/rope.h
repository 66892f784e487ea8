// Rotary position embedding (Su et al. 2021, arXiv:2104.09864) in the layout of Hugging Face
// checkpoints: of the first 2 * pairs elements of a head, element i is paired with element i +
// pairs; those behind them stay as they are (partial rotary positions).
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"

namespace tessera::ops {

/// Cosines and sines of every position: [positions][pairs] each.
struct RopeTable {
  const float* cos = nullptr;
  const float* sin = nullptr;
  uint64_t pairs = 0;  // that are rotated, of head_dim / 2
  uint64_t positions = 0;
};

/// Fills [positions][frequencies.size()]: angle = float(position) * frequency, rounded to float
/// before cosine and sine are taken, as trainers compute it; both times `magnitude`.
void fill_rope_table(std::span<const float> frequencies, double magnitude, uint64_t positions,
                     float* cos, float* sin);

/// Heads of a row to rotate: x is [rows][heads][head_dim].
struct RopeRows {
  float* x = nullptr;
  uint64_t heads = 0;
  const float* norm = nullptr;  // of head_dim: every head is first RMS-normalised with it
  bool rounds_to_bf16 = false;  // afterwards: the left side of a BF16 product
};

/// Rotates the heads of all `parts` of row i by positions[i], in one pass over the rows.
/// REQUIRES: 2 * table.pairs <= head_dim; every position < table.positions.
void rope(device::Device& device, std::span<const RopeRows> parts,
          std::span<const uint32_t> positions, uint64_t head_dim, float epsilon,
          const RopeTable& table);

}  // namespace tessera::ops
