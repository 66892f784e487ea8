#include "model/cuda/card_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/shards.h"
#include "model/weights_scan.h"

namespace tessera::model::cuda {
namespace {

uint16_t bf16_at(const TensorEntry& entry, uint64_t index) {
  const std::byte* bytes = entry.bytes.data();
  if (*entry.type == tensor::DType::kF32) {
    float value;
    std::memcpy(&value, bytes + index * sizeof(value), sizeof(value));
    return tensor::bf16_of_f32(value);
  }
  uint16_t bits;
  std::memcpy(&bits, bytes + index * sizeof(bits), sizeof(bits));
  return *entry.type == tensor::DType::kBf16 ? bits : tensor::bf16_of_f32(tensor::f32_of_f16(bits));
}

/// Tensors of the file that lie one behind the other on the card, and whose address is wanted.
struct Part {
  std::vector<const TensorEntry*> entries;
  const uint16_t** target;
  uint64_t elements = 0;
};

class Loader {
 public:
  Loader(const Shards& shards, const ModelConfig& config) : shards_(shards), config_(config) {}

  Status add_all(CardWeights& weights);
  Status copy(device::cuda::Queue& queue, CardWeights& weights) const;

 private:
  using Names = std::vector<std::pair<std::string, std::vector<uint64_t>>>;

  Status add(const Names& names, const uint16_t*& target);
  Status add_layer(uint32_t index, CardLayer& layer);

