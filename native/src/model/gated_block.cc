#include "model/gated_block.h"

#include "model/pass.h"

namespace tessera::model {

GatedBlock::GatedBlock(const ModelConfig& config)
    : LayerBlock({{"mlp"}, {"mlpOutput"}}, config.intermediate_size),
      inner_(config.intermediate_size) {
  const uint64_t hidden = config.hidden_size;
  add_vector(kPostNorm, "post_attention_layernorm.weight", hidden, config.family->norm_adds_one);
  add_matrix(kGate, "mlp.gate_proj", inner_, hidden);
  add_matrix(kUp, "mlp.up_proj", inner_, hidden, true);
  add_matrix(kDown, "mlp.down_proj", hidden, inner_);
}

BlockWork GatedBlock::work() const { return {.row = multiplications()}; }

void GatedBlock::forward(const BlockWeights& weights, Pass& pass) const {
  float* const gated = pass.scratch(0);
  ops::Target target{
      .w = &weights.matrices[kGate], .up = &weights.matrices[kUp], .y = gated, .y_stride = inner_};
  const ProductRows normed = pass.norm(kNormed, weights.vector(kPostNorm));
  pass.multiply(normed, {kGate, kUp}, {&target, 1});
  ops::Target output{.w = &weights.matrices[kDown],
                     .y = pass.hidden(),
                     .y_stride = pass.config().hidden_size,
                     .adds_to_y = true};
  pass.multiply(pass.rows_of(kGated, gated, inner_), {kDown}, {&output, 1});
}

}  // namespace tessera::model
