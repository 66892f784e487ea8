#include "model/delta_block.h"

#include <algorithm>

#include "attention/delta_rule.h"
#include "model/pass.h"

namespace tessera::model {

DeltaBlock::DeltaBlock(const ModelConfig& config, bool is_together)
    : LayerBlock(
          {{"attention"}, {"attentionOutput"}},
          Layout{config.delta.channels(), config.delta.values(), config.delta.value_heads}.end()),
      shape_(config.delta),
      hidden_(config.hidden_size),
      is_together_(is_together),
      at_{shape_.channels(), shape_.values(), shape_.value_heads} {
  add_vector(kInputNorm, "input_layernorm.weight", hidden_, config.family->norm_adds_one);
  if (is_together) {
    add_matrix(kQkvz, "linear_attn.in_proj_qkvz", at_.channels + at_.values, hidden_);
    add_matrix(kBa, "linear_attn.in_proj_ba", 2 * at_.heads, hidden_);
    add_matrix(kOutOfTogether, "linear_attn.out_proj", hidden_, at_.values);
  } else {
    add_matrix(kQkv, "linear_attn.in_proj_qkv", at_.channels, hidden_);
    add_matrix(kZ, "linear_attn.in_proj_z", at_.values, hidden_);
    add_matrix(kB, "linear_attn.in_proj_b", at_.heads, hidden_);
    add_matrix(kA, "linear_attn.in_proj_a", at_.heads, hidden_);
    add_matrix(kOut, "linear_attn.out_proj", hidden_, at_.values);
  }
  add_taps(kTaps, "linear_attn.conv1d.weight", at_.channels, shape_.taps);
  add_vector(kStepBias, "linear_attn.dt_bias", at_.heads);
  add_vector(kLogRate, "linear_attn.A_log", at_.heads);
  add_vector(kOutputNorm, "linear_attn.norm.weight", shape_.value_dim);
}

/// Reads of the matrix by key and by query, and the token's part in it.
BlockWork DeltaBlock::work() const {
  const auto cells = static_cast<double>(shape_.values()) * shape_.key_dim;
  return {.row = multiplications() + 3 * cells};
}

void DeltaBlock::project(const BlockWeights& weights, Pass& pass) const {
  ops::Target targets[] = {
      {.w = &weights.matrices[kQkv], .y = pass.scratch(at_.inputs()), .y_stride = at_.channels},
      {.w = &weights.matrices[kZ], .y = pass.scratch(at_.gates()), .y_stride = at_.values},
      {.w = &weights.matrices[kB], .y = pass.scratch(at_.strengths()), .y_stride = at_.heads},
      {.w = &weights.matrices[kA], .y = pass.scratch(at_.decays()), .y_stride = at_.heads}};
  const ProductRows normed = pass.norm(kNormed, weights.vector(kInputNorm));
  pass.multiply(normed, {kQkv, kZ, kB, kA}, targets);
}

void DeltaBlock::project_together(const BlockWeights& weights, Pass& pass) const {
  const uint64_t width = at_.channels + at_.values;
  float* const qkvz = pass.scratch(at_.mixed());
  float* const ba = pass.scratch(at_.factors());
  ops::Target targets[] = {{.w = &weights.matrices[kQkvz], .y = qkvz, .y_stride = width},
                           {.w = &weights.matrices[kBa], .y = ba, .y_stride = 2 * at_.heads}};
  const ProductRows normed = pass.norm(kNormed, weights.vector(kInputNorm));
  pass.multiply(normed, {kQkvz, kBa}, targets);
  float* const inputs = pass.scratch(at_.inputs());
  float* const gates = pass.scratch(at_.gates());
  float* const strengths = pass.scratch(at_.strengths());
  float* const decays = pass.scratch(at_.decays());
  const uint64_t keys = shape_.keys(), dim = shape_.key_dim;
  const uint64_t heads = shape_.value_heads / shape_.key_heads;  // of values, to a key head
  const uint64_t values = heads * shape_.value_dim;
  pass.device().threads().parallel_for(pass.rows(), [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      float* const to = inputs + row * at_.channels;
      for (uint64_t head = 0; head < shape_.key_heads; ++head) {
        const float* from = qkvz + row * width + head * (2 * dim + 2 * values);
        std::copy_n(from, dim, to + head * dim);
        std::copy_n(from + dim, dim, to + keys + head * dim);
        std::copy_n(from + 2 * dim, values, to + 2 * keys + head * values);
        std::copy_n(from + 2 * dim + values, values, gates + row * at_.values + head * values);
        const float* const pair = ba + row * 2 * at_.heads + head * 2 * heads;
        std::copy_n(pair, heads, strengths + row * at_.heads + head * heads);
        std::copy_n(pair + heads, heads, decays + row * at_.heads + head * heads);
      }
    }
  });
}

void DeltaBlock::forward(const BlockWeights& weights, Pass& pass) const {
  if (is_together_) {
    project_together(weights, pass);
  } else {
    project(weights, pass);
  }
  float* const out = pass.scratch(at_.out());
  pass.recur({weights.vector(kTaps), weights.vector(kOutputNorm), weights.vector(kLogRate),
              weights.vector(kStepBias), pass.config().rms_norm_eps},
             {pass.scratch(at_.inputs()), pass.scratch(at_.mixed()), pass.scratch(at_.gates()),
              pass.scratch(at_.decays()), pass.scratch(at_.strengths()),
              pass.scratch(at_.factors()), out});
  const uint32_t last = is_together_ ? uint32_t{kOutOfTogether} : uint32_t{kOut};
  ops::Target output{
      .w = &weights.matrices[last], .y = pass.hidden(), .y_stride = hidden_, .adds_to_y = true};
  pass.multiply(pass.rows_of(kMixed, out, at_.values), {last}, {&output, 1});
}

}  // namespace tessera::model
