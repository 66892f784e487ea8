#include "ops/silu_mul.h"

#include "ops/for_rows.h"

namespace tessera::ops {

void silu_mul(device::Device& device, const float* gate, const float* up, uint64_t rows, uint64_t n,
              float* y) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    kernels.silu_mul(gate + begin * n, up + begin * n, (end - begin) * n, y + begin * n);
  });
}

}  // namespace tessera::ops
