#include "model/attention_block.h"

#include "attention/attention.h"
#include "model/pass.h"
#include "ops/rope.h"

namespace tessera::model {

AttentionBlock::AttentionBlock(const ModelConfig& config)
    : LayerBlock({{"attention"}, {"attentionOutput"}},
                 (config.output_gate ? 4 : 2) * config.q_size() + 2 * config.kv_size()),
      q_size_(config.q_size()),
      kv_size_(config.kv_size()),
      projected_((config.output_gate ? 2 : 1) * q_size_) {
  const uint64_t hidden = config.hidden_size;
  const bool adds_one = config.family->norm_adds_one;
  add_vector(kInputNorm, "input_layernorm.weight", hidden, adds_one);
  add_matrix(kQ, "self_attn.q_proj", projected_, hidden);
  add_matrix(kK, "self_attn.k_proj", kv_size_, hidden);
  add_matrix(kV, "self_attn.v_proj", kv_size_, hidden);
  add_matrix(kO, "self_attn.o_proj", hidden, q_size_);
  if (config.qkv_bias) {
    add_vector(kQBias, "self_attn.q_proj.bias", projected_);
    add_vector(kKBias, "self_attn.k_proj.bias", kv_size_);
    add_vector(kVBias, "self_attn.v_proj.bias", kv_size_);
  }
  if (config.output_bias) add_vector(kOBias, "self_attn.o_proj.bias", hidden);
  if (config.family->qk_norm != QkNorm::kNone) {
    const bool of_heads = config.family->qk_norm == QkNorm::kHeads;
    add_vector(kQNorm, "self_attn.q_norm.weight", of_heads ? config.head_dim : q_size_, adds_one);
    add_vector(kKNorm, "self_attn.k_norm.weight", of_heads ? config.head_dim : kv_size_, adds_one);
  }
}

BlockWork AttentionBlock::work() const {
  return {.row = multiplications(), .pair = 2 * static_cast<double>(q_size_)};
}

void AttentionBlock::forward(const BlockWeights& weights, Pass& pass) const {
  const ModelConfig& config = pass.config();
  float* const q = pass.scratch(0);
  float* const k = pass.scratch(q_size_);
  float* const v = pass.scratch(q_size_ + kv_size_);
  float* const mixed = pass.scratch(q_size_ + 2 * kv_size_);
  float* const both = config.output_gate ? pass.scratch(2 * (q_size_ + kv_size_)) : q;
  ops::Target projections[] = {
      {.w = &weights.matrices[kQ],
       .bias = weights.vector(kQBias),
       .y = both,
       .y_stride = projected_},
      {.w = &weights.matrices[kK], .bias = weights.vector(kKBias), .y = k, .y_stride = kv_size_},
      {.w = &weights.matrices[kV], .bias = weights.vector(kVBias), .y = v, .y_stride = kv_size_}};
  const ProductRows normed = pass.norm(kNormed, weights.vector(kInputNorm));
  pass.multiply(normed, {kQ, kK, kV}, projections);
  if (config.output_gate) pass.copy_queries(both, q);
  const float *q_norm = weights.vector(kQNorm), *k_norm = weights.vector(kKNorm);
  if (config.family->qk_norm == QkNorm::kRows) {
    pass.normalise(q, q_size_, q_norm);
    pass.normalise(k, kv_size_, k_norm);
    q_norm = k_norm = nullptr;
  }
  const ops::RopeRows rotated[] = {{q, config.head_count, q_norm, pass.type() != ComputeType::kF32},
                                   {k, config.kv_head_count, k_norm, false}};
  pass.rotate(rotated);
  pass.attend(q, k, v, mixed, {.is_causal = config.is_causal});
  if (config.output_gate) pass.scale_by_gates(both, mixed);
  ops::Target output{.w = &weights.matrices[kO],
                     .bias = weights.vector(kOBias),
                     .y = pass.hidden(),
                     .y_stride = config.hidden_size,
                     .adds_to_y = true};
  pass.multiply(pass.rows_of(kMixed, mixed, q_size_), {kO}, {&output, 1});
}

}  // namespace tessera::model
