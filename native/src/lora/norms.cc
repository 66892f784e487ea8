#include "lora/norms.h"

#include <algorithm>
#include <cmath>

#include "ops/convert.h"

namespace tessera::lora {

using tensor::DType;
using tensor::TensorView;

/// |B A|^2 is the sum over the elementwise product of A A^T and B^T B, which are rank by rank.
double norm_of(device::Device& device, const Factors& factors, const std::vector<float>& a,
               const std::vector<float>& b) {
  const uint64_t rank = factors.rank, inputs = factors.a.shape[1], outputs = factors.b.shape[0];
  std::vector<float> b_columns(b.size()), a_gram(rank * rank), b_gram(rank * rank);
  for (uint64_t o = 0; o < outputs; ++o) {
    for (uint64_t r = 0; r < rank; ++r) b_columns[r * outputs + o] = b[o * rank + r];
  }
  const auto gram = [&](const std::vector<float>& rows, uint64_t k, std::vector<float>& to) {
    std::vector<const float*> starts;
    for (uint64_t r = 0; r < rank; ++r) starts.push_back(rows.data() + r * k);
    const std::vector<const void*> others(starts.begin(), starts.end());
    device.kernels().dot_rows_f32(starts.data(), rank, others.data(), rank, k, to.data(), rank);
  };
  gram(a, inputs, a_gram);
  gram(b_columns, outputs, b_gram);
  double sum = 0;
  for (uint64_t i = 0; i < a_gram.size(); ++i) {
    sum += static_cast<double>(a_gram[i]) * static_cast<double>(b_gram[i]);
  }
  return std::sqrt(std::max(sum, 0.0));  // not-a-number stays that
}

std::vector<double> squared_lengths(const model::Decoder& decoder, device::Device& device,
                                    const Factors& factors, const std::vector<float>& a,
                                    const std::vector<float>& b) {
  const model::WeightSlot& slot =
      *decoder.recipe().layers()[factors.layer].matrices()[factors.matrix];
  const uint64_t inputs = slot.inputs, rank = factors.rank;
  std::vector<double> squares(slot.outputs);
  const auto read = [&](const TensorView& matrix) {
    device.threads().parallel_for(slot.outputs, [&](uint64_t begin, uint64_t end) {
      std::vector<float> row(inputs);
      for (uint64_t o = begin; o < end; ++o) {
        const char* const from = static_cast<const char*>(matrix.row(o));
        for (uint64_t i = 0; i < inputs; i += ops::kConvertPiece) {
          ops::convert_piece(device.kernels(), from + i * tensor::dtype_size(matrix.type),
                             matrix.type, std::min(ops::kConvertPiece, inputs - i), DType::kF32,
                             row.data() + i);
        }
        for (uint64_t r = 0; r < rank; ++r) {
          const float weight = b[o * rank + r];
          const float* const own = a.data() + r * inputs;
          for (uint64_t i = 0; i < inputs; ++i) row[i] += weight * own[i];
        }
        for (const float value : row) {
          squares[o] += static_cast<double>(value) * static_cast<double>(value);
        }
      }
    });
  };
  decoder.visit_in_file(factors.layer, slot, read);
  return squares;
}

Result<std::vector<float>> scales_of(const std::string& module,
                                     const std::vector<float>& magnitudes,
                                     const std::vector<double>& squared_lengths) {
  std::vector<float> scales;
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    scales.push_back(
        static_cast<float>(static_cast<double>(magnitudes[i]) / std::sqrt(squared_lengths[i])));
    if (std::isfinite(scales.back())) continue;
    return Status(Code::kAdapterInvalid,
                  module +
                      ".lora_magnitude_vector: expected rows that have a length, got zeros in "
                      "row " +
                      std::to_string(i) + " of the matrix with its factors");
  }
  return scales;
}

bool do_change(const std::vector<float>& scales) {
  constexpr float kRounding = 1e-5f;
  return std::any_of(scales.begin(), scales.end(),
                     [](float scale) { return std::abs(scale - 1) > kRounding; });
}

}  // namespace tessera::lora
