#include "cuda/model/card_layers.h"

#include "cuda/kernels/forward_kernels.h"

namespace tessera::model::cuda {
namespace {

using device::cuda::ceil_of;
using device::cuda::LaunchShape;
using ops::cuda::kMultiplyThreads;
using ops::cuda::kMultiplyTile;

LaunchShape rows_shape(uint32_t rows) { return {{rows, 1, 1}, {ops::cuda::kRowThreads, 1, 1}}; }

}  // namespace

attention::cuda::Layer CardLayers::shape_of(uint32_t layer) const {
  return {layer, config_.head_count, config_.kv_head_count, config_.head_dim};
}

/// BF16 by the library, whose sums are finished with the terms of adapters where there are any;
/// INT8, with its scales of tiles, by a kernel of ours.
Status CardLayers::multiply(const CardPlan& plan, uint32_t layer, CardProduct number,
                            const Factors& factors) const {
  ops::cuda::Product product;
  product.rows = plan.rows;
  product.columns = factors.columns;
  product.bias = factors.bias;
  product.y = factors.y;
  if (!plan.layers.empty()) {
    const TermRange& terms = plan.layers[layer][static_cast<size_t>(number)];
    product.terms = terms.terms;
    product.term_count = terms.count;
    TESSERA_RETURN_IF_ERROR(project(terms, factors));
  }
  const LaunchShape shape{
      {ceil_of(factors.columns, kMultiplyTile), ceil_of(plan.rows, kMultiplyTile), 1},
      {kMultiplyThreads, 1, 1}};
  if (factors.w.values != nullptr) {
    TESSERA_RETURN_IF_ERROR(multiply_whole(product, factors));
    if (product.term_count == 0) return Status::ok();
    product.sums = card_.sums;
    return device::cuda::launch(queue_, kMultiply, shape, product);
  }
  const ops::cuda::Quantised sides{card_.quantised, card_.quantised_scales, factors.w.quantised,
                                   factors.w.scales, factors.w.tiles()};
  const LaunchShape rows{{plan.rows, 1, 1}, {ops::cuda::kQuantiseThreads, 1, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kQuantiseRows, rows, factors.x, factors.w.k,
                                               card_.quantised, card_.quantised_scales));
  return device::cuda::launch(queue_, kMultiplyI8, shape, product, sides);
}

/// x A^T of the terms.
Status CardLayers::project(const TermRange& terms, const Factors& factors) const {
  if (terms.count == 0) return Status::ok();
  const LaunchShape shape{
      {ops::cuda::kRankMax / kMultiplyTile, ceil_of(terms.rows_max, kMultiplyTile), terms.count},
      {kMultiplyThreads, 1, 1}};
  return device::cuda::launch(queue_, kProject, shape, factors.x, factors.w.k, terms.terms);
}

/// The product without terms; its sums alone where it has some.
Status CardLayers::multiply_whole(const ops::cuda::Product& product, const Factors& factors) const {
  TesseraCardProduct whole{};
  whole.x = factors.x;
  whole.w = factors.w.values;
  whole.rows = product.rows;
  whole.columns = product.columns;
  whole.k = factors.w.k;
  if (product.term_count > 0) {
    whole.y_f32 = card_.sums;
  } else {
    whole.bias = product.bias;
    whole.y = product.y;
  }
  return queue_.multiply(whole);
}

Status CardLayers::norm(const CardPlan& plan, const uint16_t* added, const uint16_t* weight,
                        float* exact) const {
  return device::cuda::launch(queue_, kAddRmsNorm, rows_shape(plan.rows), added, weight,
                              config_.hidden_size, config_.rms_norm_eps, card_.hidden, card_.normed,
                              exact);
}

/// Keys and values of all rows, before any row attends.
Status CardLayers::place(const CardPlan& plan, uint32_t layer) const {
  const CardLayer& weights = weights_.layers()[layer];
  ops::cuda::Heads heads;
  heads.heads = config_.head_count;
  heads.kv_heads = config_.kv_head_count;
  heads.head_dim = config_.head_dim;
  heads.layer = layer;
  heads.epsilon = config_.rms_norm_eps;
  heads.q_norm = weights.q_norm;
  heads.k_norm = weights.k_norm;
  heads.cosines = card_.cosines;
  heads.sines = card_.sines;
  heads.projected = card_.projected;
  heads.positions = plan.positions;
  heads.places = plan.places;
  heads.q = card_.q;
  const LaunchShape shape{
      {plan.rows, ceil_of(heads.heads + 2 * heads.kv_heads, ops::cuda::kHeadsAtOnce), 1},
      {32, ops::cuda::kHeadsAtOnce, 1}};
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kPlaceHeads, shape, heads));
  if (plan.mirror_count == 0) return Status::ok();
  const LaunchShape mirrors{{plan.mirror_count, 2 * heads.kv_heads, 1},
                            {attention::cuda::kBlockThreads, 1, 1}};
  return device::cuda::launch(queue_, kMirror, mirrors, shape_of(layer), plan.mirrors);
}

