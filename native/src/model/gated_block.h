// A feed-forward network with a gate (SwiGLU, Shazeer 2020, arXiv:2002.05202): down(silu(gate(x)) *
// up(x)) of the normalised rows.
#pragma once

#include <cstdint>

#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

class GatedBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kPostNorm };
  enum Matrix : uint32_t { kGate, kUp, kDown };
  enum Input : uint32_t { kNormed, kGated };

  explicit GatedBlock(const ModelConfig& config);

  BlockWork work() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  uint64_t inner_;
};

}  // namespace tessera::model
