// From hidden rows to selections: the head's product for the beams of all requests whose logits are
// due after a pass, then the choice of each one's next beams. Engine thread only; buffers are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "beam/select.h"
#include "engine/running_request.h"
#include "model/decoder.h"
#include "scheduler/cost_model.h"

namespace tessera::engine {

class Head {
 public:
  explicit Head(const model::Decoder& decoder)
      : decoder_(decoder), scratch_(beam::make_scratch()) {}

  /// Applies the coming selection of every running request whose logits are due, and times it; of
  /// those that read hidden states it gives these.
  /// Errors: what the device says.
  Result<scheduler::HeadWork> select(std::span<RunningRequest* const> running,
                                     model::PassMemory& memory);

 private:
  /// Rows of one step of a request whose logits are due, and where these go: indices into the
  /// arrays below.
  struct Due {
    RunningRequest* state = nullptr;
    const RunningRequest::DueRows* rows = nullptr;
    uint32_t count = 0;
    size_t row = 0;   // into rows_, log_sum_exp_ and next_terminal_
    size_t code = 0;  // into code_logits_
    size_t terminal = 0;
    size_t token_set = 0, token_sets = 0;
  };

  Result<scheduler::HeadWork> collect(std::span<RunningRequest* const> running,
                                      model::PassMemory& memory);
  Status give_hidden(RunningRequest& state, model::PassMemory& memory);
  Status multiply(model::PassMemory& memory);
  beam::StepLogits logits_of(const Due& due);
  void take(const Due& due);

  const model::Decoder& decoder_;
  std::unique_ptr<beam::Scratch, beam::ScratchDeleter> scratch_;
  std::vector<Due> due_;
  std::vector<uint32_t> rows_;
  // In the memory of the pass.
  float* code_logits_ = nullptr;
  float* terminal_logits_ = nullptr;
  float* log_sum_exp_ = nullptr;
  std::vector<float> next_terminal_;
  std::vector<ops::HeadTokens> token_sets_;
  std::vector<model::HeadRequest> requests_;
};

}  // namespace tessera::engine
