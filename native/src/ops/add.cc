#include "ops/add.h"

#include "ops/for_rows.h"

namespace tessera::ops {

void add(device::Device& device, const float* x, uint64_t rows, uint64_t n, float* y) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    kernels.add(x + begin * n, (end - begin) * n, y + begin * n);
  });
}

void add_bias(device::Device& device, const float* bias, uint64_t rows, uint64_t n, float* y) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) kernels.add(bias, n, y + i * n);
  });
}

}  // namespace tessera::ops
