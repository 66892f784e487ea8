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

void rms_norm(device::Device& device, const float* x, const float* weight, float epsilon, float* y,
              const Operand& operand) {
  TESSERA_CHECK(operand.k > 0);
  const uint64_t n = operand.k;
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  for_rows(device, operand.rows, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      kernels.rms_norm(x + i * n, weight, n, epsilon, y + i * n);
      write_rows(products, y + i * n, n, i, 1, operand);
    }
  });
}

}  // namespace tessera::ops
