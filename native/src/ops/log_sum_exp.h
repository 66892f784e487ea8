// log sum exp of x . w over all rows of w: the normaliser of a softmax over the whole vocabulary,
// without ever holding rows x vocabulary logits.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

inline constexpr uint64_t kLogSumExpTile = 256;  // rows of w whose logits are held at a time

/// Floats of scratch that log_sum_exp needs.
constexpr uint64_t log_sum_exp_scratch(uint64_t rows, uint64_t w_rows) {
  return 2 * rows * ((w_rows + kLogSumExpTile - 1) / kLogSumExpTile);
}

/// result[i] = log sum over j of exp(x[x_rows[i]] . w[j]). The tiles of w are spread over threads
/// and joined in their order, so the result does not depend on the threads. REQUIRES: as ops::gemm;
/// result.size() == x_rows.size(); scratch holds log_sum_exp_scratch floats.
void log_sum_exp(device::Device& device, const float* x, std::span<const uint32_t> x_rows,
                 const tensor::TensorView& w, std::span<float> scratch, std::span<float> result);

}  // namespace tessera::ops
