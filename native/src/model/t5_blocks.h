// Blocks of T5's encoder and decoder (Raffel et al. 2020, arXiv:1910.10683): attention without
// 1 / sqrt(d) whose scores have a bias by distance, attention of the decoder to the encoder's rows,
// and a feed-forward network. Each begins with a norm by the root mean square and adds to the
// residual stream.
//
// Keys and values of the encoder live as long as a pass: each layer writes them where those of the
// decoder's first layer come in the end (PromptKv::encoded).
#pragma once

#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

/// Attention of a stack's rows to one another.
class T5SelfBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm, kBiases };  // kBiases: [buckets][heads], of a stack's first layer
  enum Matrix : uint32_t { kQ, kK, kV, kO };
  enum Input : uint32_t { kNormed, kMixed };

  T5SelfBlock(const ModelConfig& config, uint32_t layer);
  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t q_size_;
  bool is_encoder_;
};

/// Attention of the decoder's rows to the encoder's.
class T5CrossBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kNorm };
  enum Matrix : uint32_t { kQ, kK, kV, kO };
  enum Input : uint32_t { kNormed, kMixed, kEncoded };

  explicit T5CrossBlock(const ModelConfig& config);
  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;
  void keep_encoded(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t q_size_;
};

/// One inner layer, or several of one width; with a gate there is one.
class T5FeedForwardBlock final : public LayerBlock {
 public:
  /// kHiddenBias and kHidden: of the second inner layer, those of further ones behind.
  enum Vector : uint32_t { kNorm, kInBias, kOutBias, kHiddenBias };
  enum Matrix : uint32_t { kIn, kOut, kUp, kHidden = kUp };  // kUp: of gated networks
  enum Input : uint32_t { kNormed, kInner };

  T5FeedForwardBlock(const ModelConfig& config, uint32_t layer);
  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t inner_;
  uint32_t more_layers_;  // inner ones behind the first
  T5Config::Activation activation_;
  bool is_gated_;
};

}  // namespace tessera::model
