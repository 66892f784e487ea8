// A feed-forward network of many gated ones (gated_block.h) of which a router chooses a few for
// each row, and, in some families, one that all rows go through behind a gate of its own
// (Qwen2-MoE). Sources: Shazeer et al. 2017, arXiv:1701.06538; the definitions of transformers'
// qwen3_moe, qwen2_moe and olmoe.
//
// A row's bits depend on the row alone: the router is F32 in canonical reductions, and the outputs
// of a row's experts are added to it in the order of their numbers.
#pragma once

#include <cstdint>

#include "model/layer_block.h"
#include "model/model_config.h"

namespace tessera::model {

class ExpertsBlock final : public LayerBlock {
 public:
  enum Vector : uint32_t { kPostNorm, kRouter, kSharedRouter };
  /// The experts' follow: all gates, all ups, all downs.
  enum Matrix : uint32_t { kSharedGate, kSharedUp, kSharedDown };
  enum Input : uint32_t { kNormed, kGated, kSharedGated };

  explicit ExpertsBlock(const ModelConfig& config);

  BlockWork work() const override;
  ExpertLimits expert_limits() const override;
  void forward(const BlockWeights& weights, Pass& pass) const override;

 private:
  void add_shared();
  void add_experts();
  /// Writes the shared expert's gated rows; returns the normalised rows, [rows][hidden].
  const float* gate_shared(const BlockWeights& weights, float* shared, Pass& pass) const;
  bool has_shared() const { return mixture_.shared_size > 0; }
  uint32_t first_gate() const { return has_shared() ? kSharedDown + 1 : 0; }
  uint32_t first_up() const { return first_gate() + mixture_.experts; }
  uint32_t first_down() const { return first_up() + mixture_.experts; }

  const MixtureConfig mixture_;
  const uint64_t hidden_;
};

}  // namespace tessera::model
