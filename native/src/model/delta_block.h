// A gated delta net (Yang et al. 2024, arXiv:2412.06464) in the place of attention: projections, a
// short causal convolution, the delta rule over the prompt's state, and a gated norm. Qwen3.5 has
// a projection of each kind; Qwen3-Next has them together, by key head.
#pragma once

#include <cstdint>

#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

class DeltaBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kInputNorm, kTaps, kStepBias, kLogRate, kOutputNorm };
  enum Matrix : uint32_t { kQkv, kZ, kB, kA, kOut };  // apart
  enum Together : uint32_t { kQkvz, kBa, kOutOfTogether };
  enum Input : uint32_t { kNormed, kMixed };

  DeltaBlock(const ModelConfig& config, bool is_together);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  /// Floats per row in the block's scratch.
  struct Layout {
    uint64_t channels, values, heads;
    uint64_t inputs() const { return 0; }
    uint64_t gates() const { return channels; }
    uint64_t strengths() const { return gates() + values; }
    uint64_t decays() const { return strengths() + heads; }
    uint64_t factors() const { return decays() + heads; }
    uint64_t mixed() const { return factors() + 2 * heads; }
    uint64_t out() const { return mixed() + channels; }
    uint64_t end() const { return out() + values; }
  };

  void project(const BlockWeights& weights, Pass& pass) const;
  /// Projects by key head; the results lie where mixed and out will be.
  void project_together(const BlockWeights& weights, Pass& pass) const;

  const DeltaConfig shape_;
  const uint64_t hidden_;
  const bool is_together_;
  const Layout at_;
};

}  // namespace tessera::model
