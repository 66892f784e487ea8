// One request's keys and values with the passes that fill them, as an engine would run them. Test
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/processor_decoder.h"

namespace tessera::model {

class TestRequest {
 public:
  /// `adapter`, which may be null, outlives the request.
  TestRequest(const Decoder& decoder, uint32_t max_prompt, uint32_t max_steps, uint32_t max_width,
              const Adapter* adapter = nullptr);
  TestRequest(const TestRequest&) = delete;

  /// Appends prompt tokens in chunks of `chunk` rows.
  void prefill(std::span<const int32_t> tokens, uint32_t chunk);
  /// One step: row r continues the row parents[r] of the step before (ignored in the first).
  void step(std::span<const int32_t> tokens, std::span<const uint32_t> parents);

  /// Logits of all tokens for a row of the last pass.
  std::vector<float> logits(uint32_t row);
  std::vector<float> log_sum_exp(uint32_t rows);
  uint32_t last_row() const { return last_rows_ - 1; }
  PassMemory& memory() { return *memory_; }
  /// REQUIRES: the decoder is the processor's.
  Workspace& workspace() { return static_cast<Workspace&>(*memory_); }
  attention::PromptKv& prompt() { return prompt_; }
  const attention::BeamKv& beam() const { return beam_; }

 private:
  void forward(std::span<const int32_t> tokens, const attention::RowGroup& group);

  const Decoder& decoder_;
  const Adapter* adapter_;
  std::unique_ptr<PassMemory> memory_;
  attention::PromptKv prompt_;
  attention::BeamKv beam_;
  std::vector<device::Buffer> block_memory_;
  std::vector<void*> blocks_;
  device::Buffer beam_keys_, beam_values_;
  static constexpr size_t kLineFloats = 16;
  struct alignas(64) Line {
    float floats[kLineFloats] = {};
  };
  std::vector<Line> state_memory_;
  attention::DeltaState state_;
  std::vector<float> slots_;
  std::vector<uint32_t> ancestors_;  // of the last step's rows, [rows][steps taken - 1]
  uint32_t steps_ = 0;
  uint32_t last_slot_ = 0, next_slot_ = 0;  // of the last step's first row, and of the next one's
  uint32_t last_rows_ = 0;
};

}  // namespace tessera::model
