#include "ops/layer_norm.h"

#include "base/check.h"
#include "ops/for_rows.h"

namespace tessera::ops {

void layer_norm(device::Device& device, const float* x, uint64_t rows, uint64_t n,
                const LayerNorm& norm, float* y) {
  TESSERA_CHECK(n > 0);
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      kernels.layer_norm(x + i * n, norm.weight, norm.bias, n, norm.epsilon, y + i * n);
    }
  });
}

void layer_norm(device::Device& device, const float* x, const LayerNorm& norm, float* y,
                const Operand& operand) {
  TESSERA_CHECK(operand.k > 0);
  const uint64_t n = operand.k;
  const device::KernelTable& kernels = device.kernels();
  const device::PanelKernels& products = kernels.panel(operand.type);
  for_rows(device, operand.rows, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      kernels.layer_norm(x + i * n, norm.weight, norm.bias, n, norm.epsilon, y + i * n);
      write_rows(products, y + i * n, n, i, 1, operand);
    }
  });
}

}  // namespace tessera::ops
