#include "ops/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::ops::reference {
namespace {

template <typename Fn>
std::vector<double> products(const float* x, uint64_t rows, const tensor::TensorView& w, Fn fn) {
  std::vector<double> y;
  for (uint64_t i = 0; i < rows; ++i) {
    for (uint64_t j = 0; j < w.rows(); ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < w.columns(); ++k) {
        sum += fn(static_cast<double>(x[i * w.columns() + k]) * element(w, j * w.columns() + k));
      }
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace

double element(const tensor::TensorView& view, uint64_t i) {
  const void* data = view.data;
  switch (view.type) {
    case tensor::DType::kF32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case tensor::DType::kBf16:
      return static_cast<double>(tensor::f32_of_bf16(static_cast<const uint16_t*>(data)[i]));
    case tensor::DType::kF16:
      return static_cast<double>(tensor::f32_of_f16(static_cast<const uint16_t*>(data)[i]));
  }
  return 0;
}

std::vector<double> gemm(const float* x, uint64_t rows, const tensor::TensorView& w) {
  return products(x, rows, w, [](double product) { return product; });
}

std::vector<double> gemm_scale(const float* x, uint64_t rows, const tensor::TensorView& w) {
  return products(x, rows, w, [](double product) { return std::abs(product); });
}

std::vector<double> rms_norm(const float* x, uint64_t rows, uint64_t n, const float* weight,
                             double epsilon) {
  std::vector<double> y;
  for (uint64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (uint64_t k = 0; k < n; ++k) squares += std::pow(static_cast<double>(x[i * n + k]), 2);
    const double root = std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (uint64_t k = 0; k < n; ++k) {
      y.push_back(static_cast<double>(weight[k]) * static_cast<double>(x[i * n + k]) / root);
    }
  }
  return y;
}

std::vector<double> layer_norm(const float* x, uint64_t rows, uint64_t n, const float* weight,
                               const float* bias, double epsilon) {
  std::vector<double> y;
  for (uint64_t i = 0; i < rows; ++i) {
    const std::vector<double> row(x + i * n, x + (i + 1) * n);
    const auto count = static_cast<double>(n);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / count;
    double squares = 0;
    for (const double value : row) squares += std::pow(value - mean, 2);
    const double root = std::sqrt(squares / count + epsilon);
    for (uint64_t k = 0; k < n; ++k) {
      const double shift = bias == nullptr ? 0 : static_cast<double>(bias[k]);
      y.push_back(static_cast<double>(weight[k]) * (row[k] - mean) / root + shift);
    }
  }
  return y;
}

double gelu(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }

std::vector<double> rope(const float* x, uint64_t head_dim, uint64_t position,
                         const std::vector<float>& frequencies) {
  const uint64_t half = head_dim / 2;
  std::vector<double> y(head_dim);
  for (uint64_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(static_cast<float>(position) * frequencies[i]);
    const double a = static_cast<double>(x[i]), b = static_cast<double>(x[i + half]);
    y[i] = a * std::cos(angle) - b * std::sin(angle);
    y[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
  return y;
}

std::vector<double> silu_mul(const float* gate, const float* up, uint64_t n) {
  std::vector<double> y;
  for (uint64_t i = 0; i < n; ++i) {
    const double g = static_cast<double>(gate[i]);
    y.push_back(g / (1.0 + std::exp(-g)) * static_cast<double>(up[i]));
  }
  return y;
}

std::vector<double> log_sum_exp(const float* x, uint64_t rows, const tensor::TensorView& w) {
  const std::vector<double> logits = gemm(x, rows, w);
  std::vector<double> result;
  for (uint64_t i = 0; i < rows; ++i) {
    const auto begin = logits.begin() + static_cast<int64_t>(i * w.rows());
    const auto end = begin + static_cast<int64_t>(w.rows());
    const double highest = *std::max_element(begin, end);
    double total = 0;
    for (auto logit = begin; logit != end; ++logit) total += std::exp(*logit - highest);
    result.push_back(highest + std::log(total));
  }
  return result;
}

}  // namespace tessera::ops::reference
