#include "model/encoder_blocks.h"

#include "model/pass.h"

namespace tessera::model {
namespace {

constexpr uint64_t kWholeRows = 4;  // of scratch: queries, keys, values and what they mix to

/// The rows of a text see one another, as far as they reach.
attention::Sight sight(const ModelConfig& config, bool is_local) {
  return {.is_causal = false,
          .reach = is_local ? config.encoder.reach : attention::Sight::kUnlimited};
}

/// Work of a row: the products with queries and keys, and the work of a position that it sees.
BlockWork attention_work(double row, uint64_t hidden) {
  return {.row = row, .pair = 2 * static_cast<double>(hidden)};
}

}  // namespace

EncoderEntryBlock::EncoderEntryBlock(const ModelConfig& config) : LayerBlock({}, 0) {
  const uint64_t hidden = config.hidden_size;
  add_table(kPositions, "embeddings.position_embeddings.weight", config.encoder.position_rows,
            hidden);
  add_table(kSegments, "embeddings.token_type_embeddings.weight", config.encoder.segments, hidden);
  add_vector(kNorm, "embeddings.LayerNorm.weight", hidden);
  add_vector(kNormBias, "embeddings.LayerNorm.bias", hidden);
}

void EncoderEntryBlock::forward(const BlockWeights& weights, Pass& pass) const {
  pass.add_positions(weights.vector(kPositions));
  pass.add_segments(weights.vector(kSegments));
  pass.normalise_stream(weights.vector(kNorm), weights.vector(kNormBias));
}

EncoderAttentionBlock::EncoderAttentionBlock(const ModelConfig& config)
    : LayerBlock({{"attention"}, {"attentionOutput"}}, kWholeRows * config.hidden_size) {
  const uint64_t hidden = config.hidden_size;
  add_matrix(kQ, "attention.self.query", hidden, hidden);
  add_matrix(kK, "attention.self.key", hidden, hidden);
  add_matrix(kV, "attention.self.value", hidden, hidden);
  add_matrix(kO, "attention.output.dense", hidden, hidden);
  feed(kRows, {kQ, kK, kV});
  feed(kMixed, {kO});
  add_vector(kQBias, "attention.self.query.bias", hidden);
  add_vector(kKBias, "attention.self.key.bias", hidden);
  add_vector(kVBias, "attention.self.value.bias", hidden);
  add_vector(kOBias, "attention.output.dense.bias", hidden);
  add_vector(kNorm, "attention.output.LayerNorm.weight", hidden);
  add_vector(kNormBias, "attention.output.LayerNorm.bias", hidden);
}

BlockWork EncoderAttentionBlock::work() const {
  return attention_work(multiplications(), floats_per_row() / kWholeRows);
}

void EncoderAttentionBlock::forward(const BlockWeights& weights, Pass& pass) const {
  const uint64_t hidden = pass.config().hidden_size;
  float* const q = pass.scratch(0);
  float* const k = pass.scratch(hidden);
  float* const v = pass.scratch(2 * hidden);
  float* const mixed = pass.scratch(3 * hidden);
  ops::Target projections[] = {
      {.w = &weights.matrices[kQ], .bias = weights.vector(kQBias), .y = q, .y_stride = hidden},
      {.w = &weights.matrices[kK], .bias = weights.vector(kKBias), .y = k, .y_stride = hidden},
      {.w = &weights.matrices[kV], .bias = weights.vector(kVBias), .y = v, .y_stride = hidden}};
  pass.multiply(pass.stream_rows(kRows), {kQ, kK, kV}, projections);
  pass.round(q, hidden);
  pass.attend(q, k, v, mixed, sight(pass.config(), false));
  ops::Target output{.w = &weights.matrices[kO],
                     .bias = weights.vector(kOBias),
                     .y = pass.hidden(),
                     .y_stride = hidden,
                     .adds_to_y = true};
  pass.multiply(pass.rows_of(kMixed, mixed, hidden), {kO}, {&output, 1});
  pass.normalise_stream(weights.vector(kNorm), weights.vector(kNormBias));
}

EncoderFeedForwardBlock::EncoderFeedForwardBlock(const ModelConfig& config)
    : LayerBlock({{"mlp"}, {"mlpOutput"}}, config.intermediate_size),
      inner_(config.intermediate_size) {
  const uint64_t hidden = config.hidden_size;
  add_matrix(kUp, "intermediate.dense", inner_, hidden);
  add_matrix(kDown, "output.dense", hidden, inner_);
  feed(kRows, {kUp});
  feed(kInner, {kDown});
  add_vector(kUpBias, "intermediate.dense.bias", inner_);
  add_vector(kDownBias, "output.dense.bias", hidden);
  add_vector(kNorm, "output.LayerNorm.weight", hidden);
  add_vector(kNormBias, "output.LayerNorm.bias", hidden);
}

BlockWork EncoderFeedForwardBlock::work() const { return {.row = multiplications()}; }

void EncoderFeedForwardBlock::forward(const BlockWeights& weights, Pass& pass) const {
  const uint64_t hidden = pass.config().hidden_size;
  float* const inner = pass.scratch(0);
  const ops::Target up{.w = &weights.matrices[kUp],
                       .has_gelu = true,
                       .bias = weights.vector(kUpBias),
                       .y = inner,
                       .y_stride = inner_};
  const ProductRows activated = pass.multiply_to_rows(pass.stream_rows(kRows), {kUp}, up, kInner);
  ops::Target down{.w = &weights.matrices[kDown],
                   .bias = weights.vector(kDownBias),
                   .y = pass.hidden(),
                   .y_stride = hidden,
                   .adds_to_y = true};
  pass.multiply(activated, {kDown}, {&down, 1});
  pass.normalise_stream(weights.vector(kNorm), weights.vector(kNormBias));
}

ModernEntryBlock::ModernEntryBlock(const ModelConfig& config) : LayerBlock({}, 0) {
  add_vector(kNorm, "embeddings.norm.weight", config.hidden_size);
}

void ModernEntryBlock::forward(const BlockWeights& weights, Pass& pass) const {
  pass.normalise_stream(weights.vector(kNorm), nullptr);
}

ModernAttentionBlock::ModernAttentionBlock(const ModelConfig& config, uint32_t layer)
    : LayerBlock({{"attention"}, {"attentionOutput"}}, kWholeRows * config.hidden_size),
      is_local_(config.encoder.is_local(layer)) {
  const uint64_t hidden = config.hidden_size;
  const auto part = [&](uint64_t number) {
    return WeightSlot::Part{"attn.Wqkv.weight", {3 * hidden, hidden}, number * hidden};
  };
  add_matrix(kQ, "attn.Wq", hidden, hidden, false, part(0));
  add_matrix(kK, "attn.Wk", hidden, hidden, false, part(1));
  add_matrix(kV, "attn.Wv", hidden, hidden, false, part(2));
  add_matrix(kO, "attn.Wo", hidden, hidden);
  feed(kNormed, {kQ, kK, kV});
  feed(kMixed, {kO});
  if (layer > 0) add_vector(kNorm, "attn_norm.weight", hidden);
}

BlockWork ModernAttentionBlock::work() const {
  return attention_work(multiplications(), floats_per_row() / kWholeRows);
}

void ModernAttentionBlock::forward(const BlockWeights& weights, Pass& pass) const {
  const ModelConfig& config = pass.config();
  const uint64_t hidden = config.hidden_size;
  float* const q = pass.scratch(0);
  float* const k = pass.scratch(hidden);
  float* const v = pass.scratch(2 * hidden);
  float* const mixed = pass.scratch(3 * hidden);
  ops::Target projections[] = {{.w = &weights.matrices[kQ], .y = q, .y_stride = hidden},
                               {.w = &weights.matrices[kK], .y = k, .y_stride = hidden},
                               {.w = &weights.matrices[kV], .y = v, .y_stride = hidden}};
  const float* norm = weights.vector(kNorm);
  const ProductRows rows =
      norm == nullptr ? pass.stream_rows(kNormed) : pass.layer_norm(kNormed, norm, nullptr);
  pass.multiply(rows, {kQ, kK, kV}, projections);
  const ops::RopeRows rotated[] = {
      {q, config.head_count, nullptr, pass.type() != ComputeType::kF32},
      {k, config.head_count, nullptr, false}};
  if (is_local_) {
    pass.rotate_locally(rotated);
  } else {
    pass.rotate(rotated);
  }
  pass.attend(q, k, v, mixed, sight(config, is_local_));
  ops::Target output{
      .w = &weights.matrices[kO], .y = pass.hidden(), .y_stride = hidden, .adds_to_y = true};
  pass.multiply(pass.rows_of(kMixed, mixed, hidden), {kO}, {&output, 1});
}

ModernFeedForwardBlock::ModernFeedForwardBlock(const ModelConfig& config)
    : LayerBlock({{"mlp"}, {"mlpOutput"}}, config.intermediate_size),
      inner_(config.intermediate_size) {
  const uint64_t hidden = config.hidden_size;
  const auto part = [&](uint64_t number) {
    return WeightSlot::Part{"mlp.Wi.weight", {2 * inner_, hidden}, number * inner_};
  };
  add_vector(kNorm, "mlp_norm.weight", hidden);
  add_matrix(kGate, "mlp.Wgate", inner_, hidden, false, part(0));
  add_matrix(kUp, "mlp.Wup", inner_, hidden, true, part(1));
  add_matrix(kDown, "mlp.Wo", hidden, inner_);
  feed(kNormed, {kGate, kUp});
  feed(kGated, {kDown});
}

BlockWork ModernFeedForwardBlock::work() const { return {.row = multiplications()}; }

void ModernFeedForwardBlock::forward(const BlockWeights& weights, Pass& pass) const {
  const uint64_t hidden = pass.config().hidden_size;
  float* const gated = pass.scratch(0);
  const ops::Target target{.w = &weights.matrices[kGate],
                           .up = &weights.matrices[kUp],
                           .has_gelu = true,
                           .y = gated,
                           .y_stride = inner_};
  const ProductRows normed = pass.layer_norm(kNormed, weights.vector(kNorm), nullptr);
  const ProductRows activated = pass.multiply_to_rows(normed, {kGate, kUp}, target, kGated);
  ops::Target output{
      .w = &weights.matrices[kDown], .y = pass.hidden(), .y_stride = hidden, .adds_to_y = true};
  pass.multiply(activated, {kDown}, {&output, 1});
}

}  // namespace tessera::model
