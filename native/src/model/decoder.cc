#include "model/decoder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "attention/attention.h"
#include "base/check.h"
#include "device/device.h"
#include "model/weights.h"
#include "ops/add.h"
#include "ops/convert.h"
#include "ops/embed.h"
#include "ops/gemm.h"
#include "ops/log_sum_exp.h"
#include "ops/rms_norm.h"
#include "ops/silu_mul.h"

namespace tessera::model {

using tensor::DType;
using tensor::TensorView;

struct Decoder::Impl {
  ModelConfig config;
  ComputeType type;
  device::Device& device;
  Weights weights;

  DType dtype() const { return type == ComputeType::kBf16 ? DType::kBf16 : DType::kF32; }
  uint64_t q_size() const { return uint64_t{config.head_count} * config.head_dim; }
  uint64_t kv_size() const { return uint64_t{config.kv_head_count} * config.head_dim; }

  /// The left side of a product takes the compute type.
  void round(float* x, uint64_t rows, uint64_t n) const {
    if (type == ComputeType::kBf16) ops::round_rows(device, x, rows, n);
  }

  void project(const float* x, uint64_t rows, const TensorView& w, const TensorView& bias,
               float* y) const {
    ops::gemm(device, x, rows, w, y, w.rows());
    if (bias.data != nullptr) {
      ops::add_bias(device, static_cast<const float*>(bias.data), rows, w.rows(), y);
    }
  }