Status CardLayers::attend(const CardPlan& plan, uint32_t layer) const {
  const attention::cuda::Layer shape = shape_of(layer);
  const uint32_t queries = plan.group_rows_max * (shape.heads / shape.kv_heads);
  if (plan.splits > 0) {
    TESSERA_RETURN_IF_ERROR(
        queue_.attend({plan.prompts, layer, shape.heads, shape.kv_heads, shape.head_dim,
                       ceil_of(queries, attention::cuda::kQueriesPerTile), plan.splits}));
  }
  const LaunchShape merge{{plan.rows, shape.heads, 1}, {attention::cuda::kMergeThreads, 1, 1}};
  return device::cuda::launch(queue_, kAttendMerge, merge, shape, plan.groups);
}

Status CardLayers::launch_layer(const CardPlan& plan, uint32_t layer) const {
  const CardLayer& w = weights_.layers()[layer];
  const uint32_t hidden = config_.hidden_size, inner = config_.intermediate_size;
  const auto all = static_cast<uint32_t>(config_.q_size() + 2 * config_.kv_size());
  const uint16_t* const added = layer == 0 ? nullptr : card_.added;
  TESSERA_RETURN_IF_ERROR(norm(plan, added, w.input_norm, nullptr));
  TESSERA_RETURN_IF_ERROR(multiply(plan, layer, CardProduct::kQkv,
                                   {card_.normed, w.qkv, all, w.qkv_bias, card_.projected}));
  TESSERA_RETURN_IF_ERROR(place(plan, layer));
  TESSERA_RETURN_IF_ERROR(attend(plan, layer));
  TESSERA_RETURN_IF_ERROR(
      multiply(plan, layer, CardProduct::kO, {card_.mixed, w.o, hidden, w.o_bias, card_.added}));
  TESSERA_RETURN_IF_ERROR(norm(plan, card_.added, w.post_norm, nullptr));
  TESSERA_RETURN_IF_ERROR(multiply(plan, layer, CardProduct::kGateUp,
                                   {card_.normed, w.gate_up, 2 * inner, nullptr, card_.gate_up}));
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kSiluMul, rows_shape(plan.rows),
                                               card_.gate_up, inner, card_.gated));
  return multiply(plan, layer, CardProduct::kDown,
                  {card_.gated, w.down, hidden, nullptr, card_.added});
}

Status CardLayers::launch(const CardPlan& plan) const {
  TESSERA_RETURN_IF_ERROR(device::cuda::launch(queue_, kEmbed, rows_shape(plan.rows), plan.embedded,
                                               config_.hidden_size, card_.hidden));
  for (uint32_t layer = 0; layer < config_.layer_count; ++layer)
    TESSERA_RETURN_IF_ERROR(launch_layer(plan, layer));
  return norm(plan, card_.added, weights_.final_norm(), card_.final_rows);
}

Status CardLayers::check(uint32_t rows) const {
  const ops::cuda::RowCheck check{card_.final_rows, config_.hidden_size, card_.struck};
  return device::cuda::launch(queue_, kCheckRows, rows_shape(rows), check);
}

}  // namespace tessera::model::cuda
