// y = x W^T: the matrix product of the decoder. W is row-major [outputs, inputs] as in a Hugging
// Face file and is read in place, F32 or BF16; x and y are F32. For BF16 weights the caller has
// rounded x to BF16 values (ops::round_rows).
//
// Each output is one canonical reduction (device/kernel_table.h): equal bits whatever the batch and
// the threads.
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "tensor/tensor_view.h"

namespace tessera::ops {

/// y[i * y_stride + j] = x[i * columns + :] . w[j], for i < rows and j < w.rows().
/// REQUIRES: w is F32 or BF16; y_stride >= w.rows(); y does not overlap x.
void gemm(device::Device& device, const float* x, uint64_t rows, const tensor::TensorView& w,
          float* y, uint64_t y_stride);

/// y[i * w_rows.size() + j] = x[x_rows[i]] . w[w_rows[j]].
/// REQUIRES: as gemm; every w_rows[j] in [0, w.rows()).
void gemm_rows(device::Device& device, const float* x, std::span<const uint32_t> x_rows,
               const tensor::TensorView& w, std::span<const int32_t> w_rows, float* y);

}  // namespace tessera::ops
