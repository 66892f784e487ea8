#include "model/t5_blocks.h"

#include <string>
#include <utility>
#include <vector>

#include "model/pass.h"

namespace tessera::model {
namespace {

constexpr uint64_t kAttentionRows = 4;  // of scratch: queries, keys, values and what they mix to

bool is_of_encoder(const ModelConfig& config, uint32_t layer) {
  return layer < config.t5.encoder_layers;
}

ops::Target plain(const ops::PackedMatrix& matrix, float* y, const float* bias = nullptr) {
  return {.w = &matrix, .bias = bias, .y = y, .y_stride = matrix.columns};
}

/// Inputs of a feed-forward network: its rows, its last inner layer and those before.
std::vector<InputSlot> inputs_of(const T5Config& t5) {
  std::vector<InputSlot> inputs = {{"mlp"}, {"mlpOutput"}};
  inputs.resize(1 + t5.inner_layers, {"mlpInner"});
  return inputs;
}

ops::Target added(const ops::PackedMatrix& matrix, Pass& pass) {
  return {.w = &matrix,
          .y = pass.hidden(),
          .y_stride = pass.config().hidden_size,
          .adds_to_y = true};
}

}  // namespace

T5SelfBlock::T5SelfBlock(const ModelConfig& config, uint32_t layer)
    : LayerBlock({{"attention"}, {"attentionOutput"}}, kAttentionRows * config.q_size()),
      q_size_(config.q_size()),
      is_encoder_(is_of_encoder(config, layer)) {
  const std::string module = "layer.0.SelfAttention.";
  add_vector(kNorm, "layer.0.layer_norm.weight", config.hidden_size);
  add_matrix(kQ, module + "q", q_size_, config.hidden_size);
  add_matrix(kK, module + "k", q_size_, config.hidden_size);
  add_matrix(kV, module + "v", q_size_, config.hidden_size);
  add_matrix(kO, module + "o", config.hidden_size, q_size_);
  if (layer == 0 || layer == config.t5.encoder_layers) {
    add_table(kBiases, module + "relative_attention_bias.weight", config.t5.buckets,
              config.head_count);
  }
}

BlockWork T5SelfBlock::work() const {
  return {.row = multiplications(), .pair = 2 * static_cast<double>(q_size_)};
}

void T5SelfBlock::forward(const BlockWeights& weights, Pass& pass) const {
  float* const q = pass.scratch(0);
  float* const k = pass.scratch(q_size_);
  float* const v = pass.scratch(2 * q_size_);
  float* const mixed = pass.scratch(3 * q_size_);
  ops::Target projections[] = {plain(weights.matrices[kQ], q), plain(weights.matrices[kK], k),
                               plain(weights.matrices[kV], v)};
  pass.multiply(pass.norm(kNormed, weights.vector(kNorm)), {kQ, kK, kV}, projections);
  pass.round(q, q_size_);
  if (const float* const biases = weights.vector(kBiases)) pass.set_biases(biases, is_encoder_);
  pass.attend(q, k, v, mixed, pass.sight(is_encoder_));
  ops::Target output = added(weights.matrices[kO], pass);
  pass.multiply(pass.rows_of(kMixed, mixed, q_size_), {kO}, {&output, 1});
}

T5CrossBlock::T5CrossBlock(const ModelConfig& config)
    : LayerBlock({{"crossAttention"}, {"crossAttentionOutput"}, {"encoded"}}, 2 * config.q_size()),
      q_size_(config.q_size()) {
  const std::string module = "layer.1.EncDecAttention.";
  add_vector(kNorm, "layer.1.layer_norm.weight", config.hidden_size);
  add_matrix(kQ, module + "q", q_size_, config.hidden_size);
  add_matrix(kK, module + "k", q_size_, config.hidden_size);
  add_matrix(kV, module + "v", q_size_, config.hidden_size);
  add_matrix(kO, module + "o", config.hidden_size, q_size_);
}

BlockWork T5CrossBlock::work() const {
  return {.row = multiplications(), .pair = 2 * static_cast<double>(q_size_)};
}

void T5CrossBlock::forward(const BlockWeights& weights, Pass& pass) const {
  float* const q = pass.scratch(0);
  float* const mixed = pass.scratch(q_size_);
  ops::Target query = plain(weights.matrices[kQ], q);
  pass.multiply(pass.norm(kNormed, weights.vector(kNorm)), {kQ}, {&query, 1});
  pass.round(q, q_size_);
  pass.attend_encoded(q, mixed);
  ops::Target output = added(weights.matrices[kO], pass);
  pass.multiply(pass.rows_of(kMixed, mixed, q_size_), {kO}, {&output, 1});
}

void T5CrossBlock::keep_encoded(const BlockWeights& weights, Pass& pass) const {
  float* const k = pass.scratch(0);
  float* const v = pass.scratch(q_size_);
  ops::Target projections[] = {plain(weights.matrices[kK], k), plain(weights.matrices[kV], v)};
  pass.multiply(pass.stream_rows(kEncoded), {kK, kV}, projections);
  pass.keep(k, v);
}

T5FeedForwardBlock::T5FeedForwardBlock(const ModelConfig& config, uint32_t layer)
    : LayerBlock(inputs_of(config.t5), 2 * config.intermediate_size),
      inner_(config.intermediate_size),
      more_layers_(config.t5.inner_layers - 1),
      activation_(config.t5.activation),
      is_gated_(config.t5.is_gated) {
  const std::string place = is_of_encoder(config, layer) ? "layer.1." : "layer.2.";
  const std::string module = place + "DenseReluDense.";
  const std::string first = module + (is_gated_ ? "wi_0" : "wi");
  add_vector(kNorm, place + "layer_norm.weight", config.hidden_size);
  add_matrix(kIn, first, inner_, config.hidden_size);
  add_matrix(kOut, module + "wo", config.hidden_size, inner_);
  if (is_gated_) add_matrix(kUp, module + "wi_1", inner_, config.hidden_size);
  for (uint32_t i = 0; i < more_layers_; ++i)
    add_matrix(kHidden + i, module + "hidden." + std::to_string(i), inner_, inner_);
  if (!config.t5.has_bias) return;
  add_vector(kInBias, first + ".bias", inner_);
  add_vector(kOutBias, module + "wo.bias", config.hidden_size);
  for (uint32_t i = 0; i < more_layers_; ++i)
    add_vector(kHiddenBias + i, module + "hidden." + std::to_string(i) + ".bias", inner_);
}

BlockWork T5FeedForwardBlock::work() const { return {.row = multiplications()}; }

void T5FeedForwardBlock::forward(const BlockWeights& weights, Pass& pass) const {
  float* inner = pass.scratch(0);
  float* other = pass.scratch(inner_);
  const ProductRows normed = pass.norm(kNormed, weights.vector(kNorm));
  ops::Target both[] = {plain(weights.matrices[kIn], inner, weights.vector(kInBias)), {}};
  if (is_gated_) {
    both[1] = plain(weights.matrices[kUp], other);
    pass.multiply(normed, {kIn, kUp}, both);
  } else {
    pass.multiply(normed, {kIn}, {both, 1});
  }
  pass.activate(activation_, inner, is_gated_ ? other : nullptr, inner_);
  for (uint32_t i = 0; i < more_layers_; ++i, std::swap(inner, other)) {
    ops::Target next =
        plain(weights.matrices[kHidden + i], other, weights.vector(kHiddenBias + i));
    pass.multiply(pass.rows_of(kInner + 1 + i, inner, inner_), {kHidden + i}, {&next, 1});
    pass.activate(activation_, other, nullptr, inner_);
  }
  ops::Target output = added(weights.matrices[kOut], pass);
  output.bias = weights.vector(kOutBias);
  pass.multiply(pass.rows_of(kInner, inner, inner_), {kOut}, {&output, 1});
}

}  // namespace tessera::model