  const Shards& shards_;
  const ModelConfig& config_;
  std::vector<Part> parts_;
};

Status Loader::add(const Names& names, const uint16_t*& target) {
  Part part{{}, &target};
  for (const auto& [name, shape] : names) {
    const TensorEntry* entry = shards_.find(name);
    const bool is_fit = entry != nullptr && entry->type && entry->shape == shape;
    if (!is_fit) {
      return {Code::kModelInvalid,
              shards_.folder() + ": " + name + ": expected a tensor of F32, BF16 or F16 with " +
                  std::to_string(shape[0]) + (shape.size() > 1 ? " rows of " : " numbers") +
                  (shape.size() > 1 ? std::to_string(shape[1]) : "")};
    }
    part.entries.push_back(entry);
    part.elements += shape[0] * (shape.size() > 1 ? shape[1] : 1);
  }
  parts_.push_back(std::move(part));
  return Status::ok();
}

Status Loader::add_layer(uint32_t index, CardLayer& layer) {
  const uint64_t hidden = config_.hidden_size, inner = config_.intermediate_size;
  const uint64_t q = uint64_t{config_.head_count} * config_.head_dim;
  const uint64_t kv = uint64_t{config_.kv_head_count} * config_.head_dim;
  const std::string at = "model.layers." + std::to_string(index) + ".";
  const std::string self = at + "self_attn.", mlp = at + "mlp.";
  TESSERA_RETURN_IF_ERROR(add({{at + "input_layernorm.weight", {hidden}}}, layer.input_norm));
  TESSERA_RETURN_IF_ERROR(add({{self + "q_proj.weight", {q, hidden}},
                               {self + "k_proj.weight", {kv, hidden}},
                               {self + "v_proj.weight", {kv, hidden}}},
                              layer.qkv));
  TESSERA_RETURN_IF_ERROR(add({{self + "o_proj.weight", {hidden, q}}}, layer.o));
  if (config_.qkv_bias) {
    TESSERA_RETURN_IF_ERROR(add(
        {{self + "q_proj.bias", {q}}, {self + "k_proj.bias", {kv}}, {self + "v_proj.bias", {kv}}},
        layer.qkv_bias));
  }
  if (config_.output_bias) {
    TESSERA_RETURN_IF_ERROR(add({{self + "o_proj.bias", {hidden}}}, layer.o_bias));
  }
  if (config_.has_qk_norm()) {
    TESSERA_RETURN_IF_ERROR(add({{self + "q_norm.weight", {config_.head_dim}}}, layer.q_norm));
    TESSERA_RETURN_IF_ERROR(add({{self + "k_norm.weight", {config_.head_dim}}}, layer.k_norm));
  }
  TESSERA_RETURN_IF_ERROR(
      add({{at + "post_attention_layernorm.weight", {hidden}}}, layer.post_norm));
  TESSERA_RETURN_IF_ERROR(
      add({{mlp + "gate_proj.weight", {inner, hidden}}, {mlp + "up_proj.weight", {inner, hidden}}},
          layer.gate_up));
  return add({{mlp + "down_proj.weight", {hidden, inner}}}, layer.down);
}

Status Loader::add_all(CardWeights& weights) {
  const std::vector<uint64_t> table = {config_.vocab_size, config_.hidden_size};
  TESSERA_RETURN_IF_ERROR(add({{"model.embed_tokens.weight", table}}, weights.embedding));
  weights.layers.resize(config_.layer_count);
  for (uint32_t i = 0; i < config_.layer_count; ++i) {
    TESSERA_RETURN_IF_ERROR(add_layer(i, weights.layers[i]));
  }
  TESSERA_RETURN_IF_ERROR(add({{"model.norm.weight", {config_.hidden_size}}}, weights.final_norm));
  if (config_.tie_word_embeddings) return Status::ok();
  return add({{"lm_head.weight", table}}, weights.head);
}

Status Loader::copy(device::cuda::Queue& queue, CardWeights& weights) const {
  for (const Part& part : parts_)
    weights.bytes += device::cuda::padded_bytes(part.elements * sizeof(uint16_t));
  Result<device::cuda::Memory> memory = device::cuda::Memory::allocate(queue, weights.bytes);
  if (!memory.is_ok()) return memory.status();
  weights.memory = std::move(memory).value();
  auto* at = weights.memory.as<char>();
  std::vector<uint16_t> rounded;
  for (const Part& part : parts_) {
    *part.target = reinterpret_cast<const uint16_t*>(at);
    rounded.clear();
    for (const TensorEntry* entry : part.entries) {
      const uint64_t elements = entry->bytes.size() / tensor::dtype_size(*entry->type);
      for (uint64_t i = 0; i < elements; ++i) rounded.push_back(bf16_at(*entry, i));
      shards_.release(*entry);
    }
    const uint64_t bytes = part.elements * sizeof(uint16_t);
    TESSERA_RETURN_IF_ERROR(queue.copy_in(at, rounded.data(), bytes));
    at += device::cuda::padded_bytes(bytes);
  }
  if (weights.head == nullptr) weights.head = weights.embedding;
  return Status::ok();
}

Status check_sizes(const std::string& folder, const ModelConfig& config) {
  const auto refuse = [&](const char* field, const char* expected, uint32_t came) {
    return Status(Code::kModelInvalid, folder + "/config.json: " + field + ": expected " +
                                           expected + " on a card, got " + std::to_string(came));
  };
  if (config.head_dim != 64 && config.head_dim != 128) {
    return refuse("head_dim", "64 or 128", config.head_dim);
  }
  if (config.hidden_size % 8 != 0) {
    return refuse("hidden_size", "a multiple of 8", config.hidden_size);
  }
  if (config.intermediate_size % 8 != 0) {
    return refuse("intermediate_size", "a multiple of 8", config.intermediate_size);
  }
  return Status::ok();
}

}  // namespace

Result<CardWeights> CardWeights::load(const std::string& folder, const ModelConfig& config,
                                      device::cuda::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check_sizes(folder, config));
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  CardWeights weights;
  Loader loader(shards.value(), config);
  TESSERA_RETURN_IF_ERROR(loader.add_all(weights));
  TESSERA_RETURN_IF_ERROR(loader.copy(queue, weights));
  return weights;
}

Result<std::string> scan_weights(const std::string& folder, const ModelConfig& config,
                                 device::Device& processor) {
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  std::vector<const TensorEntry*> entries;
  for (const auto& [name, entry] : shards.value().tensors()) {
    if (entry.type) entries.push_back(&entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const TensorEntry* a, const TensorEntry* b) { return a->name < b->name; });
  WeightsScan scan(processor, folder, config.canonical_text());
  for (const TensorEntry* entry : entries) {
    TESSERA_RETURN_IF_ERROR(scan.add({&entry, 1}));
    shards.value().release(*entry);
  }
  return scan.digest();
}

}  // namespace tessera::model::cuda
