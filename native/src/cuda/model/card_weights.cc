#include "cuda/model/card_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "model/attention_block.h"
#include "model/gated_block.h"
#include "model/weight_names.h"
#include "model/weights_scan.h"
#include "ops/convert.h"
#include "ops/quantise.h"

namespace tessera::model::cuda {
namespace {

using Kind = WeightSlot::Kind;
using tensor::DType;
using tensor::TensorView;

constexpr uint64_t kPieceElements = 32u << 20;  // that are rounded and copied at a time

/// The card's chain of launches is that of these blocks (CardLayers).
bool has_kernels(const Recipe& recipe) {
  const Family& family = *recipe.config().family;
  // Gates, norms of 1 + weight, states; norms over all heads of a row.
  if (family.is_hybrid || family.qk_norm == QkNorm::kRows) return false;
  return std::all_of(recipe.layers().begin(), recipe.layers().end(), [](const Layer& layer) {
    return layer.blocks.size() == 2 &&
           dynamic_cast<const AttentionBlock*>(layer.blocks[0].get()) != nullptr &&
           dynamic_cast<const GatedBlock*>(layer.blocks[1].get()) != nullptr;
  });
}

/// A vector, or a matrix of BF16 whatever the type of the layers'.
CardMatrix plain(uint16_t* values) { return {0, values, nullptr, nullptr}; }

/// Where a tensor of the attention goes.
CardMatrix attention_target(const ModelConfig& config, const CardLayer& card,
                            const WeightSlot& slot) {
  using Attention = AttentionBlock;
  const uint64_t q = config.q_size(), kv = config.kv_size();
  if (slot.kind == Kind::kMatrix) {
    switch (slot.number) {
      case Attention::kQ: return card.qkv;
      case Attention::kK: return card.qkv.from(q);
      case Attention::kV: return card.qkv.from(q + kv);
      default: return card.o;
    }
  }
  switch (slot.number) {
    case Attention::kInputNorm: return plain(card.input_norm);
    case Attention::kQBias: return plain(card.qkv_bias);
    case Attention::kKBias: return plain(card.qkv_bias + q);
    case Attention::kVBias: return plain(card.qkv_bias + q + kv);
    case Attention::kOBias: return plain(card.o_bias);
    case Attention::kQNorm: return plain(card.q_norm);
    default: return plain(card.k_norm);
  }
}

CardMatrix gated_target(const ModelConfig& config, const CardLayer& card, const WeightSlot& slot) {
  if (slot.kind != Kind::kMatrix) return plain(card.post_norm);
  if (slot.number == GatedBlock::kDown) return card.down;
  return slot.number == GatedBlock::kUp ? card.gate_up.from(config.intermediate_size)
                                        : card.gate_up;
}

/// Rows [first, first + rows) of an entry; one of a vector has all its numbers.
TensorView rows_of(const TensorEntry& entry, uint64_t first, uint64_t rows) {
  const uint64_t columns = entry.bytes.size() / tensor::dtype_size(*entry.type) /
                           (entry.shape.size() > 1 ? entry.shape[0] : 1);
  return {entry.bytes.data() + first * columns * tensor::dtype_size(*entry.type),
          *entry.type,
          2,
          {rows, columns}};
}

/// Rounds an entry's rows and copies them.
Status copy_plain(const TensorView& rows, device::Device& processor, device::cuda::Queue& queue,
                  uint16_t* to) {
  std::vector<uint16_t> rounded(rows.element_count());
  ops::convert(processor, rows, DType::kBf16, rounded.data());
  return queue.copy_in(to, rounded.data(), rounded.size() * sizeof(uint16_t));
}

/// Quantises an entry's rows and copies them.
Status copy_quantised(const TensorView& rows, device::Device& processor, device::cuda::Queue& queue,
                      const CardMatrix& to) {
  using device::kPanelColumns;
  constexpr auto kType = device::PanelType::kI8;
  constexpr uint64_t kDepth = ops::cuda::kQuantisedDepth, kSlots = device::panel_slots(kType);
  static_assert(kDepth == device::panel_tile_depth(kType));
  const uint64_t count = rows.rows(), tiles = to.tiles();
  const uint64_t panel_bytes = device::panel_bytes(kType, to.k);
  Result<device::Buffer> panels = processor.allocate(ops::packed_bytes(kType, to.k, count));
  if (!panels.is_ok()) return panels.status();
  std::vector<float> panel_scales(ops::scale_count(to.k, count)), scales(count * tiles);
  const ops::PackedMatrix packed{kType, panels.value().data(), to.k,
                                 count, panel_bytes,           panel_scales.data()};
  ops::quantise(processor, rows, packed);
  std::vector<int8_t> values(count * tiles * kDepth);
  processor.threads().parallel_for(count, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      const uint64_t panel = row / kPanelColumns, column = row % kPanelColumns;
      const auto* const from = static_cast<const char*>(packed.panel(panel));
      for (uint64_t k = 0; k < tiles * kDepth; k += kSlots) {
        std::memcpy(values.data() + row * tiles * kDepth + k,
                    from + device::panel_offset(kType, k, column), kSlots);
      }
      for (uint64_t tile = 0; tile < tiles; ++tile) {
        scales[row * tiles + tile] = packed.panel_scales(panel)[tile * kPanelColumns + column];
      }
    }
  });
  TESSERA_RETURN_IF_ERROR(queue.copy_in(to.quantised, values.data(), values.size()));
  return queue.copy_in(to.scales, scales.data(), scales.size() * sizeof(float));
}

