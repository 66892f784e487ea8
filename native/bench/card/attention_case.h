// Attention of a prompt's rows and of a step's beams over a prompt's blocks on a card, a layer
// after the other as a pass does, so that no keys are found in the card's cache.
#pragma once

#include "card/bench_card.h"
#include "card/report.h"
#include "card/shapes.h"

namespace tessera::bench::card {

struct AttentionSizes {
  uint32_t context = 0;  // tokens of the prompt
  uint32_t beams = 0;    // 0: the prompt's own rows
};

/// Of one layer: products, and keys, values and queries read once.
Work attention_work(const Shape& shape, const AttentionSizes& sizes);

/// Seconds of one layer, once rows of it have been found right.
Result<double> attention_seconds(BenchCard& card, const Rounds& rounds, const Shape& shape,
                                 const AttentionSizes& sizes);

}  // namespace tessera::bench::card
