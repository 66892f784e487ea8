#include "ops/rope.h"

#include <cmath>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

void fill_rope_table(std::span<const float> frequencies, double magnitude, uint64_t positions,
                     float* cos, float* sin) {
  for (uint64_t p = 0; p < positions; ++p) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(p) * frequency;
      *cos++ = static_cast<float>(std::cos(static_cast<double>(angle)) * magnitude);
      *sin++ = static_cast<float>(std::sin(static_cast<double>(angle)) * magnitude);
    }
  }
}

void rope(device::Device& device, std::span<const RopeRows> parts,
          std::span<const uint32_t> positions, uint64_t head_dim, float epsilon,
          const RopeTable& table) {
  TESSERA_CHECK(2 * table.pairs <= head_dim);
  const device::KernelTable& kernels = device.kernels();
  uint64_t heads = 0;
  for (const RopeRows& part : parts) heads += part.heads;
  for (const uint32_t position : positions) TESSERA_CHECK(position < table.positions);
  for_rows(device, positions.size(), heads * head_dim, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t at = positions[i] * table.pairs;
      for (const RopeRows& part : parts) {
        const uint64_t n = part.heads * head_dim;
        float* row = part.x + i * n;
        for (float* x = row; x < row + n; x += head_dim) {
          if (part.norm != nullptr) kernels.rms_norm(x, part.norm, head_dim, epsilon, x);
          kernels.rope(x, table.cos + at, table.sin + at, table.pairs);
        }
        if (part.rounds_to_bf16) kernels.round_bf16(row, n);
      }
    }
  });
}

}  // namespace tessera::ops
