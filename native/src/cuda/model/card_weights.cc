#include "cuda/model/card_weights.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "model/attention_block.h"
#include "model/gated_block.h"
#include "model/recipe.h"
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
  Loader(const Shards& shards, const Recipe& recipe)
      : shards_(shards), recipe_(recipe), config_(recipe.config()) {}

  Status add_all(CardWeights& weights);
  Status copy(device::cuda::Queue& queue, CardWeights& weights) const;

 private:
  using Names = std::vector<std::pair<std::string, std::vector<uint64_t>>>;

  Status add(const Names& names, const uint16_t*& target);
  /// Slots of a block of layer `index`; what the block does not have stays null.
  Status add(uint32_t index, const LayerBlock& block, WeightSlot::Kind kind,
             std::initializer_list<uint32_t> numbers, const uint16_t*& target);
  Status add_attention(uint32_t index, const LayerBlock& block, CardLayer& layer);
  Status add_gated(uint32_t index, const LayerBlock& block, CardLayer& layer);

  const Shards& shards_;
  const Recipe& recipe_;
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

Status Loader::add(uint32_t index, const LayerBlock& block, WeightSlot::Kind kind,
                   std::initializer_list<uint32_t> numbers, const uint16_t*& target) {
  Names names;
  for (const uint32_t number : numbers) {
    const WeightSlot* slot = block.find(kind, number);
    if (slot != nullptr) names.push_back({layer_prefix(index) + slot->name, slot->shape()});
  }
  return names.empty() ? Status::ok() : add(names, target);
}

Status Loader::add_attention(uint32_t index, const LayerBlock& block, CardLayer& layer) {
  using Attention = AttentionBlock;
  constexpr auto kVector = WeightSlot::Kind::kVector, kMatrix = WeightSlot::Kind::kMatrix;
  TESSERA_RETURN_IF_ERROR(add(index, block, kVector, {Attention::kInputNorm}, layer.input_norm));
  TESSERA_RETURN_IF_ERROR(
      add(index, block, kMatrix, {Attention::kQ, Attention::kK, Attention::kV}, layer.qkv));
  TESSERA_RETURN_IF_ERROR(add(index, block, kMatrix, {Attention::kO}, layer.o));
  TESSERA_RETURN_IF_ERROR(add(index, block, kVector,
                              {Attention::kQBias, Attention::kKBias, Attention::kVBias},
                              layer.qkv_bias));
  TESSERA_RETURN_IF_ERROR(add(index, block, kVector, {Attention::kOBias}, layer.o_bias));
  TESSERA_RETURN_IF_ERROR(add(index, block, kVector, {Attention::kQNorm}, layer.q_norm));
  return add(index, block, kVector, {Attention::kKNorm}, layer.k_norm);
}

Status Loader::add_gated(uint32_t index, const LayerBlock& block, CardLayer& layer) {
  using Gated = GatedBlock;
  constexpr auto kVector = WeightSlot::Kind::kVector, kMatrix = WeightSlot::Kind::kMatrix;
  TESSERA_RETURN_IF_ERROR(add(index, block, kVector, {Gated::kPostNorm}, layer.post_norm));
  TESSERA_RETURN_IF_ERROR(add(index, block, kMatrix, {Gated::kGate, Gated::kUp}, layer.gate_up));
  return add(index, block, kMatrix, {Gated::kDown}, layer.down);
}

Status Loader::add_all(CardWeights& weights) {
  const std::vector<uint64_t> table = {config_.vocab_size, config_.hidden_size};
  TESSERA_RETURN_IF_ERROR(add({{"model.embed_tokens.weight", table}}, weights.embedding));
  weights.layers.resize(config_.layer_count);
  for (uint32_t i = 0; i < config_.layer_count; ++i) {
    const Layer& layer = recipe_.layers()[i];
    TESSERA_RETURN_IF_ERROR(add_attention(i, *layer.blocks[0], weights.layers[i]));
    TESSERA_RETURN_IF_ERROR(add_gated(i, *layer.blocks[1], weights.layers[i]));
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

/// The card's chain of launches is that of these blocks (CardDecoder::launch_layers).
bool has_kernels(const Recipe& recipe) {
  if (recipe.config().family->is_hybrid) return false;  // gates, norms of 1 + weight, states
  return std::all_of(recipe.layers().begin(), recipe.layers().end(), [](const Layer& layer) {
    return layer.blocks.size() == 2 &&
           dynamic_cast<const AttentionBlock*>(layer.blocks[0].get()) != nullptr &&
           dynamic_cast<const GatedBlock*>(layer.blocks[1].get()) != nullptr;
  });
}

Status check_shape(const std::string& folder, const Recipe& recipe) {
  const ModelConfig& config = recipe.config();
  if (!has_kernels(recipe)) {
    return {Code::kModelInvalid,
            folder + "/config.json: model_type: expected a family of gated layers on a card, got " +
                std::string(config.family->model_type)};
  }
  const auto refuse = [&](const char* field, const char* expected, uint32_t got) {
    return Status(Code::kModelInvalid, folder + "/config.json: " + field + ": expected " +
                                           expected + " on a card, got " + std::to_string(got));
  };
  if (config.head_dim != 64 && config.head_dim != 128) {
    return refuse("head_dim", "64 or 128", config.head_dim);
  }
  if (const uint32_t rotated = config.rope.rotary_dim(config.head_dim);
      rotated != config.head_dim) {
    return refuse("partial_rotary_factor", "all numbers of a head to be rotated", rotated);
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
  const Recipe recipe(config);
  TESSERA_RETURN_IF_ERROR(check_shape(folder, recipe));
  Result<Shards> shards = Shards::open(folder);
  if (!shards.is_ok()) return shards.status();
  CardWeights weights;
  Loader loader(shards.value(), recipe);
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