/// Copies an entry, some rows at a time.
Status copy(const TensorEntry& entry, device::Device& processor, device::cuda::Queue& queue,
            const CardMatrix& to) {
  const uint64_t rows = entry.shape.size() > 1 ? entry.shape[0] : 1;
  const uint64_t columns = rows_of(entry, 0, 1).columns();
  const uint64_t at_once = std::max<uint64_t>(1, kPieceElements / columns);
  for (uint64_t row = 0; row < rows; row += at_once) {
    const TensorView piece = rows_of(entry, row, std::min(at_once, rows - row));
    TESSERA_RETURN_IF_ERROR(to.values != nullptr
                                ? copy_plain(piece, processor, queue, to.values + row * columns)
                                : copy_quantised(piece, processor, queue, to.from(row)));
  }
  return Status::ok();
}

void take(device::cuda::Arrays& arrays, ComputeType type, uint64_t rows, uint64_t k,
          CardMatrix& matrix) {
  matrix.k = static_cast<uint32_t>(k);
  if (type == ComputeType::kBf16) {
    arrays.take(matrix.values, rows * k);
    return;
  }
  arrays.take(matrix.quantised, rows * matrix.tiles() * ops::cuda::kQuantisedDepth);
  arrays.take(matrix.scales, rows * matrix.tiles());
}

void lay_out_layer(const ModelConfig& config, const Layer& layer, ComputeType type,
                   device::cuda::Arrays& arrays, CardLayer& card) {
  const uint64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const uint64_t q = config.q_size(), all = q + 2 * config.kv_size();
  const auto has = [&](uint32_t vector) {
    return layer.blocks[0]->find(Kind::kVector, vector) != nullptr;
  };
  arrays.take(card.input_norm, hidden);
  take(arrays, type, all, hidden, card.qkv);
  if (has(AttentionBlock::kQBias)) arrays.take(card.qkv_bias, all);
  take(arrays, type, hidden, q, card.o);
  if (has(AttentionBlock::kOBias)) arrays.take(card.o_bias, hidden);
  if (has(AttentionBlock::kQNorm)) arrays.take(card.q_norm, config.head_dim);
  if (has(AttentionBlock::kKNorm)) arrays.take(card.k_norm, config.head_dim);
  arrays.take(card.post_norm, hidden);
  take(arrays, type, 2 * inner, hidden, card.gate_up);
  take(arrays, type, hidden, inner, card.down);
}

}  // namespace

