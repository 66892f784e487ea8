// The parts of a decoder or encoder: its layers in order, each a list of blocks. Read by all that
// has to do with a layer's weights, adapters, scales or work, on the CPU and on a card alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attention/block.h"
#include "attention/delta_state.h"
#include "model/compute_type.h"
#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

struct Layer {
  std::vector<std::shared_ptr<const LayerBlock>> blocks;  // in the order in which they run

  /// Inputs of all blocks in order.
  std::vector<InputSlot> inputs() const;
  /// Matrices of all blocks, of each by number: an adapter's factors are in this order.
  std::vector<const WeightSlot*> matrices() const;
};

/// A model computes logits of a vocabulary, or rows alone, without a head.
enum class Purpose : uint8_t { kLogits, kRows };

class Recipe {
 public:
  /// REQUIRES: `config` is one that ModelConfig::parse has accepted; encoders have no head.
  explicit Recipe(ModelConfig config, Purpose purpose = Purpose::kLogits);

  const ModelConfig& config() const { return config_; }
  Purpose purpose() const { return purpose_; }
  /// The embedding is read in place of the head as well.
  bool is_tied() const { return purpose_ == Purpose::kLogits && config_.tie_word_embeddings; }
  /// Completes a token's embedding; null: the embedding is the token's row.
  const LayerBlock* entry() const { return entry_.get(); }
  const std::vector<Layer>& layers() const { return layers_; }
  /// Numbers in the weights; a tied head counts once.
  uint64_t parameter_count() const;
  /// Work of all layers. Layers that choose experts have equally many and choose as many.
  struct Work {
    BlockWork sum;
    uint32_t mixtures = 0;  // layers that choose experts
  };
  Work work() const;
  /// Blocks of the prompt's keys and values, of the layers that have them.
  attention::BlockLayout block_layout(ComputeType type) const;
  /// The prompt's state, of layers that have one in place of keys and values; no layers: none have.
  attention::DeltaShape delta_shape(ComputeType type) const;
  /// The longest row that enters a product of a layer, and the most scratch that a block takes.
  uint64_t widest_input() const;
  uint64_t floats_per_row() const;
  /// The most that a block reserves of each.
  ExpertLimits expert_limits() const;

 private:
  ModelConfig config_;
  Purpose purpose_;
  attention::DeltaShape delta_shape_;
  std::unique_ptr<const LayerBlock> entry_;
  std::vector<Layer> layers_;
};

/// The prefix of the names of a layer's tensors, e.g. "model.layers.0.".
std::string layer_prefix(uint32_t layer);

}  // namespace tessera::model