  void norm(const float* x, uint64_t rows, const TensorView& weight, float* y) const {
    const float* data = static_cast<const float*>(weight.data);
    ops::rms_norm(device, x, rows, weight.columns(), data, config.rms_norm_eps, y);
  }
};

namespace {

/// Position of every row, and that the groups cover the rows in order.
void place_rows(const ForwardBatch& batch, std::span<uint32_t> positions) {
  uint32_t next = 0;
  for (const attention::RowGroup& group : batch.groups) {
    TESSERA_CHECK(group.first_row == next);
    TESSERA_CHECK(group.row_count <= positions.size() - next);
    for (uint32_t i = 0; i < group.row_count; ++i) {
      positions[next + i] = group.first_position + (group.beam == nullptr ? i : 0);
    }
    next += group.row_count;
  }
  TESSERA_CHECK(next == positions.size());
}

}  // namespace

Decoder::Decoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Decoder::~Decoder() = default;

Result<std::shared_ptr<const Decoder>> Decoder::load(const std::string& folder, ComputeType type,
                                                     device::Device& device) {
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  Result<Weights> weights = Weights::load(folder, config.value(), type, device);
  if (!weights.is_ok()) return weights.status();
  auto impl = std::unique_ptr<Impl>(
      new Impl{std::move(config).value(), type, device, std::move(weights).value()});
  return std::shared_ptr<const Decoder>(new Decoder(std::move(impl)));
}

const ModelConfig& Decoder::config() const { return impl_->config; }
ComputeType Decoder::compute_type() const { return impl_->type; }
const std::string& Decoder::digest() const { return impl_->weights.digest(); }

attention::BlockLayout Decoder::block_layout() const {
  return {impl_->config.layer_count, impl_->config.kv_head_count, impl_->config.head_dim,
          impl_->dtype()};
}

uint64_t Decoder::kv_bytes_per_position() const {
  return 2 * impl_->kv_size() * impl_->config.layer_count * tensor::dtype_size(impl_->dtype());
}

std::unique_ptr<Workspace> Decoder::make_workspace(uint32_t max_rows, uint32_t max_context) const {
  TESSERA_CHECK(max_rows > 0);
  Result<std::unique_ptr<Workspace>> workspace =
      Workspace::allocate(impl_->config, max_rows, max_context, impl_->device);
  return workspace.is_ok() ? std::move(workspace).value() : nullptr;
}

void Decoder::forward(const ForwardBatch& batch, Workspace& workspace) const {
  const Impl& m = *impl_;
  const ModelConfig& config = m.config;
  const uint64_t rows = batch.tokens.size();
  Workspace& ws = workspace;
  TESSERA_CHECK(rows <= ws.max_rows_);
  ws.rows_ = static_cast<uint32_t>(rows);
  const std::span<uint32_t> positions(ws.positions_.data(), rows);
  place_rows(batch, positions);
  ops::embed(m.device, m.weights.embedding(), batch.tokens, ws.hidden_);
  attention::Layer layer{0, config.head_count, block_layout()};
  for (const LayerWeights& w : m.weights.layers()) {
    m.norm(ws.hidden_, rows, w.input_norm, ws.normed_);
    m.round(ws.normed_, rows, config.hidden_size);
    m.project(ws.normed_, rows, w.q, w.q_bias, ws.q_);
    m.project(ws.normed_, rows, w.k, w.k_bias, ws.k_);
    m.project(ws.normed_, rows, w.v, w.v_bias, ws.v_);
    if (config.has_qk_norm()) {
      m.norm(ws.q_, rows * config.head_count, w.q_norm, ws.q_);
      m.norm(ws.k_, rows * config.kv_head_count, w.k_norm, ws.k_);
    }
    ops::rope(m.device, ws.q_, positions, config.head_count, config.head_dim, ws.rope_);
    ops::rope(m.device, ws.k_, positions, config.kv_head_count, config.head_dim, ws.rope_);
    m.round(ws.q_, rows, m.q_size());
    attention::write_kv(m.device, layer, batch.groups, ws.k_, ws.v_);
    attention::attend(m.device, layer, batch.groups, ws.q_, ws.mixed_, ws.attention_);
    m.round(ws.mixed_, rows, m.q_size());
    m.project(ws.mixed_, rows, w.o, w.o_bias, ws.normed_);
    ops::add(m.device, ws.normed_, rows, config.hidden_size, ws.hidden_);

    m.norm(ws.hidden_, rows, w.post_norm, ws.normed_);
    m.round(ws.normed_, rows, config.hidden_size);
    m.project(ws.normed_, rows, w.gate, {}, ws.gate_);
    m.project(ws.normed_, rows, w.up, {}, ws.up_);
    ops::silu_mul(m.device, ws.gate_, ws.up_, rows, config.intermediate_size, ws.gate_);
    m.round(ws.gate_, rows, config.intermediate_size);
    m.project(ws.gate_, rows, w.down, {}, ws.normed_);
    ops::add(m.device, ws.normed_, rows, config.hidden_size, ws.hidden_);
    layer.index += 1;
  }
  m.norm(ws.hidden_, rows, m.weights.final_norm(), ws.normed_);
  m.round(ws.normed_, rows, config.hidden_size);
}

bool Decoder::is_finite(const Workspace& workspace, uint32_t first, uint32_t count) const {
  TESSERA_CHECK(uint64_t{first} + count <= workspace.rows_);
  const uint64_t hidden = impl_->config.hidden_size;
  const float* values = workspace.normed_ + first * hidden;
  int32_t largest = 0;  // magnitudes compare as their bits do
  for (uint64_t i = 0; i < count * hidden; ++i)
    largest = std::max(largest, std::bit_cast<int32_t>(values[i]) & 0x7FFFFFFF);
  return largest < 0x7F800000;
}

void Decoder::logits(const Workspace& workspace, std::span<const uint32_t> rows,
                     std::span<const int32_t> token_ids, std::span<float> logits) const {
  TESSERA_CHECK(logits.size() == rows.size() * token_ids.size());
  for (const uint32_t row : rows) TESSERA_CHECK(row < workspace.rows_);
  ops::gemm_rows(impl_->device, workspace.normed_, rows, impl_->weights.head(), token_ids,
                 logits.data());
}

void Decoder::log_sum_exp(Workspace& workspace, std::span<const uint32_t> rows,
                          std::span<float> result) const {
  TESSERA_CHECK(rows.size() <= workspace.max_rows_);
  for (const uint32_t row : rows) TESSERA_CHECK(row < workspace.rows_);
  ops::log_sum_exp(impl_->device, workspace.normed_, rows, impl_->weights.head(),
                   workspace.log_sum_exp_, result);
}

}  // namespace tessera::model
