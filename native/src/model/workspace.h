// All memory that forward passes on the processor write.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/attention.h"
#include "attention/delta_rule.h"
#include "base/status.h"
#include "device/device.h"
#include "model/activation_scales.h"
#include "model/adapter_scratch.h"
#include "model/compute_type.h"
#include "model/expert_scratch.h"
#include "model/pass_memory.h"
#include "model/recipe.h"
#include "model/stacks.h"
#include "model/static_scales.h"
#include "ops/operand.h"
#include "ops/rope.h"

namespace tessera::model {

class Workspace final : public PassMemory {
 public:
  /// For up to max_rows rows per pass in up to max_adapters stretches that run with an adapter, and
  /// prompts of up to max_context positions. Errors: ENGINE_OVERLOADED.
  static Result<std::unique_ptr<Workspace>> allocate(const Recipe& recipe, ComputeType type,
                                                     uint32_t max_rows, uint32_t max_context,
                                                     uint32_t max_adapters, device::Device& device);

  /// Makes forward passes add to `ranges`, which outlives them; null ends it.
  void measure(ActivationRanges* ranges) { ranges_ = ranges; }
  /// Makes forward passes add to the ranges that static scales are made of.
  void measure(InputRanges* ranges) { input_ranges_ = ranges; }

  Result<float*> results(uint64_t count) override {
    results_.resize(count);
    return results_.data();
  }

 private:
  friend class ProcessorDecoder;
  friend class Encoder;
  friend class Pass;
  Workspace() = default;
  /// A pass of so many rows.
  void begin(uint32_t rows) {
    rows_ = rows;
    times_ = {};
    expert_use_ = {};
  }
  uint32_t rows() const { return rows_; }
  /// A table of rotary positions and its numbers.
  class Angles {
   public:
    void fill(const std::vector<float>& frequencies, double magnitude, uint64_t positions);
    ops::RopeTable table;

   private:
    std::vector<float> cos_, sin_;
  };
  /// Biases of attention by distance, of the stack of layers that runs.
  class Biases {
   public:
    void allocate(const ModelConfig& config, uint32_t reach);
    /// From a table of [buckets][heads].
    void fill(const float* table, uint32_t heads, bool is_encoder);
    attention::DistanceBias bias() const { return {values_.data(), reach_}; }

   private:
    uint32_t reach_ = 0;
    std::vector<uint32_t> both_sides_, before_;  // buckets of distances -reach..reach
    std::vector<float> values_;                  // [heads][2 reach + 1]
  };
  /// Where a left side lies: one that is written from floats, or one that a product makes of
  /// another, which it reads meanwhile.
  enum class Side : uint8_t { kRows, kMade };
  /// The left side of the next product: `rows` rows of k elements.
  ops::Operand operand(device::PanelType type, uint64_t rows, uint64_t k, Side side = Side::kRows);

  InputRanges* input_ranges_ = nullptr;
  ActivationRanges* ranges_ = nullptr;
  device::Buffer memory_;
  float* hidden_ = nullptr;   // [rows][hidden]: the residual stream
  float* normed_ = nullptr;   // [rows][hidden]: after a norm; in the end the final norm
  float* scratch_ = nullptr;  // [rows][floats_per_row] of whichever block runs
  device::Buffer operand_;    // of whichever product comes next
  std::vector<float> operand_scales_;
  device::Buffer made_operand_;  // with static scales
  std::vector<float> made_scales_;
  std::vector<uint32_t> positions_;
  std::vector<float> head_scratch_, results_;
  float* settled_ = nullptr;  // [rows][hidden] of models with an encoder: final norms so far
  Biases biases_;
  Stacks stacks_;
  Angles angles_;
  Angles local_angles_;  // of layers that see what is near
  attention::Scratch attention_;
  attention::DeltaScratch delta_;
  AdapterScratch adapters_;
  ExpertScratch experts_;
};

}  // namespace tessera::model
