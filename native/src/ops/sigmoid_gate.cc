#include "ops/sigmoid_gate.h"

#include <cmath>

#include "ops/for_rows.h"

namespace tessera::ops {
namespace {

float sigmoid(const device::KernelTable& kernels, float x) {
  float power = -std::abs(x);
  kernels.exp_sum(&power, 1, 1, 0);
  return (x < 0 ? power : 1) / (1 + power);
}

}  // namespace

void scale_by_sigmoid(device::Device& device, const GatedRows& gated, uint64_t rows) {
  const device::KernelTable& kernels = device.kernels();
  for_rows(device, rows, gated.k + gated.n, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const float* const x = gated.x + row * gated.k;
      const void* const w = gated.w;
      float gate = 0;
      kernels.dot_rows_f32(&x, 1, &w, 1, gated.k, &gate, 1);
      kernels.scale(gated.y + row * gated.n, gated.n, sigmoid(kernels, gate));
    }
  });
}

}  // namespace tessera::ops