std::vector<ProductPart> product_parts(const ModelConfig& config) {
  using Product = CardProduct;
  const auto q = static_cast<uint32_t>(config.q_size());
  const auto kv = static_cast<uint32_t>(config.kv_size());
  const uint32_t hidden = config.hidden_size, inner = config.intermediate_size;
  return {{0, Product::kQkv, 0, 0, q},        {1, Product::kQkv, 1, q, kv},
          {2, Product::kQkv, 2, q + kv, kv},  {3, Product::kO, 0, 0, hidden},
          {4, Product::kGateUp, 0, 0, inner}, {5, Product::kGateUp, 1, inner, inner},
          {6, Product::kDown, 0, 0, hidden}};
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

uint64_t CardWeights::lay_out(const Recipe& recipe, ComputeType type, char* base) {
  const ModelConfig& config = recipe.config();
  const uint64_t table = uint64_t{config.vocab_size} * config.hidden_size;
  device::cuda::Arrays arrays(base);
  arrays.take(embedding_, table);
  layers_.assign(recipe.layers().size(), {});
  for (size_t i = 0; i < layers_.size(); ++i)
    lay_out_layer(config, recipe.layers()[i], type, arrays, layers_[i]);
  arrays.take(final_norm_, config.hidden_size);
  head_ = embedding_;
  if (!recipe.is_tied()) arrays.take(head_, table);
  return arrays.bytes();
}

Result<CardWeights> CardWeights::allocate(const Recipe& recipe, ComputeType type,
                                          device::cuda::Queue& queue) {
  CardWeights weights;
  weights.bytes_ = weights.lay_out(recipe, type, nullptr);
  Result<device::cuda::Memory> memory = device::cuda::Memory::allocate(queue, weights.bytes_);
  if (!memory.is_ok()) {
    return Status(memory.status().code(), "modelPath: weights of " +
                                              std::to_string(weights.bytes_) +
                                              " bytes on a card: " + memory.status().message());
  }
  weights.memory_ = std::move(memory).value();
  weights.lay_out(recipe, type, weights.memory_.as<char>());
  return weights;
}

std::vector<CardWeights::Target> CardWeights::targets(const Recipe& recipe,
                                                      const std::string& prefix) const {
  const ModelConfig& config = recipe.config();
  const TensorNames& names = config.family->names;
  std::vector<Target> targets = {{prefix + std::string(names.embedding), plain(embedding_)}};
  for (uint32_t i = 0; i < layers_.size(); ++i) {
    const std::string layer = prefix + config.layer_name(i);
    const auto& blocks = recipe.layers()[i].blocks;
    for (const WeightSlot& slot : blocks[0]->slots())
      targets.push_back({layer + slot.name, attention_target(config, layers_[i], slot)});
    for (const WeightSlot& slot : blocks[1]->slots())
      targets.push_back({layer + slot.name, gated_target(config, layers_[i], slot)});
  }
  targets.push_back({prefix + std::string(names.final_norm), plain(final_norm_)});
  if (!recipe.is_tied()) targets.push_back({kHeadName, plain(head_)});
  return targets;
}

Status CardWeights::stream(const Recipe& recipe, const WeightsUpdate& files,
                           device::Device& processor, device::cuda::Queue& queue) const {
  WeightsScan scan(processor, files.folder(), recipe.config().canonical_text());
  for (const Target& target : targets(recipe, files.prefix())) {
    const TensorEntry* found = files.shards().find(target.name);
    // A tied model may have its embedding under the head's name alone.
    const TensorEntry* entry = found != nullptr ? found : files.shards().find(kHeadName);
    TESSERA_CHECK(entry != nullptr);
    TESSERA_RETURN_IF_ERROR(scan.add({&entry, 1}));
    TESSERA_RETURN_IF_ERROR(copy(*entry, processor, queue, target.to));
    files.shards().release(*entry);
  }
  TESSERA_RETURN_IF_ERROR(queue.finish());
  if (const std::string digest = scan.digest(); digest != files.digest()) {
    return {Code::kModelCorrupt, files.folder() + ": expected the content " + files.digest() +
                                     " that was looked through, got " + digest};
  }
  return Status::ok();
}

const TensorEntry& table_of(const WeightsUpdate& files, const Recipe& recipe, bool is_head) {
  const std::string embedding =
      files.prefix() + std::string(recipe.config().family->names.embedding);
  const TensorEntry* entry =
      is_head && !recipe.is_tied() ? nullptr : files.shards().find(embedding);
  if (entry == nullptr) entry = files.shards().find(kHeadName);
  TESSERA_CHECK(entry != nullptr);
  return *entry;
}

}  // namespace tessera::model::cuda
