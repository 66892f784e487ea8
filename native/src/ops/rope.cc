#include "ops/rope.h"

#include <cmath>

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

void fill_rope_table(std::span<const float> frequencies, uint64_t positions, float* cos,
                     float* sin) {
  for (uint64_t p = 0; p < positions; ++p) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(p) * frequency;
      *cos++ = static_cast<float>(std::cos(static_cast<double>(angle)));
      *sin++ = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  }
}

void rope(device::Device& device, float* x, std::span<const uint32_t> positions, uint64_t heads,
          uint64_t head_dim, const RopeTable& table) {
  TESSERA_CHECK(head_dim % 2 == 0);
  const uint64_t half = head_dim / 2;
  const device::KernelTable& kernels = device.kernels();
  for (const uint32_t position : positions) TESSERA_CHECK(position < table.positions);
  for_rows(device, positions.size(), heads * head_dim, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t at = positions[i] * half;
      for (uint64_t head = 0; head < heads; ++head) {
        kernels.rope(x + (i * heads + head) * head_dim, table.cos + at, table.sin + at, half);
      }
    }
  });
}

}  // namespace tessera::ops
