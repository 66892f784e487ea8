// The gate of a SwiGLU feed-forward layer (Shazeer 2020, arXiv:2002.05202).
#pragma once

#include <cstdint>

#include "device/device.h"

namespace tessera::ops {

/// y = gate / (1 + exp(-gate)) * up over rows * n elements; y may be gate or up.
void silu_mul(device::Device& device, const float* gate, const float* up, uint64_t rows, uint64_t n,
              float* y);

}  // namespace tessera::ops
