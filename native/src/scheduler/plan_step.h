// Who runs in the next forward pass: a pure function of what is running and of the row budget. It
// sees neither tensors nor tries, so every decision can be tested with literals.
//
// Rule: decode rows first, oldest request first (they are nearest to their answer and hold memory),
// all beams of a request or none; then prompt chunks, oldest first, as far as the chunk and row
// budgets reach. A decode that does not fit keeps its place: no younger decode overtakes it, so
// nobody starves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::scheduler {

/// One running request. Exactly one of the two counts is > 0.
struct Runnable {
  uint32_t prompt_rows = 0;  // prompt tokens not yet computed
  uint32_t decode_rows = 0;  // beams waiting for their next logits
};

struct Budget {
  uint32_t rows = 0;         // rows of a forward pass at most; >= decode_rows of any single request
  uint32_t prompt_rows = 0;  // of these, prompt tokens at most; >= 1
};

struct Share {
  uint32_t runnable = 0;  // index into the span given
  uint32_t rows = 0;      // > 0: prompt tokens of this chunk, or all beams
};

/// REQUIRES: `runnable` oldest first. Clears and fills `plan`; empty only when `runnable` is empty.
void plan_step(std::span<const Runnable> runnable, const Budget& budget, std::vector<Share>& plan);

}  // namespace tessera::scheduler
