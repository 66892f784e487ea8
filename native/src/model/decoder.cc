#include "model/decoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <utility>

#include "attention/attention.h"
#include "base/check.h"
#include "device/device.h"
#include "model/weights.h"
#include "ops/embed.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"

namespace tessera::model {

struct Decoder::Impl {
  ModelConfig config;
  ComputeType type;
  device::Device& device;
  Weights weights;
  std::vector<LayerScales> scales;  // per layer; zeros where rows have scales of their own
  std::string numbers;
  bool has_fixed_scales = false;
  std::mutex digest_mutex{};
  std::string digest{};  // guarded by digest_mutex

  uint64_t q_size() const { return uint64_t{config.head_count} * config.head_dim; }
  uint64_t kv_size() const { return uint64_t{config.kv_head_count} * config.head_dim; }

  void embed(std::span<const int32_t> tokens, float* y) const {
    if (weights.embedding().data == nullptr) {
      ops::embed(device, weights.head(), tokens, y);
    } else {
      ops::embed(device, weights.embedding(), tokens, y);
    }
  }

  /// The left side of the products that take this input of this layer.
  ops::Operand operand(Workspace& ws, uint32_t layer, LinearInput input, uint64_t rows,
                       uint64_t k) const {
    ops::Operand x = ws.operand(layer_panels(type), rows, k);
    x.fixed_scale = scales[layer][static_cast<size_t>(input)];
    return x;
  }

  /// The same, written: the normalised rows of the residual stream.
  ops::Operand norm(Workspace& ws, uint32_t layer, LinearInput input, uint64_t rows,
                    const float* weight) const {
    const ops::Operand x = operand(ws, layer, input, rows, config.hidden_size);
    ops::rms_norm(device, ws.hidden_, weight, config.rms_norm_eps, ws.normed_, x);
    if (ws.ranges_ != nullptr) ws.ranges_->add(layer, input, ws.normed_, rows, x.k);
    return x;
  }

  /// The same, written from rows of floats.
  ops::Operand operand_of(Workspace& ws, uint32_t layer, LinearInput input, const float* rows_of_x,
                          uint64_t rows, uint64_t k) const {
    const ops::Operand x = operand(ws, layer, input, rows, k);
    ops::write_operand(device, rows_of_x, k, x);
    if (ws.ranges_ != nullptr) ws.ranges_->add(layer, input, rows_of_x, rows, k);
    return x;
  }

