// Rotary position embedding (Su et al. 2021, arXiv:2104.09864) in the layout of Hugging Face
// checkpoints: element i of a head is paired with element i + head_dim / 2.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"

namespace tessera::ops {

/// Cosines and sines of every position: [positions][head_dim / 2] each.
struct RopeTable {
  const float* cos = nullptr;
  const float* sin = nullptr;
  uint64_t positions = 0;
};

/// Fills [positions][frequencies.size()]: angle = float(position) * frequency, rounded to float
/// before cosine and sine are taken, as trainers compute it.
void fill_rope_table(std::span<const float> frequencies, uint64_t positions, float* cos,
                     float* sin);

/// Rotates x[i][head] of each row i by positions[i]; x is [rows][heads][head_dim].
/// REQUIRES: head_dim is even; every position < table.positions.
void rope(device::Device& device, float* x, std::span<const uint32_t> positions, uint64_t heads,
          uint64_t head_dim, const RopeTable& table);

}  // namespace tessera::ops
