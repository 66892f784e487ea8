#include "ops/sigmoid_gate.h"

#include <algorithm>
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

void copy_queries(device::Device& device, const HeadGates& gates, uint64_t rows, float* q) {
  const uint64_t size = gates.head_dim;
  for_rows(device, rows, gates.heads * size, [&](uint64_t begin, uint64_t end) {
    for (uint64_t head = begin * gates.heads; head < end * gates.heads; ++head)
      std::copy_n(gates.both + 2 * head * size, size, q + head * size);
  });
}

void scale_by_gates(device::Device& device, const HeadGates& gates, uint64_t rows, float* y) {
  constexpr uint64_t kPiece = 64;
  const device::KernelTable& kernels = device.kernels();
  const uint64_t size = gates.head_dim;
  for_rows(device, rows, 4 * gates.heads * size, [&](uint64_t begin, uint64_t end) {
    for (uint64_t head = begin * gates.heads; head < end * gates.heads; ++head) {
      const float* const gate = gates.both + (2 * head + 1) * size;
      for (uint64_t at = 0; at < size; at += kPiece) {
        const uint64_t count = std::min(kPiece, size - at);
        float power[kPiece];
        for (uint64_t i = 0; i < count; ++i) power[i] = -std::abs(gate[at + i]);
        kernels.exp_sum(power, count, 1, 0);
        for (uint64_t i = 0; i < count; ++i) {
          y[head * size + at + i] *= (gate[at + i] < 0 ? power[i] : 1) / (1 + power[i]);
        }
      }
    }
  });
}

}  // namespace tessera::ops
