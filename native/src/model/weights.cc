#include "model/weights.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "model/weights_scan.h"
#include "ops/convert.h"

namespace tessera::model {

using tensor::DType;
using tensor::TensorView;

/// A tensor that the decoder needs: where it comes from and where its view goes.
struct Weights::Slot {
  std::string name;
  std::vector<uint64_t> shape;
  DType type;  // to compute with
  TensorView* target;
  const TensorEntry* entry = nullptr;

  bool in_place() const {
    const auto address = reinterpret_cast<uintptr_t>(entry->bytes.data());
    return *entry->type == type && address % tensor::dtype_size(type) == 0;
  }
  TensorView view(const void* data, DType element) const {
    return {data,
            element,
            static_cast<uint32_t>(shape.size()),
            {shape[0], shape.size() == 2 ? shape[1] : 0}};
  }
};

namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (const uint64_t size : shape) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "]";
}

/// Tensors that some trainers save beside the weights and nobody needs.
bool may_be_ignored(const std::string& name, const ModelConfig& config) {
  const std::string_view suffix = ".rotary_emb.inv_freq";
  return (name == "lm_head.weight" && config.tie_word_embeddings) ||
         (name.size() > suffix.size() &&
          name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0);
}

}  // namespace

void Weights::layer_slots(const ModelConfig& config, ComputeType type, uint32_t layer,
                          std::vector<Slot>& slots) {
  const uint64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const uint64_t q_size = uint64_t{config.head_count} * config.head_dim;
  const uint64_t kv_size = uint64_t{config.kv_head_count} * config.head_dim;
  const DType compute = type == ComputeType::kBf16 ? DType::kBf16 : DType::kF32;
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  LayerWeights& w = layers_[layer];
  const auto matrix = [&](const char* name, uint64_t rows, uint64_t columns, TensorView& target) {
    slots.push_back({prefix + name + ".weight", {rows, columns}, compute, &target});
  };
  const auto vector = [&](const std::string& name, uint64_t size, TensorView& target) {
    slots.push_back({prefix + name, {size}, DType::kF32, &target});
  };
  vector("input_layernorm.weight", hidden, w.input_norm);
  matrix("self_attn.q_proj", q_size, hidden, w.q);
  matrix("self_attn.k_proj", kv_size, hidden, w.k);
  matrix("self_attn.v_proj", kv_size, hidden, w.v);
  matrix("self_attn.o_proj", hidden, q_size, w.o);
  if (config.qkv_bias) {
    vector("self_attn.q_proj.bias", q_size, w.q_bias);
    vector("self_attn.k_proj.bias", kv_size, w.k_bias);
    vector("self_attn.v_proj.bias", kv_size, w.v_bias);
  }
  if (config.output_bias) vector("self_attn.o_proj.bias", hidden, w.o_bias);
  if (config.has_qk_norm()) {
    vector("self_attn.q_norm.weight", config.head_dim, w.q_norm);
    vector("self_attn.k_norm.weight", config.head_dim, w.k_norm);
  }
  vector("post_attention_layernorm.weight", hidden, w.post_norm);
  matrix("mlp.gate_proj", inner, hidden, w.gate);
  matrix("mlp.up_proj", inner, hidden, w.up);
  matrix("mlp.down_proj", hidden, inner, w.down);
}

std::vector<Weights::Slot> Weights::slots(const ModelConfig& config, ComputeType type) {
  const DType compute = type == ComputeType::kBf16 ? DType::kBf16 : DType::kF32;
  const std::vector<uint64_t> table = {config.vocab_size, config.hidden_size};
  std::vector<Slot> slots;
  layers_.resize(config.layer_count);
  slots.push_back({"model.embed_tokens.weight", table, compute, &embedding_});
  for (uint32_t i = 0; i < config.layer_count; ++i) layer_slots(config, type, i, slots);
  slots.push_back({"model.norm.weight", {config.hidden_size}, DType::kF32, &final_norm_});
  if (!config.tie_word_embeddings) slots.push_back({"lm_head.weight", table, compute, &head_});
  return slots;
}

Status Weights::check(const ModelConfig& config, std::vector<Slot>& slots) const {
  const auto invalid = [&](const std::string& name, const std::string& expected,
                           const std::string& came) {
    return Status(Code::kModelInvalid,
                  shards_.folder() + ": " + name + ": expected " + expected + ", got " + came);
  };
  std::unordered_set<std::string> needed;
  for (Slot& slot : slots) {
    slot.entry = shards_.find(slot.name);
    needed.insert(slot.name);
    if (slot.entry == nullptr) return invalid(slot.name, "a tensor", "nothing");
    if (!slot.entry->type) return invalid(slot.name, "F32, BF16 or F16", slot.entry->dtype);
    if (slot.entry->shape != slot.shape) {
      return invalid(slot.name, "shape " + shape_text(slot.shape), shape_text(slot.entry->shape));
    }
  }
  for (const auto& [name, entry] : shards_.tensors()) {
    if (needed.count(name) == 0 && !may_be_ignored(name, config)) {
      return invalid(name,
                     "no such tensor in a " + std::string(family_name(config.family)) + " model",
                     "shape " + shape_text(entry.shape));
    }
  }
  return Status::ok();
}

Status Weights::place(const std::vector<Slot>& slots, device::Device& device) {
  uint64_t bytes = 0;
  for (const Slot& slot : slots) {
    if (slot.in_place()) continue;
    const TensorView view = slot.view(nullptr, slot.type);
    bytes +=
        (view.element_count() * tensor::dtype_size(slot.type) + device::Device::kAlignment - 1) /
        device::Device::kAlignment * device::Device::kAlignment;
  }
  Result<device::Buffer> memory = device.allocate(bytes);
  if (!memory.is_ok()) return memory.status();
  char* next = static_cast<char*>(memory.value().data());
  for (const Slot& slot : slots) {
    if (slot.in_place()) {
      *slot.target = slot.view(slot.entry->bytes.data(), slot.type);
      continue;
    }
    ops::convert(device, slot.view(slot.entry->bytes.data(), *slot.entry->type), slot.type, next);
    *slot.target = slot.view(next, slot.type);
    const uint64_t size = slot.target->element_count() * tensor::dtype_size(slot.type);
    next += (size + device::Device::kAlignment - 1) / device::Device::kAlignment *
            device::Device::kAlignment;
  }
  converted_.push_back(std::move(memory).value());
  return Status::ok();
}

Result<Weights> Weights::load(const std::string& folder, const ModelConfig& config,
                              ComputeType type, device::Device& device) {
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  Weights weights;
  weights.shards_ = std::move(shards).value();
  std::vector<Slot> slots = weights.slots(config, type);
  TESSERA_RETURN_IF_ERROR(weights.check(config, slots));
  std::vector<const TensorEntry*> entries;
  for (const Slot& slot : slots) entries.push_back(slot.entry);
  Result<std::string> digest = scan_weights(device, folder, config.canonical_text(), entries);
  if (!digest.is_ok()) return digest.status();
  weights.digest_ = std::move(digest).value();
  TESSERA_RETURN_IF_ERROR(weights.place(slots, device));
  if (config.tie_word_embeddings) weights.head_ = weights.embedding_;
  return weights;
}

}  // namespace tessera::model
