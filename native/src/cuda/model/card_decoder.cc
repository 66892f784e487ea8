#include "cuda/model/card_decoder.h"

#include <algorithm>

#include "attention/attention.h"
#include "base/check.h"
#include "cuda/kernels/forward_kernels.h"
#include "cuda/model/card_plan.h"
#include "ops/rope.h"

namespace tessera::model::cuda {
namespace {

using attention::cuda::kBlockPositions;
using attention::cuda::kSplitPositions;
using device::cuda::ceil_of;
using device::cuda::LaunchShape;
using device::cuda::Memory;

constexpr uint64_t kPlanBytesPerRow = 512;  // token, position, place, a group of its own
constexpr uint64_t kPlanBytesSpare = 4096;  // rounding, and the group of spare rows
constexpr unsigned kHeadThreads = 32;

}  // namespace

Result<std::unique_ptr<CardDecoder>> CardDecoder::load(const std::string& folder,
                                                       const CardLimits& limits,
                                                       device::cuda::Queue& queue) {
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  auto decoder =
      std::unique_ptr<CardDecoder>(new CardDecoder(std::move(config).value(), limits, queue));
  Result<CardWeights> weights = CardWeights::load(folder, decoder->config_, queue);
  if (!weights.is_ok()) return weights.status();
  decoder->weights_ = std::move(weights).value();
  TESSERA_RETURN_IF_ERROR(decoder->allocate());
  TESSERA_RETURN_IF_ERROR(decoder->fill_rope());
  return decoder;
}

uint64_t CardDecoder::block_bytes() const {
  return uint64_t{config_.layer_count} * 2 * config_.kv_head_count * kBlockPositions *
         config_.head_dim * sizeof(uint16_t);
}

uint32_t CardDecoder::splits_max() const { return ceil_of(limits_.context, kSplitPositions); }

Status CardDecoder::allocate() {
  const uint64_t rows = limits_.rows, hidden = config_.hidden_size,
                 inner = config_.intermediate_size;
  const uint64_t q = uint64_t{config_.head_count} * config_.head_dim;
  const uint64_t kv = uint64_t{config_.kv_head_count} * config_.head_dim;
  const uint64_t angles =
      (uint64_t{limits_.context} + attention::kMaxSteps) * (config_.head_dim / 2);
  const uint64_t blocks = ceil_of(limits_.context, kBlockPositions);
  plan_bytes_ =
      rows * (kPlanBytesPerRow + (blocks + attention::kMaxSteps) * sizeof(void*)) + kPlanBytesSpare;
  const auto lay = [&](char* base) {
    device::cuda::Arrays arrays(base);
    arrays.take(hidden_, rows * hidden);
    arrays.take(normed_, rows * hidden);
    arrays.take(added_, rows * hidden);
    arrays.take(projected_, rows * (q + 2 * kv));
    arrays.take(q_, rows * q);
    arrays.take(mixed_, rows * q);
    arrays.take(gate_up_, rows * 2 * inner);
    arrays.take(gated_, rows * inner);
    arrays.take(part_values_, splits_max() * rows * q);
    arrays.take(parts_, splits_max() * rows * config_.head_count);
    arrays.take(head_logits_, uint64_t{limits_.head_rows} * config_.vocab_size);
    arrays.take(cosines_, angles);
    arrays.take(sines_, angles);
    arrays.take(plan_, plan_bytes_);
    return arrays.bytes();
  };
  Result<Memory> memory = Memory::allocate(queue_, lay(nullptr));
  if (!memory.is_ok()) return memory.status();
  memory_ = std::move(memory).value();
  lay(memory_.as<char>());
  staged_.resize(plan_bytes_);
  return Status::ok();
}

Status CardDecoder::fill_rope() {
  const uint64_t positions = uint64_t{limits_.context} + attention::kMaxSteps;
  std::vector<float> cosines(positions * (config_.head_dim / 2)), sines(cosines.size());
  ops::fill_rope_table(config_.rope_frequencies(), config_.rope.magnitude, positions,
                       cosines.data(), sines.data());
  const uint64_t bytes = cosines.size() * sizeof(float);
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(cosines_, cosines.data(), bytes));
  return queue_.copy_in(sines_, sines.data(), bytes);
}

Status CardDecoder::multiply(const uint16_t* x, uint32_t k, const uint16_t* w, uint32_t columns,
                             const uint16_t* bias, uint16_t* y) {
  ops::cuda::Product product;
  product.x = x;
  product.rows = rows_;
  product.k = k;
  product.w = w;
  product.columns = columns;
  product.bias = bias;
  product.y = y;
  const LaunchShape shape{
      {ceil_of(columns, ops::cuda::kMultiplyTile), ceil_of(rows_, ops::cuda::kMultiplyTile), 1},
      {ops::cuda::kMultiplyThreads, 1, 1}};
  return device::cuda::launch(queue_, kMultiply, shape, product);
}

