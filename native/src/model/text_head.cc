#include "model/text_head.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "model/model_config.h"
#include "model/shards.h"
#include "ops/convert.h"
#include "ops/matmul.h"
#include "ops/operand.h"

namespace tessera::model {
namespace {

using device::PanelType;
using Kind = HeadStage::Kind;

constexpr float kSmallestLength = 1e-12f;  // of a vector that is normalised, as torch has it

/// A tensor that a stage needs, looked for NaN and infinity. Its bytes are added to `content`.
Result<tensor::TensorView> find(const Shards& shards, const std::string& name, size_t rank,
                                device::Device& device, std::string& content) {
  const auto invalid = [&](const std::string& expected, const std::string& got) {
    return Status(Code::kModelInvalid,
                  shards.folder() + ": " + name + ": expected " + expected + ", got " + got);
  };
  const TensorEntry* entry = shards.find(name);
  if (entry == nullptr) return invalid("a tensor", "nothing");
  if (!entry->type) return invalid("F32, BF16 or F16", entry->dtype);
  const bool is_fit = entry->shape.size() == rank &&
                      std::all_of(entry->shape.begin(), entry->shape.end(),
                                  [](uint64_t n) { return n > 0 && n <= kMaxHiddenSize; });
  if (!is_fit) {
    std::string got;
    for (const uint64_t n : entry->shape) got += (got.empty() ? "" : ",") + std::to_string(n);
    return invalid(rank == 2 ? "a matrix" : "a vector", "shape [" + got + "]");
  }
  const tensor::TensorView view = {entry->bytes.data(),
                                   *entry->type,
                                   static_cast<uint32_t>(rank),
                                   {entry->shape[0], rank == 2 ? entry->shape[1] : 0}};
  std::vector<float> values(view.element_count());
  ops::convert(device, view, tensor::DType::kF32, values.data());
  if (device.kernels().find_non_finite_f32(values.data(), values.size()) < values.size()) {
    return Status(Code::kModelCorrupt,
                  shards.folder() + ": " + name + ": expected finite numbers, got NaN or infinity");
  }
  content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return view;
}

Result<std::vector<float>> find_vector(const Shards& shards, const std::string& name, uint64_t size,
                                       device::Device& device, std::string& content) {
  Result<tensor::TensorView> view = find(shards, name, 1, device, content);
  if (!view.is_ok()) return view.status();
  if (view.value().element_count() != size) {
    return Status(Code::kModelInvalid, shards.folder() + ": " + name + ": expected " +
                                           std::to_string(size) + " numbers, got " +
                                           std::to_string(view.value().element_count()));
  }
  std::vector<float> values(size);
  ops::convert(device, view.value(), tensor::DType::kF32, values.data());
  return values;
}

/// GELU is the product's own.
void activate(device::Device& device, HeadStage::Activation activation, std::span<float> x) {
  if (activation == HeadStage::Activation::kTanh) device.kernels().tanh(x.data(), x.size());
  if (activation == HeadStage::Activation::kRelu) {
    for (float& number : x) number = std::max(number, 0.0f);
  }
  if (activation == HeadStage::Activation::kSigmoid) {
    // By the kernel whose bits are those of its numeric class everywhere.
    for (float& number : x) number *= 0.5f;
    device.kernels().tanh(x.data(), x.size());
    for (float& number : x) number = 0.5f * number + 0.5f;
  }
}

}  // namespace

Status TextHead::load_stage(const HeadStage& config, uint32_t inputs, device::Device& device,
                            std::string& content, Stage& stage) {
  stage.config = config;
  stage.config.inputs = inputs;
  if (config.kind == Kind::kNormalise) {
    stage.config.outputs = inputs;
    return Status::ok();
  }
  Result<Shards> shards = Shards::open(config.folder);
  if (!shards.is_ok()) return shards.status();
  uint64_t outputs = inputs;
  if (config.kind == Kind::kLayerNorm) {
    auto weight = find_vector(shards.value(), config.tensors + "weight", inputs, device, content);
    if (!weight.is_ok()) return weight.status();
    stage.weight = std::move(weight).value();
  } else {
    const std::string name = config.tensors + "weight";
    Result<tensor::TensorView> view = find(shards.value(), name, 2, device, content);
    if (!view.is_ok()) return view.status();
    outputs = view.value().rows();
    const bool is_fit = view.value().columns() == inputs &&
                        (config.inputs == 0 || config.inputs == inputs) &&
                        (config.outputs == 0 || config.outputs == outputs);
    if (!is_fit) {
      return {Code::kModelInvalid,
              config.folder + ": " + name + ": expected " +
                  (config.outputs == 0 ? "rows" : std::to_string(config.outputs) + " rows") +
                  " of " + std::to_string(inputs) + " numbers, got " + std::to_string(outputs) +
                  " of " + std::to_string(view.value().columns())};
    }
    Result<device::Buffer> memory =
        device.allocate(ops::packed_bytes(PanelType::kF32, inputs, outputs));
    if (!memory.is_ok()) return memory.status();
    stage.memory = std::move(memory).value();
    stage.matrix = {PanelType::kF32,
                    stage.memory.data(),
                    inputs,
                    outputs,
                    device::panel_bytes(PanelType::kF32, inputs),
                    nullptr};
    ops::pack(device, view.value(), stage.matrix);
  }
  stage.config.outputs = static_cast<uint32_t>(outputs);
  if (!config.has_bias) return Status::ok();
  auto bias = find_vector(shards.value(), config.tensors + "bias", outputs, device, content);
  if (!bias.is_ok()) return bias.status();
  stage.bias = std::move(bias).value();
  return Status::ok();
}

Result<TextHead> TextHead::load(TextHeadConfig config, uint32_t hidden_size,
                                device::Device& device) {
  TextHead head;
  head.hidden_size_ = head.dimension_ = head.widest_ = hidden_size;
  std::string content = config.canonical_text();
  for (const HeadStage& stage : config.stages) {
    TESSERA_RETURN_IF_ERROR(
        load_stage(stage, head.dimension_, device, content, head.stages_.emplace_back()));
    head.dimension_ = head.stages_.back().config.outputs;
    head.widest_ = std::max(head.widest_, head.dimension_);
  }
  head.config_ = std::move(config);
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  head.digest_ = digits;
  return head;
}

Result<TextHead::Scratch> TextHead::make_scratch(uint32_t max_texts, device::Device& device) const {
  Result<device::Buffer> operand =
      device.allocate(ops::operand_bytes(device, PanelType::kF32, max_texts, widest_));
  if (!operand.is_ok()) return operand.status();
  const uint64_t floats = uint64_t{max_texts} * widest_;
  return Scratch{std::move(operand).value(), std::vector<float>(floats),
                 std::vector<float>(floats)};
}

void TextHead::pool(device::Device& device, const float* rows, std::span<const uint32_t> counts,
                    float* pooled) const {
  const device::KernelTable& kernels = device.kernels();
  const uint64_t n = hidden_size_;
  for (const uint32_t count : counts) {
    TESSERA_CHECK(count > 0);
    const float* from = config_.pooling == Pooling::kLast ? rows + (count - 1) * n : rows;
    std::copy(from, from + n, pooled);
    if (config_.pooling == Pooling::kMax) {
      for (uint32_t i = 1; i < count; ++i) {
        for (uint64_t j = 0; j < n; ++j) pooled[j] = std::max(pooled[j], rows[i * n + j]);
      }
    } else if (config_.pooling == Pooling::kMean || config_.pooling == Pooling::kMeanSqrt) {
      for (uint32_t i = 1; i < count; ++i) kernels.add(rows + i * n, n, pooled);
      const auto size = static_cast<float>(count);
      kernels.scale(pooled, n, 1.0f / (config_.pooling == Pooling::kMean ? size : std::sqrt(size)));
    }
    rows += count * n;
    pooled += n;
  }
}

/// scratch.to = activation(scratch.from W + bias), then the two change places.
void TextHead::multiply(device::Device& device, const Stage& stage, uint64_t texts,
                        Scratch& scratch) const {
  const HeadStage& config = stage.config;
  const ops::Operand x{PanelType::kF32, scratch.operand.data(), nullptr, texts, config.inputs};
  ops::write_operand(device, scratch.from.data(), config.inputs, x);
  const ops::Target target{.w = &stage.matrix,
                           .has_gelu = config.activation == HeadStage::Activation::kGelu,
                           .bias = stage.bias.empty() ? nullptr : stage.bias.data(),
                           .y = scratch.to.data(),
                           .y_stride = config.outputs};
  ops::matmul(device, x, {&target, 1});
  activate(device, config.activation, {scratch.to.data(), texts * config.outputs});
  scratch.from.swap(scratch.to);
}

void TextHead::apply(device::Device& device, const float* rows, std::span<const uint32_t> counts,
                     Scratch& scratch, float* vectors) const {
  const device::KernelTable& kernels = device.kernels();
  const uint64_t texts = counts.size();
  TESSERA_CHECK(texts * widest_ <= scratch.from.size());
  pool(device, rows, counts, scratch.from.data());
  for (const Stage& stage : stages_) {
    if (stage.config.kind == Kind::kDense) {
      multiply(device, stage, texts, scratch);
      continue;
    }
    const uint64_t n = stage.config.outputs;
    for (uint64_t i = 0; i < texts; ++i) {
      float* x = scratch.from.data() + i * n;
      if (stage.config.kind == Kind::kLayerNorm) {
        kernels.layer_norm(x, stage.weight.data(), stage.bias.empty() ? nullptr : stage.bias.data(),
                           n, stage.config.epsilon, x);
        continue;
      }
      const void* other = x;
      const float* own = x;
      float square = 0;
      kernels.dot_rows_f32(&own, 1, &other, 1, n, &square, 1);
      kernels.scale(x, n, 1.0f / std::max(std::sqrt(square), kSmallestLength));
    }
  }
  std::memcpy(vectors, scratch.from.data(), texts * dimension_ * sizeof(float));
}

}  // namespace tessera::model
