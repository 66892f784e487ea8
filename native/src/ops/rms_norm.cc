#include "ops/rms_norm.h"

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

void rms_norm(device::Device& device, const float* x, uint64_t rows, uint64_t n,
              const float* weight, float epsilon, float* y) {
  TESSERA_CHECK(n > 0);
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      kernels.rms_norm(x + i * n, weight, n, epsilon, y + i * n);
  });
}

}  // namespace tessera::ops
