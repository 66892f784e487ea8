// Causal attention with grouped queries, rotary positions and, as the configuration says, biases,
// norms of queries and keys and an output gate, whose numbers are projected beside the queries,
// head by head: Llama, Mistral, Qwen2, Qwen3, Qwen3.5.
#pragma once

#include <cstdint>

#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

class AttentionBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kInputNorm, kQBias, kKBias, kVBias, kOBias, kQNorm, kKNorm };
  enum Matrix : uint32_t { kQ, kK, kV, kO };
  enum Input : uint32_t { kNormed, kMixed };

  explicit AttentionBlock(const ModelConfig& config);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t q_size_, kv_size_;
  uint64_t projected_;  // queries, with their gates
};

}  // namespace tessera::model
