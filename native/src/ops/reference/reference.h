// The operations once more in double precision and in the plainest order: what conformance tests
// compare with. Inputs are the same floats; nothing is rounded in between. Test only.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor_view.h"

namespace tessera::ops::reference {

/// Element i of a tensor of any type.
double element(const tensor::TensorView& view, uint64_t i);

/// [rows][w.rows()].
std::vector<double> gemm(const float* x, uint64_t rows, const tensor::TensorView& w);
/// Sum of the magnitudes of the products of each output: the scale of its rounding error.
std::vector<double> gemm_scale(const float* x, uint64_t rows, const tensor::TensorView& w);
std::vector<double> rms_norm(const float* x, uint64_t rows, uint64_t n, const float* weight,
                             double epsilon);
/// `bias` may be null.
std::vector<double> layer_norm(const float* x, uint64_t rows, uint64_t n, const float* weight,
                               const float* bias, double epsilon);
double gelu(double x);
/// One head at one position.
std::vector<double> rope(const float* x, uint64_t head_dim, uint64_t position,
                         const std::vector<float>& frequencies);
std::vector<double> silu_mul(const float* gate, const float* up, uint64_t n);
std::vector<double> log_sum_exp(const float* x, uint64_t rows, const tensor::TensorView& w);

}  // namespace tessera::ops::reference