Status CardDecoder::norm(const uint16_t* added, const uint16_t* weight) {
  const LaunchShape shape{{rows_, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  return device::cuda::launch(queue_, kAddRmsNorm, shape, added, weight, config_.hidden_size,
                              config_.rms_norm_eps, hidden_, normed_);
}

Status CardDecoder::attend(const Plan& plan, uint32_t layer, const CardLayer& weights) {
  ops::cuda::Heads heads;
  heads.heads = config_.head_count;
  heads.kv_heads = config_.kv_head_count;
  heads.head_dim = config_.head_dim;
  heads.layer = layer;
  heads.epsilon = config_.rms_norm_eps;
  heads.q_norm = weights.q_norm;
  heads.k_norm = weights.k_norm;
  heads.cosines = cosines_;
  heads.sines = sines_;
  heads.projected = projected_;
  heads.positions = plan.positions;
  heads.places = plan.places;
  heads.q = q_;
  const LaunchShape place{{rows_, heads.heads + 2 * heads.kv_heads, 1}, {kHeadThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kPlaceHeads, place, heads));
  const attention::cuda::Layer shape{layer, heads.heads, heads.kv_heads, heads.head_dim};
  const uint32_t queries = plan.group_rows_max * (heads.heads / heads.kv_heads);
  const LaunchShape prompt{
      {ceil_of(queries, attention::cuda::kQueriesPerTile), heads.kv_heads, plan.splits},
      {attention::cuda::kAttendThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kAttendPrompt, prompt, shape, plan.groups));
  const LaunchShape merge{{rows_, heads.heads, 1}, {attention::cuda::kMergeThreads, 1, 1}};
  return device::cuda::launch(queue_, kAttendMerge, merge, shape, plan.groups);
}

Status CardDecoder::forward(std::span<const int32_t> tokens, std::span<const CardRows> groups) {
  return run(lay_out(tokens, nullptr, groups));
}

Status CardDecoder::forward(const int32_t* card_tokens, std::span<const CardRows> groups) {
  return run(lay_out({}, card_tokens, groups));
}

Status CardDecoder::run(const Plan& plan) {
  rows_ = plan.rows;
  TESSERA_RETURN_IF_ERROR(queue_.copy_in(plan_, staged_.data(), plan.bytes));
  const device::cuda::ChainShape shape = {plan.rows, plan.groups_max, plan.splits,
                                          plan.group_rows_max,
                                          reinterpret_cast<uint64_t>(plan.tokens)};
  return graphs_.run(shape, [&] { return launch_layers(plan); });
}

Status CardDecoder::launch_layers(const Plan& plan) {
  const uint32_t hidden = config_.hidden_size, inner = config_.intermediate_size;
  const uint32_t q = config_.head_count * config_.head_dim;
  const uint32_t kv = config_.kv_head_count * config_.head_dim;
  const LaunchShape row{{rows_, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(
      device::cuda::launch(queue_, kEmbed, row, plan.tokens, weights_.embedding, hidden, hidden_));
  const uint16_t* added = nullptr;  // of the layer before
  for (uint32_t layer = 0; layer < config_.layer_count; ++layer) {
    const CardLayer& w = weights_.layers[layer];
    TESSERA_RETURN_IF_ERROR(norm(added, w.input_norm));
    TESSERA_RETURN_IF_ERROR(multiply(normed_, hidden, w.qkv, q + 2 * kv, w.qkv_bias, projected_));
    TESSERA_RETURN_IF_ERROR(attend(plan, layer, w));
    TESSERA_RETURN_IF_ERROR(multiply(mixed_, q, w.o, hidden, w.o_bias, added_));
    TESSERA_RETURN_IF_ERROR(norm(added_, w.post_norm));
    TESSERA_RETURN_IF_ERROR(multiply(normed_, hidden, w.gate_up, 2 * inner, nullptr, gate_up_));
    TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kSiluMul, row, gate_up_, inner, gated_));
    TESSERA_RETURN_IF_ERROR(multiply(gated_, inner, w.down, hidden, nullptr, added_));
    added = added_;
  }
  return norm(added, weights_.final_norm);
}

Status CardDecoder::head(const uint32_t* rows, uint32_t row_count, const int32_t* ids,
                         uint32_t id_count, float* logits, float* sums) {
  TESSERA_CHECK(row_count <= limits_.head_rows);
  ops::cuda::Product product;
  product.x = normed_;
  product.x_rows = rows;
  product.rows = row_count;
  product.k = config_.hidden_size;
  product.w = weights_.head;
  product.w_rows = ids;
  product.columns = id_count;
  product.y_f32 = logits;
  LaunchShape shape{{ceil_of(id_count, ops::cuda::kMultiplyTile),
                     ceil_of(row_count, ops::cuda::kMultiplyTile), 1},
                    {ops::cuda::kMultiplyThreads, 1, 1}};
  if (id_count > 0) {
    TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kMultiply, shape, product));
  }
  if (sums == nullptr) return Status::ok();
  product.w_rows = nullptr;
  product.columns = config_.vocab_size;
  product.y_f32 = head_logits_;
  shape.grid[0] = ceil_of(product.columns, ops::cuda::kMultiplyTile);
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kMultiply, shape, product));
  const LaunchShape row{{row_count, 1, 1}, {ops::cuda::kRowThreads, 1, 1}};
  return device::cuda::launch(queue_, kLogSumExp, row, head_logits_, config_.vocab_size, sums);
}

}  // namespace tessera::model::cuda