  void attend(const ForwardBatch& batch, const attention::Layer& layer, const LayerWeights& w,
              Workspace& ws) const;
  void feed_forward(const ForwardBatch& batch, uint32_t layer, const LayerWeights& w,
                    Workspace& ws) const;
  /// Products of one operand, with the terms of the batch's adapters.
  template <size_t N>
  void multiply(const ForwardBatch& batch, uint32_t layer, const ops::Operand& x,
                const float* rows_of_x, ops::LowRank LayerAdapter::*const (&members)[N],
                std::span<ops::Target> targets, Workspace& ws) const;
};

namespace {

/// Adds the microseconds that `work` takes.
template <typename Work>
void timed(float& us, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  us += std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
}

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

/// F32 products are the same in every numeric class.
std::string numbers_text(ComputeType type, const device::Device& device,
                         const std::vector<LayerScales>* fixed) {
  const device::NumericClass numbers =
      type == ComputeType::kF32 ? device::NumericClass::kFma : device.kernels().numeric_class;
  std::string text(compute_type_name(type));
  if (type == ComputeType::kW8A8) text += "-64";  // inputs that share a scale (ADR 0024)
  text.append("/").append(device::numeric_class_name(numbers));
  if (fixed == nullptr) return text;
  char digest[17];
  std::snprintf(digest, sizeof digest, "%016llx",
                static_cast<unsigned long long>(
                    XXH3_64bits(fixed->data(), fixed->size() * sizeof(LayerScales))));
  return text + "/" + digest;
}

}  // namespace

template <size_t N>
void Decoder::Impl::multiply(const ForwardBatch& batch, uint32_t layer, const ops::Operand& x,
                             const float* rows_of_x,
                             ops::LowRank LayerAdapter::*const (&members)[N],
                             std::span<ops::Target> targets, Workspace& ws) const {
  timed(ws.times_.projections_us, [&] {
    const AdapterScratch::Terms terms =
        ws.adapters_.project(device, batch.adapters, layer, members, x, rows_of_x);
    for (size_t i = 0; i < targets.size(); ++i) targets[i].terms = terms[i];
    if (targets[0].up != nullptr) targets[0].up_terms = terms[1];
    ops::matmul(device, x, targets);
  });
}

/// Adds attention's output to the residual stream.
void Decoder::Impl::attend(const ForwardBatch& batch, const attention::Layer& layer,
                           const LayerWeights& w, Workspace& ws) const {
  const uint64_t rows = batch.tokens.size();
  ops::Target projections[] = {{.w = &w.q, .bias = w.q_bias, .y = ws.q_, .y_stride = q_size()},
                               {.w = &w.k, .bias = w.k_bias, .y = ws.k_, .y_stride = kv_size()},
                               {.w = &w.v, .bias = w.v_bias, .y = ws.v_, .y_stride = kv_size()}};
  const ops::Operand normed = norm(ws, layer.index, LinearInput::kAttention, rows, w.input_norm);
  multiply(batch, layer.index, normed, ws.normed_,
           {&LayerAdapter::q, &LayerAdapter::k, &LayerAdapter::v}, projections, ws);
  const ops::RopeRows rotated[] = {{ws.q_, config.head_count, w.q_norm, type != ComputeType::kF32},
                                   {ws.k_, config.kv_head_count, w.k_norm, false}};
  ops::rope(device, rotated, {ws.positions_.data(), rows}, config.head_dim, config.rms_norm_eps,
            ws.rope_);
  attention::write_kv(device, layer, batch.groups, ws.k_, ws.v_);
  timed(ws.times_.attention_us,
        [&] { attention::attend(device, layer, batch.groups, ws.q_, ws.mixed_, ws.attention_); });
  ops::Target output{.w = &w.o,
                     .bias = w.o_bias,
                     .y = ws.hidden_,
                     .y_stride = config.hidden_size,
                     .adds_to_y = true};
  const ops::Operand x =
      operand_of(ws, layer.index, LinearInput::kAttentionOutput, ws.mixed_, rows, q_size());
  multiply(batch, layer.index, x, ws.mixed_, {&LayerAdapter::o}, {&output, 1}, ws);
}

/// Adds the SwiGLU layer's output to the residual stream.
void Decoder::Impl::feed_forward(const ForwardBatch& batch, uint32_t layer, const LayerWeights& w,
                                 Workspace& ws) const {
  const uint64_t inner = config.intermediate_size, rows = batch.tokens.size();
  ops::Target gated{.w = &w.gate, .up = &w.up, .y = ws.gated_, .y_stride = inner};
  const ops::Operand normed = norm(ws, layer, LinearInput::kMlp, rows, w.post_norm);
  multiply(batch, layer, normed, ws.normed_, {&LayerAdapter::gate, &LayerAdapter::up}, {&gated, 1},
           ws);
  ops::Target output{
      .w = &w.down, .y = ws.hidden_, .y_stride = config.hidden_size, .adds_to_y = true};
  const ops::Operand x = operand_of(ws, layer, LinearInput::kMlpOutput, ws.gated_, rows, inner);
  multiply(batch, layer, x, ws.gated_, {&LayerAdapter::down}, {&output, 1}, ws);
}

Decoder::Decoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Decoder::~Decoder() = default;

Result<std::shared_ptr<Decoder>> Decoder::load(const std::string& folder, ComputeType type,
                                               device::Device& device,
                                               const std::string& scales_path) {
  if (!scales_path.empty() && type != ComputeType::kW8A8) {
    return Status(Code::kRequestInvalid, "activationScalesPath: expected none for " +
                                             std::string(compute_type_name(type)) + ", got " +
                                             scales_path);
  }
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  Result<Weights> weights = Weights::load(folder, config.value(), type, device);
  if (!weights.is_ok()) return weights.status();
  std::vector<LayerScales> scales(config.value().layer_count, LayerScales{});
  if (!scales_path.empty()) {
    auto fixed =
        ActivationScales::load(scales_path, weights.value().digest(), config.value().layer_count);
    if (!fixed.is_ok()) return fixed.status();
    scales = std::move(fixed.value().layers);
  }
  std::string numbers = numbers_text(type, device, scales_path.empty() ? nullptr : &scales);
  auto impl = std::unique_ptr<Impl>(new Impl{std::move(config).value(), type, device,
                                             std::move(weights).value(), std::move(scales),
                                             std::move(numbers), !scales_path.empty()});
  impl->digest = impl->weights.digest();
  return std::shared_ptr<Decoder>(new Decoder(std::move(impl)));
}

const ModelConfig& Decoder::config() const { return impl_->config; }
ComputeType Decoder::compute_type() const { return impl_->type; }
std::string Decoder::digest() const {
  const std::lock_guard lock(impl_->digest_mutex);
  return impl_->digest;
}
const std::string& Decoder::numbers() const { return impl_->numbers; }

Result<WeightsUpdate> Decoder::prepare_update(const std::string& folder) const {
  const auto invalid = [&](const char* text) {
    return Status(Code::kModelInvalid, folder + ": " + text);
  };
  if (impl_->has_fixed_scales) {
    return invalid(
        "expected no update: the activation scales are fixed for the weights that serve");
  }
  Result<ModelConfig> config = ModelConfig::load(folder);
  if (!config.is_ok()) return config.status();
  if (config.value().canonical_text() != impl_->config.canonical_text() ||
      config.value().max_positions != impl_->config.max_positions) {
    return invalid(
        "config.json: expected the configuration of the weights that serve, got another");
  }
  return impl_->weights.prepare(folder, impl_->config, impl_->type, impl_->device);
}

Status Decoder::update(WeightsUpdate update) {
  Impl& m = *impl_;
  Status status = m.weights.update(std::move(update), m.config, m.type, m.device);
  const std::lock_guard lock(m.digest_mutex);
  m.digest = m.weights.digest();
  return status;
}

bool Decoder::is_intact() const { return impl_->weights.is_intact(); }

attention::BlockLayout Decoder::block_layout() const {
  return {impl_->config.layer_count, impl_->config.kv_head_count, impl_->config.head_dim,
          storage_type(impl_->type)};
}

uint64_t Decoder::weight_bytes() const { return impl_->weights.packed_bytes(); }

uint64_t Decoder::kv_bytes_per_position() const {
  return 2 * impl_->kv_size() * impl_->config.layer_count *
         tensor::dtype_size(storage_type(impl_->type));
}

void Decoder::embedding_row(uint32_t token, float* row) const {
  const auto id = static_cast<int32_t>(token);
  impl_->embed({&id, 1}, row);
}

void Decoder::head_row(uint32_t token, float* row) const {
  ops::unpack_column(impl_->weights.head(), token, row);
}

std::unique_ptr<Workspace> Decoder::make_workspace(uint32_t max_rows, uint32_t max_context,
                                                   uint32_t max_adapters) const {
  TESSERA_CHECK(max_rows > 0);
  Result<std::unique_ptr<Workspace>> workspace = Workspace::allocate(
      impl_->config, impl_->type, max_rows, max_context, max_adapters, impl_->device);
  return workspace.is_ok() ? std::move(workspace).value() : nullptr;
}

void Decoder::forward(const ForwardBatch& batch, Workspace& workspace) const {
  const Impl& m = *impl_;
  const ModelConfig& config = m.config;
  const uint64_t rows = batch.tokens.size();
  Workspace& ws = workspace;
  TESSERA_CHECK(rows <= ws.max_rows_);
  ws.rows_ = static_cast<uint32_t>(rows);
  ws.times_ = {};
  const std::span<uint32_t> positions(ws.positions_.data(), rows);
  place_rows(batch, positions);
  m.embed(batch.tokens, ws.hidden_);
  for (const AdapterRows& own : batch.adapters) {
    ops::embed_replaced(m.device, own.adapter->embedding,
                        batch.tokens.subspan(own.first, own.count), config.hidden_size,
                        ws.hidden_ + uint64_t{own.first} * config.hidden_size);
  }
  attention::Layer layer{0, config.head_count, block_layout()};
  for (const LayerWeights& w : m.weights.layers()) {
    m.attend(batch, layer, w, ws);
    m.feed_forward(batch, layer.index, w, ws);
    layer.index += 1;
  }
  ops::rms_norm(m.device, ws.hidden_, rows, config.hidden_size, m.weights.final_norm(),
                config.rms_norm_eps, ws.normed_);
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

void Decoder::head(std::span<const HeadRequest> requests, Workspace& workspace) const {
  constexpr size_t kRequestsAtOnce = 64;
  const Impl& m = *impl_;
  const uint64_t hidden = m.config.hidden_size;
  ops::HeadRows parts[kRequestsAtOnce];
  for (size_t begin = 0, end = 0; begin < requests.size(); begin = end) {
    uint64_t rows = 0;
    for (; end < requests.size() && end - begin < kRequestsAtOnce; ++end) {
      const HeadRequest& request = requests[end];
      for (const uint32_t row : request.rows) TESSERA_CHECK(row < workspace.rows_);
      const bool has_columns = request.adapter != nullptr && !request.adapter->head.panels.empty();
      parts[end - begin] = {request.rows.size(), request.tokens, request.log_sum_exp,
                            has_columns ? &request.adapter->head : nullptr};
      rows += request.rows.size();
    }
    TESSERA_CHECK(rows <= workspace.max_rows_);
    const ops::Operand x = workspace.operand(head_panels(m.type), rows, hidden);
    uint64_t first = 0;
    for (const HeadRequest& request : requests.subspan(begin, end - begin)) {
      ops::write_operand(m.device, workspace.normed_, hidden, request.rows, first, x);
      first += request.rows.size();
    }
    ops::head(m.device, x, m.weights.head(), {parts, end - begin}, workspace.head_scratch_);
  }
}

void Decoder::logits(Workspace& workspace, std::span<const uint32_t> rows,
                     std::span<const int32_t> token_ids, std::span<float> logits) const {
  TESSERA_CHECK(logits.size() == rows.size() * token_ids.size());
  const ops::HeadTokens tokens{token_ids, logits.data()};
  const HeadRequest request{rows, {&tokens, 1}};
  head({&request, 1}, workspace);
}

void Decoder::log_sum_exp(Workspace& workspace, std::span<const uint32_t> rows,
                          std::span<float> result) const {
  TESSERA_CHECK(result.size() == rows.size());
  const HeadRequest request{rows, {}, result.data()};
  head({&request, 1}, workspace);
}

}  // namespace tessera::model
