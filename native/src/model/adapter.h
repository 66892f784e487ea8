// An adapter as a forward pass reads it: low-rank factors of the layers' matrices, rows of the
// embedding and columns of the head in the place of the model's. Numbers only; lora reads, checks
// and owns them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/embed.h"
#include "ops/low_rank.h"
#include "ops/packed_matrix.h"

namespace tessera::model {

/// Factors of one layer's matrices, in the order of Layer::matrices(); those that are not set: the
/// product is the model's.
using LayerAdapter = std::vector<ops::LowRank>;

/// Factors, embedding and head are of the type of the decoder's head (model/compute_type.h). Owns
/// no numbers; immutable.
struct Adapter {
  std::vector<LayerAdapter> layers;  // as many as the model's
  ops::ReplacedRows embedding;       // no ids: none
  ops::PanelOverlay head;            // no panels: none
};

/// Rows [first, first + count) of a pass that run with an adapter.
struct AdapterRows {
  const Adapter* adapter = nullptr;
  uint32_t first = 0;
  uint32_t count = 0;
};

}  // namespace tessera::model
