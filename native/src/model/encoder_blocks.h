// Blocks of encoders. BERT, RoBERTa and XLM-R normalise behind each sum (Devlin et al. 2018,
// arXiv:1810.04805): x = norm(x + block(x)), with biases and a table of positions. ModernBERT
// (Warner et al. 2024, arXiv:2412.13663) normalises before each block, has rotary positions, layers
// whose rows see what is near alone, a gate of GELU (Shazeer 2020) and no biases; its first layer
// has the norm of the embedding.
#pragma once

#include <cstdint>
#include <span>

#include "model/family.h"
#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

/// Adds the rows of a token's position and segment to its own, and normalises.
class EncoderEntryBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kPositions, kSegments, kNorm, kNormBias };

  explicit EncoderEntryBlock(const ModelConfig& config);

  BlockWork work() const override { return {}; }
  void forward(const BlockWeights& weights, Pass& pass) const override;
};

class EncoderAttentionBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kQBias, kKBias, kVBias, kOBias, kNorm, kNormBias };
  enum Matrix : uint32_t { kQ, kK, kV, kO };
  enum Input : uint32_t { kRows, kMixed };

  explicit EncoderAttentionBlock(const ModelConfig& config);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;
};

/// down(gelu(up(x))).
class EncoderFeedForwardBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kUpBias, kDownBias, kNorm, kNormBias };
  enum Matrix : uint32_t { kUp, kDown };
  enum Input : uint32_t { kRows, kInner };

  explicit EncoderFeedForwardBlock(const ModelConfig& config);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t inner_;
};

class ModernEntryBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm };

  explicit ModernEntryBlock(const ModelConfig& config);

  BlockWork work() const override { return {}; }
  void forward(const BlockWeights& weights, Pass& pass) const override;
};

class ModernAttentionBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm };
  enum Matrix : uint32_t { kQ, kK, kV, kO };
  enum Input : uint32_t { kNormed, kMixed };

  ModernAttentionBlock(const ModelConfig& config, uint32_t layer);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  bool is_local_;
};

/// down(gelu(gate(x)) * up(x)).
class ModernFeedForwardBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm };
  enum Matrix : uint32_t { kGate, kUp, kDown };
  enum Input : uint32_t { kNormed, kGated };

  explicit ModernFeedForwardBlock(const ModelConfig& config);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t inner_;
};

/// Families whose layers are made of these blocks.
std::span<const Family> encoder_families();

}  // namespace tessera::model
