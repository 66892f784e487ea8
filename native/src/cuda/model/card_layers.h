// The launches of a pass: all layers and the final norm.
#pragma once

#include <cstdint>

#include "cuda/device/queue.h"
#include "cuda/model/card_pass.h"
#include "cuda/model/card_plan.h"
#include "cuda/model/card_weights.h"

namespace tessera::model::cuda {

class CardLayers {
 public:
  CardLayers(const ModelConfig& config, const CardWeights& weights, const CardPass& pass)
      : config_(config), weights_(weights), queue_(*pass.queue_), card_(pass.card_) {}

  /// Asks for them; what they read beside the weights lies in the pass's memory.
  Status launch(const CardPlan& plan) const;
  /// Marks those of the first `rows` final rows that are not finite, in the memory's flags.
  Status check(uint32_t rows) const;

 private:
  /// The product of the layer's rows.
  struct Factors {
    const uint16_t* x = nullptr;
    const CardMatrix& w;
    uint32_t columns = 0;
    const uint16_t* bias = nullptr;
    uint16_t* y = nullptr;
  };
  Status launch_layer(const CardPlan& plan, uint32_t layer) const;
  Status multiply(const CardPlan& plan, uint32_t layer, CardProduct number,
                  const Factors& factors) const;
  Status project(const TermRange& terms, const Factors& factors) const;
  Status multiply_whole(const ops::cuda::Product& product, const Factors& factors) const;
  Status norm(const CardPlan& plan, const uint16_t* added, const uint16_t* weight,
              float* exact) const;
  Status place(const CardPlan& plan, uint32_t layer) const;
  Status attend(const CardPlan& plan, uint32_t layer) const;
  attention::cuda::Layer shape_of(uint32_t layer) const;

  const ModelConfig& config_;
  const CardWeights& weights_;
  device::cuda::Queue& queue_;
  const PassArrays& card_;
};

}  // namespace tessera::model::cuda
