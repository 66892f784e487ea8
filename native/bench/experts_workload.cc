#include "experts_workload.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "base/check.h"
#include "ops/quantise.h"

namespace tessera::bench {
namespace {

using device::PanelType;
using ops::PackedMatrix;

/// Not zero: products of zeros run faster than real ones.
std::vector<float> random_weights(uint64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

void write(device::Device& device, const PackedMatrix& to) {
  const std::vector<float> values = random_weights(to.k * to.columns);
  const tensor::TensorView view{values.data(), tensor::DType::kF32, 2, {to.columns, to.k}};
  (to.type == PanelType::kI8 ? ops::quantise : ops::pack)(device, view, to);
}

}  // namespace

void draw_choices(const ExpertsShape& shape, Routing routing, uint32_t draw,
                  const ops::Choices& to) {
  std::mt19937 random(draw);
  std::vector<uint32_t> ranks(shape.experts), order(shape.experts);
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::shuffle(ranks.begin(), ranks.end(), random);
  std::exponential_distribution<double> wait(1);
  std::vector<double> waits(shape.experts);
  // Without putting back: the first to arrive, each at its own rate.
  for (size_t row = 0; row < to.experts.size(); row += shape.chosen) {
    for (uint32_t expert = 0; expert < shape.experts; ++expert)
      waits[expert] = wait(random) * (routing == Routing::kZipf ? ranks[expert] + 1 : 1);
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + shape.chosen, order.end(),
                      [&](uint32_t a, uint32_t b) { return waits[a] < waits[b]; });
    std::copy_n(order.begin(), shape.chosen, to.experts.begin() + static_cast<ptrdiff_t>(row));
  }
  std::fill(to.weights.begin(), to.weights.end(), 1.0f / static_cast<float>(shape.chosen));
}

ExpertsWeights::ExpertsWeights(device::Device& device, PanelType type, const ExpertsShape& shape)
    : type_(type), shape_(shape) {
  TESSERA_CHECK(shape.hidden % 64 == 0 && shape.size % 64 == 0);
  TESSERA_CHECK(shape.experts % shape.chosen == 0);
  gated_bytes_ = 2 * ops::packed_bytes(type, shape.hidden, shape.size);
  down_bytes_ = ops::packed_bytes(type, shape.size, shape.hidden);
  if (type == PanelType::kI8) {
    gate_scales_ = ops::scale_count(shape.hidden, shape.size);
    down_scales_ = ops::scale_count(shape.size, shape.hidden);
  }
  const uint64_t experts = uint64_t{kLayers} * shape.experts;
  memory_ = std::move(device.allocate(experts * (gated_bytes_ + down_bytes_))).value();
  scales_.resize(experts * (2 * gate_scales_ + down_scales_));
  place();
  fill(device);
}

void ExpertsWeights::place() {
  const uint64_t experts = uint64_t{kLayers} * shape_.experts;
  const uint64_t panel = device::panel_bytes(type_, shape_.hidden);
  char* gates = memory_.as<char>();
  char* downs = gates + experts * gated_bytes_;
  float* gate_scales = scales_.data();
  float* up_scales = gate_scales + experts * gate_scales_;
  float* down_scales = up_scales + experts * gate_scales_;
  for (uint64_t expert = 0; expert < experts; ++expert) {
    gates_.push_back({type_, gates, shape_.hidden, shape_.size, 2 * panel, gate_scales});
    ups_.push_back({type_, gates + panel, shape_.hidden, shape_.size, 2 * panel, up_scales});
    downs_.push_back({type_, downs, shape_.size, shape_.hidden,
                      device::panel_bytes(type_, shape_.size), down_scales});
    gates += gated_bytes_;
    downs += down_bytes_;
    gate_scales += gate_scales_;
    up_scales += gate_scales_;
    down_scales += down_scales_;
  }
}

void ExpertsWeights::fill(device::Device& device) {
  for (const PackedMatrix* to : {&gates_[0], &ups_[0], &downs_[0]}) write(device, *to);
  for (size_t expert = 1; expert < gates_.size(); ++expert) {
    std::memcpy(gates_[expert].panels, gates_[0].panels, gated_bytes_);
    std::memcpy(downs_[expert].panels, downs_[0].panels, down_bytes_);
    if (type_ != PanelType::kI8) continue;
    std::copy_n(gates_[0].scales, gate_scales_, gates_[expert].scales);
    std::copy_n(ups_[0].scales, gate_scales_, ups_[expert].scales);
    std::copy_n(downs_[0].scales, down_scales_, downs_[expert].scales);
  }
}

ExpertsWeights::Layer ExpertsWeights::layer(uint32_t number) const {
  const size_t first = size_t{number} * shape_.experts;
  const auto of = [&](const std::vector<PackedMatrix>& all) {
    return std::span(all).subspan(first, shape_.experts);
  };
  return {of(gates_), of(ups_), of(downs_)};
}

ExpertsWeights::Dense ExpertsWeights::dense(uint32_t number) const {
  const size_t first = size_t{number} * shape_.chosen;
  const uint64_t size = shape_.chosen * shape_.size;
  Dense dense{gates_[first], ups_[first], downs_[first]};
  dense.gate.columns = dense.up.columns = size;
  dense.down.k = size;
  dense.down.panel_stride = device::panel_bytes(type_, size);
  TESSERA_CHECK(ops::packed_bytes(type_, size, shape_.hidden) == shape_.chosen * down_bytes_);
  return dense;
}

uint64_t ExpertsWeights::expert_bytes() const {
  return gated_bytes_ + down_bytes_ + (2 * gate_scales_ + down_scales_) * sizeof(float);
}

}  // namespace tessera::bench
