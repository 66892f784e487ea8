#include "model/pass.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "attention/attention.h"
#include "base/check.h"
#include "ops/convert.h"
#include "ops/embed.h"
#include "ops/expert_product.h"
#include "ops/for_rows.h"
#include "ops/layer_norm.h"
#include "ops/rms_norm.h"
#include "ops/sigmoid_gate.h"

namespace tessera::model {
namespace {

/// Adds the microseconds that `work` takes.
template <typename Work>
void timed(float& us, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  us += std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// x = gelu(x) up by tanh (Hendrycks and Gimpel 2016, arXiv:1606.08415):
/// x / 2 (1 + tanh(t / 2)) = x sigmoid(t) with t = c x, so silu(t) / c. `up` may be null: 1.
void gelu_by_tanh(const device::KernelTable& kernels, float* x, float* up, uint64_t count) {
  constexpr float kSlope = 1.5957691216057308f;  // sqrt(8 / pi)
  constexpr float kCubic = 0.044715f;
  constexpr uint64_t kAtOnce = 64;
  float factors[kAtOnce];
  for (uint64_t begin = 0; begin < count; begin += kAtOnce) {
    const uint64_t n = std::min(kAtOnce, count - begin);
    float* const from = x + begin;
    for (uint64_t i = 0; i < n; ++i) {
      const float slope = kSlope * (1 + kCubic * from[i] * from[i]);
      factors[i] = (up == nullptr ? 1.0f : up[begin + i]) / slope;
      from[i] *= slope;
    }
    kernels.silu_mul(from, factors, n, from);
  }
}

}  // namespace

template <typename Use>
void Pass::for_blocks(const Layer& layer, std::span<const BlockWeights> weights, const Use& use) {
  first_input_ = first_matrix_ = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const LayerBlock& block = *layer.blocks[i];
    use(block, weights[i]);
    first_input_ += static_cast<uint32_t>(block.inputs().size());
    first_matrix_ += block.matrix_count();
  }
  attention_layer_ += config().has_keys(layer_) ? 1 : 0;
  layer_ += 1;
}

void Pass::run(const Layer& layer, std::span<const BlockWeights> weights) {
  for_blocks(layer, weights, [this](const LayerBlock& block, const BlockWeights& own) {
    block.forward(own, *this);
  });
}

void Pass::keep_encoded(const Layer& layer, std::span<const BlockWeights> weights) {
  for_blocks(layer, weights, [this](const LayerBlock& block, const BlockWeights& own) {
    block.keep_encoded(own, *this);
  });
}

float* Pass::hidden() {
  run_pending_norm();
  return workspace_.hidden_;
}

void Pass::run_pending_norm() {
  if (!pending_norm_) return;
  ops::layer_norm(device_, workspace_.hidden_, rows(), config().hidden_size, *pending_norm_,
                  workspace_.hidden_);
  pending_norm_.reset();
}

float* Pass::scratch(uint64_t offset) {
  return workspace_.scratch_ + offset * workspace_.max_rows_;
}

ops::Operand Pass::operand(uint32_t input, uint64_t k, Workspace::Side side) {
  ops::Operand x = workspace_.operand(layer_panels(type_), rows(), k, side);
  if (type_ == ComputeType::kW8A8Static) {
    const StaticInput& scales = static_scales_->input(layer_, first_input_ + input);
    TESSERA_CHECK(scales.factors.size() >= k);
    x.factors = scales.factors.data();
    x.offsets = scales.shifts.data();
    ops::clear_marks(x);
    return x;
  }
  x.fixed_scale = scales_of(input)[0];
  return x;
}

void Pass::measure(uint32_t input, const float* floats, uint64_t rows, uint64_t k) {
  if (workspace_.input_ranges_ != nullptr) {
    workspace_.input_ranges_->add(layer_, first_input_ + input, floats, rows, k);
  }
  if (workspace_.ranges_ == nullptr) return;
  workspace_.ranges_->add({layer_, first_input_ + input}, floats, rows, k);
}

void Pass::measure_experts(uint32_t input, const ExpertInput& x) {
  if (workspace_.ranges_ == nullptr) return;
  for (const ops::ExpertGroup& group : workspace_.experts_.rows().groups()) {
    workspace_.ranges_->add({layer_, first_input_ + input, group.expert},
                            x.floats + group.first * x.k, group.count, x.k);
  }
}

ProductRows Pass::norm(uint32_t input, const float* weight) {
  const ProductRows x{operand(input, config().hidden_size), workspace_.normed_};
  ops::rms_norm(device_, workspace_.hidden_, weight, config().rms_norm_eps, workspace_.normed_,
                x.operand);
  measure(input, x.floats, rows(), x.operand.k);
  return x;
}

ProductRows Pass::layer_norm(uint32_t input, const float* weight, const float* bias) {
  run_pending_norm();
  const ProductRows x{operand(input, config().hidden_size), workspace_.normed_};
  ops::layer_norm(device_, workspace_.hidden_, {weight, bias, config().encoder.epsilon},
                  workspace_.normed_, x.operand);
  measure(input, x.floats, rows(), x.operand.k);
  return x;
}

void Pass::normalise_stream(const float* weight, const float* bias) {
  run_pending_norm();
  pending_norm_ = {weight, bias, config().encoder.epsilon};
}

ProductRows Pass::stream_rows(uint32_t input) {
  const ProductRows x{operand(input, config().hidden_size), workspace_.hidden_};
  if (pending_norm_) {
    ops::layer_norm(device_, workspace_.hidden_, *pending_norm_, workspace_.hidden_, x.operand);
    pending_norm_.reset();
  } else {
    ops::write_operand(device_, workspace_.hidden_, x.operand.k, x.operand);
  }
  measure(input, x.floats, rows(), x.operand.k);
  return x;
}

ProductRows Pass::multiply_to_rows(const ProductRows& x, std::initializer_list<uint32_t> matrices,
                                   ops::Target target, uint32_t input) {
  const uint64_t k = target.w->columns;
  if (type_ != ComputeType::kW8A8Static) {
    multiply(x, matrices, {&target, 1});
    return rows_of(input, target.y, k);
  }
  const ProductRows made{operand(input, k, Workspace::Side::kMade), nullptr};
  target.operand = &made.operand;
  multiply(x, matrices, {&target, 1});
  return made;
}

void Pass::add_positions(const float* table) {
  ops::add_rows(device_, table, config().hidden_size, {workspace_.positions_.data(), rows()},
                workspace_.hidden_);
}

void Pass::add_segments(const float* table) {
  ops::add_rows(device_, table, config().hidden_size, batch_.segments, workspace_.hidden_);
}

const float* Pass::norm_floats(uint32_t input, const float* weight) {
  const uint64_t hidden = config().hidden_size;
  ops::rms_norm(device_, workspace_.hidden_, rows(), hidden, weight, config().rms_norm_eps,
                workspace_.normed_);
  measure(input, workspace_.normed_, rows(), hidden);
  return workspace_.normed_;
}

ProductRows Pass::rows_of(uint32_t input, const float* floats, uint64_t k) {
  const ProductRows x{operand(input, k), floats};
  ops::write_operand(device_, floats, k, x.operand);
  measure(input, floats, rows(), k);
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

void Pass::normalise(float* x, uint64_t n, const float* weight) {
  ops::rms_norm(device_, x, rows(), n, weight, config().rms_norm_eps, x);
}

void Pass::scale_by_sigmoid(const float* x, const float* w, float* y, uint64_t n) {
  ops::scale_by_sigmoid(device_, {x, w, config().hidden_size, y, n}, rows());
}

void Pass::copy_queries(const float* both, float* q) {
  ops::copy_queries(device_, {both, config().head_count, config().head_dim}, rows(), q);
}

void Pass::scale_by_gates(const float* both, float* y) {
  ops::scale_by_gates(device_, {both, config().head_count, config().head_dim}, rows(), y);
}

void Pass::choose(const ops::Router& router, const float* x) {
  workspace_.experts_.choose(device_, router, x, rows(), config().hidden_size);
  const ops::ExpertRows& chosen = workspace_.experts_.rows();
  ExpertUse& use = workspace_.expert_use_;
  use.rows += chosen.rows().size();
  use.places += chosen.places();
  use.touched += chosen.groups().size();
}

void Pass::multiply_experts(uint32_t input, const ExpertInput& x, const BlockWeights& weights,
                            uint32_t first_gate, uint32_t first_up, float* y) {
  timed(workspace_.times_.projections_us, [&] {
    ExpertScratch& experts = workspace_.experts_;
    const ops::Operand operand = experts.operand(device_, x, scales_of(input));
    const std::array first = {first_matrix_ + first_gate, first_matrix_ + first_up};
    const ExpertScratch::Terms terms =
        experts.project(device_, batch_.adapters, layer_, first, x, operand);
    const std::span<const ops::PackedMatrix> matrices(weights.matrices);
    ops::multiply_gated(
        device_, experts.rows(), operand,
        {matrices.subspan(first_gate), matrices.subspan(first_up), terms[0], terms[1], y});
  });
}

void Pass::add_experts(uint32_t input, const ExpertInput& x, const BlockWeights& weights,
                       uint32_t first_matrix) {
  ExpertScratch& experts = workspace_.experts_;
  measure_experts(input, x);
  timed(workspace_.times_.projections_us, [&] {
    const ops::Operand operand = experts.operand(device_, x, scales_of(input));
    const std::array first = {first_matrix_ + first_matrix};
    const ExpertScratch::Terms terms =
        experts.project(device_, batch_.adapters, layer_, first, x, operand);
    ops::add_products(device_, experts.rows(), operand,
                      {std::span<const ops::PackedMatrix>(weights.matrices).subspan(first_matrix),
                       terms[0], hidden()});
  });
}

void Pass::rotate(std::span<const ops::RopeRows> rotated) {
  ops::rope(device_, rotated, {workspace_.positions_.data(), rows()}, config().head_dim,
            config().rms_norm_eps, workspace_.angles_.table);
}

void Pass::rotate_locally(std::span<const ops::RopeRows> rotated) {
  ops::rope(device_, rotated, {workspace_.positions_.data(), rows()}, config().head_dim, 0,
            workspace_.local_angles_.table);
}

void Pass::round(float* x, uint64_t n) {
  if (type_ == ComputeType::kF32) return;
  ops::round_bf16(device_, x, rows(), n);
}

attention::Layer Pass::attention_layer(const attention::Sight& sight) const {
  attention::Layer layer{attention_layer_, config().head_count, recipe_.block_layout(type_), sight};
  if (config().encodes_prompts()) layer.factor = 1;
  if (!batch_.keeps_layers) {
    layer.index = 0;
    layer.layout.layers = 1;
  }
  return layer;
}

void Pass::attend_encoded(const float* q, float* mixed) {
  const attention::Layer layer = attention_layer({.part = attention::Sight::Part::kEncoded});
  timed(workspace_.times_.attention_us,
        [&] { attention::attend(device_, layer, batch_.groups, q, mixed, workspace_.attention_); });
}

void Pass::keep(const float* k, const float* v) {
  attention::write_kv(device_, attention_layer({}), batch_.groups, k, v);
}

void Pass::set_biases(const float* table, bool is_encoder) {
  workspace_.biases_.fill(table, config().head_count, is_encoder);
}

attention::Sight Pass::sight(bool is_encoder) const {
  using Part = attention::Sight::Part;
  return {.is_causal = !is_encoder,
          .part = is_encoder ? Part::kWhole : Part::kDecoded,
          .bias = workspace_.biases_.bias()};
}

void Pass::activate(T5Config::Activation activation, float* x, float* up, uint64_t n) {
  const device::KernelTable& kernels = device_.kernels();
  ops::for_rows(device_, rows(), n, [&](uint64_t begin, uint64_t end) {
    float* const from = x + begin * n;
    float* const times = up == nullptr ? nullptr : up + begin * n;
    const uint64_t count = (end - begin) * n;
    switch (activation) {
      case T5Config::Activation::kRelu:
        for (uint64_t i = 0; i < count; ++i)
          from[i] = std::max(from[i], 0.0f) * (times == nullptr ? 1.0f : times[i]);
        return;
      case T5Config::Activation::kGelu: return kernels.gelu(from, count, from);
      case T5Config::Activation::kGeluTanh: return gelu_by_tanh(kernels, from, times, count);
      case T5Config::Activation::kSilu: return kernels.silu_mul(from, times, count, from);
    }
  });
}

void Pass::attend(const float* q, const float* k, const float* v, float* mixed,
                  const attention::Sight& sight) {
  const attention::Layer layer = attention_layer(sight);
  attention::write_kv(device_, layer, batch_.groups, k, v);
  timed(workspace_.times_.attention_us,
        [&] { attention::attend(device_, layer, batch_.groups, q, mixed, workspace_.attention_); });
}

void Pass::recur(const attention::DeltaWeights& weights, const attention::DeltaRows& rows) {
  timed(workspace_.times_.attention_us, [&] {
    attention::delta_rule(device_, recipe_.delta_shape(type_), layer_ - attention_layer_,
                          batch_.groups, weights, rows, workspace_.delta_);
  });
}

}  // namespace tessera::model
