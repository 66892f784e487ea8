#include "model/pass.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "attention/attention.h"
#include "base/check.h"
#include "ops/rms_norm.h"

namespace tessera::model {
namespace {

/// Adds the microseconds that `work` takes.
template <typename Work>
void timed(float& us, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  us += std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void Pass::run(const Layer& layer, std::span<const BlockWeights> weights) {
  first_input_ = first_matrix_ = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const LayerBlock& block = *layer.blocks[i];
    block.forward(weights[i], *this);
    first_input_ += static_cast<uint32_t>(block.inputs().size());
    first_matrix_ += block.matrix_count();
  }
  layer_ += 1;
}

float* Pass::hidden() { return workspace_.hidden_; }

float* Pass::scratch(uint64_t offset) {
  return workspace_.scratch_ + offset * workspace_.max_rows_;
}

ops::Operand Pass::operand(uint32_t input, uint64_t k) {
  ops::Operand x = workspace_.operand(layer_panels(type_), rows(), k);
  x.fixed_scale = scales_[layer_][first_input_ + input];
  return x;
}

void Pass::measure(uint32_t input, const float* floats, uint64_t k) {
  if (workspace_.ranges_ == nullptr) return;
  workspace_.ranges_->add(layer_, first_input_ + input, floats, rows(), k);
}

ProductRows Pass::norm(uint32_t input, const float* weight) {
  const ProductRows x{operand(input, config().hidden_size), workspace_.normed_};
  ops::rms_norm(device_, workspace_.hidden_, weight, config().rms_norm_eps, workspace_.normed_,
                x.operand);
  measure(input, x.floats, x.operand.k);
  return x;
}

ProductRows Pass::rows_of(uint32_t input, const float* floats, uint64_t k) {
  const ProductRows x{operand(input, k), floats};
  ops::write_operand(device_, floats, k, x.operand);
  measure(input, floats, k);
  return x;
}

void Pass::multiply(const ProductRows& x, std::initializer_list<uint32_t> matrices,
                    std::span<ops::Target> targets) {
  TESSERA_CHECK(matrices.size() <= AdapterScratch::kProductsAtOnce);
  timed(workspace_.times_.projections_us, [&] {
    std::array<uint32_t, AdapterScratch::kProductsAtOnce> members{};
    std::transform(matrices.begin(), matrices.end(), members.begin(),
                   [&](uint32_t number) { return first_matrix_ + number; });
    const AdapterScratch::Terms terms = workspace_.adapters_.project(
        device_, batch_.adapters, layer_, {members.data(), matrices.size()}, x.operand, x.floats);
    for (size_t i = 0; i < targets.size(); ++i) targets[i].terms = terms[i];
    if (targets[0].up != nullptr) targets[0].up_terms = terms[1];
    ops::matmul(device_, x.operand, targets);
  });
}

void Pass::rotate(std::span<const ops::RopeRows> rotated) {
  ops::rope(device_, rotated, {workspace_.positions_.data(), rows()}, config().head_dim,
            config().rms_norm_eps, workspace_.rope_);
}

void Pass::attend(const float* q, const float* k, const float* v, float* mixed) {
  const attention::Layer layer{layer_, config().head_count, recipe_.block_layout(type_)};
  attention::write_kv(device_, layer, batch_.groups, k, v);
  timed(workspace_.times_.attention_us,
        [&] { attention::attend(device_, layer, batch_.groups, q, mixed, workspace_.attention_); });
}

}  // namespace tessera::model
