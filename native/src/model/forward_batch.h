// Rows of a forward pass as a model takes them. A plain view; the caller owns what it points to.
#pragma once

#include <cstdint>
#include <span>

#include "attention/kv_view.h"
#include "model/adapter.h"

namespace tessera::model {

/// One forward pass over `tokens.size()` rows of one or several requests.
struct ForwardBatch {
  std::span<const int32_t> tokens;              // token id per row, each in [0, vocab_size)
  std::span<const attention::RowGroup> groups;  // cover all rows, in order, without gaps
  std::span<const AdapterRows> adapters = {};   // in the order of rows; the others have none
  std::span<const uint32_t> segments = {};      // per row, of models that have them
  /// Views hold keys and values of every layer; otherwise of one, and each layer writes over those
  /// of the layer before.
  bool keeps_layers = true;
};

}  // namespace tessera::model
