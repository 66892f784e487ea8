#include "model/layer_block.h"

#include <algorithm>
#include <utility>

namespace tessera::model {
namespace {

constexpr std::string_view kWeight = ".weight";

}  // namespace

std::string_view WeightSlot::module() const {
  return std::string_view(name).substr(0, name.size() - kWeight.size());
}

std::vector<uint64_t> WeightSlot::shape() const {
  if (taps > 0) return {outputs / taps, 1, taps};
  return kind == Kind::kVector ? std::vector{outputs} : std::vector{outputs, inputs};
}

const WeightSlot* LayerBlock::find(WeightSlot::Kind kind, uint32_t number) const {
  const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const WeightSlot& slot) {
    return slot.kind == kind && slot.number == number;
  });
  return found == slots_.end() ? nullptr : &*found;
}

BlockWeights LayerBlock::empty_weights() const {
  BlockWeights weights;
  weights.vectors.resize(vector_count_);
  weights.matrices.resize(matrix_count_);
  return weights;
}

void LayerBlock::add_vector(uint32_t number, std::string name, uint64_t size, bool adds_one) {
  slots_.push_back({std::move(name), WeightSlot::Kind::kVector, number, size});
  slots_.back().adds_one = adds_one;
  vector_count_ = std::max(vector_count_, number + 1);
}

void LayerBlock::add_taps(uint32_t number, std::string name, uint64_t channels, uint32_t taps) {
  add_vector(number, std::move(name), channels * taps);
  slots_.back().taps = taps;
}

void LayerBlock::add_table(uint32_t number, std::string name, uint64_t rows, uint64_t columns) {
  slots_.push_back({std::move(name), WeightSlot::Kind::kTable, number, rows, columns});
  vector_count_ = std::max(vector_count_, number + 1);
}

void LayerBlock::add_matrix(uint32_t number, const std::string& module, uint64_t outputs,
                            uint64_t inputs, bool beside_previous, WeightSlot::Part part) {
  slots_.push_back({module + std::string(kWeight), WeightSlot::Kind::kMatrix, number, outputs,
                    inputs, beside_previous, std::move(part)});
  matrix_count_ = std::max(matrix_count_, number + 1);
}

void LayerBlock::feed(uint32_t input, std::initializer_list<uint32_t> matrices) {
  inputs_of_.resize(matrix_count_);
  for (const uint32_t matrix : matrices) inputs_of_[matrix] = input;
}

double LayerBlock::multiplications() const {
  double sum = 0;
  for (const WeightSlot& slot : slots_) {
    sum += static_cast<double>(slot.outputs) * static_cast<double>(slot.inputs);
  }
  return sum;
}

}  // namespace tessera::model
