// From hidden rows to selections: the head's products for the beams of the requests that have
// finished a pass, then the choice of their next beams. Engine thread only; buffers are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "beam/select.h"
#include "engine/request_state.h"
#include "model/decoder.h"
#include "model/workspace.h"

namespace tessera::engine {

class Head {
 public:
  explicit Head(const model::Decoder& decoder)
      : decoder_(decoder), scratch_(beam::make_scratch()) {}

  /// Applies the coming selection of a request whose logits are due, and times it.
  void select(RequestState& state, model::Workspace& workspace);
  /// Rows of the head that select() multiplies each beam of a request with.
  static uint64_t cells_per_row(const RequestState& state, const model::Decoder& decoder);

 private:
  beam::StepLogits multiply(const RequestState& state, model::Workspace& workspace);

  const model::Decoder& decoder_;
  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> scratch_;
  beam::Step step_;
  std::vector<uint32_t> rows_;
  std::vector<float> code_logits_, terminal_logits_, next_terminal_, log_sum_exp_;
};

}  // namespace tessera::engine
