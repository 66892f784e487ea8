// Counts of experts in a forward pass.
#pragma once

#include <cstdint>

namespace tessera::model {

/// Use of experts over all layers of one pass; all 0 where none chooses experts.
struct ExpertUse {
  uint64_t rows = 0;     // pairs of a row and an expert that it chose
  uint64_t places = 0;   // rows of the products' operands, padding included
  uint64_t touched = 0;  // experts that a row chose, each once a layer
};

}  // namespace tessera::model
