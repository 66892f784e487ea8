// Memory that passes on a card write: arrays there, and pinned memory of the host for the plan of
// a pass and for results.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/device/launch_graphs.h"
#include "cuda/device/queue.h"
#include "cuda/kernels/attend_kernels.h"
#include "model/compute_type.h"
#include "model/forward_batch.h"
#include "model/model_config.h"
#include "model/pass_memory.h"

namespace tessera::model::cuda {

inline constexpr size_t kGraphsMax = 64;  // shapes of passes that are kept as graphs

/// Arrays on the card; [rows] of all rows of the memory.
struct PassArrays {
  float* hidden = nullptr;        // [rows][hidden]: the residual stream
  uint16_t* normed = nullptr;     // [rows][hidden]
  float* final_rows = nullptr;    // [rows][hidden] behind the final norm, unrounded
  uint16_t* added = nullptr;      // [rows][hidden]: what the next norm adds first
  uint16_t* projected = nullptr;  // [rows][heads + 2 kv_heads][head_dim]
  uint16_t* q = nullptr;          // [rows][heads][head_dim]
  uint16_t* mixed = nullptr;      // [rows][heads][head_dim]
  uint16_t* gate_up = nullptr;    // [rows][2 intermediate]
  uint16_t* gated = nullptr;      // [rows][intermediate]
  int8_t* quantised =
      nullptr;  // [rows] of the widest input, in whole tiles, where products are INT8
  float* quantised_scales = nullptr;
  float* part_values = nullptr;  // [splits][rows][heads][head_dim]
  float* part_logs = nullptr;    // [splits][rows][heads]
  // Buffers of passes with adapters:
  uint16_t* inner = nullptr;   // [kPartsMax][rows][kRankMax]
  float* sums = nullptr;       // [rows][most columns of a product]: before terms are added
  uint32_t* struck = nullptr;  // [rows]: 1 where the last pass has a number that is not finite
  float* cosines = nullptr;    // [context + steps][head_dim / 2]
  float* sines = nullptr;
  // The head's: a plan of row numbers and token ids, results, logits of the vocabulary.
  char* head_plan = nullptr;
  float* results = nullptr;
  float* vocab_logits = nullptr;
};

/// Arrays of the host, pinned.
struct HostArrays {
  uint32_t* struck = nullptr;
  float* rows = nullptr;  // [rows][hidden]
  char* head_plan = nullptr;
  float* results = nullptr;
};

class CardPass final : public PassMemory {
 public:
  /// For up to max_rows rows in up to max_adapters stretches with an adapter, and prompts of up to
  /// max_context positions. Errors: ENGINE_OVERLOADED.
  static Result<std::unique_ptr<CardPass>> allocate(const ModelConfig& config, ComputeType type,
                                                    uint32_t max_rows, uint32_t max_context,
                                                    uint32_t max_adapters,
                                                    std::shared_ptr<device::cuda::Queue> queue);
  ~CardPass() override;

  const device::cuda::LaunchGraphs& graphs() const { return graphs_; }
  uint32_t rows() const { return rows_; }
  Result<float*> results(uint64_t count) override;

 private:
  friend class CardDecoder;
  friend class CardHead;
  friend class CardLayers;
  friend class CardPlanner;

  explicit CardPass(std::shared_ptr<device::cuda::Queue> queue)
      : queue_(std::move(queue)), graphs_(*queue_, kGraphsMax) {}
  static uint64_t lay_out(const ModelConfig& config, const CardPass& sizes, char* base,
                          PassArrays& arrays);
  static uint64_t lay_out(const ModelConfig& config, const CardPass& sizes, char* base,
                          HostArrays& arrays);
  Status fill_rope(const ModelConfig& config);
  /// Room for a plan, which mirrors alone may need more of than there is: their number has no
  /// bound. Errors: ENGINE_OVERLOADED.
  Status reserve_plan(uint64_t bytes);
  /// Waits for all launches and copies of this memory.
  Status finish();
  /// True where a copy can be made to these floats as they are.
  bool is_pinned(const float* at, uint64_t count) const {
    const auto* const begin = given_memory_.as<float>();
    return at >= begin && at + count <= begin + given_;
  }

  const std::shared_ptr<device::cuda::Queue> queue_;
  ComputeType type_ = ComputeType::kBf16;
  uint32_t max_context_ = 0;
  uint32_t max_adapters_ = 0;
  uint64_t results_max_ = 0;  // floats that come back at once
  uint32_t vocab_rows_ = 0;   // whose logits of the vocabulary are computed at once
  uint64_t head_plan_bytes_ = 0;
  device::cuda::Memory memory_, plan_memory_;
  device::cuda::PinnedMemory host_memory_, host_plan_memory_;
  device::cuda::PinnedMemory given_memory_;  // results()
  uint64_t given_ = 0;                       // floats
  PassArrays card_;
  HostArrays host_;
  char* plan_ = nullptr;
  char* host_plan_ = nullptr;
  uint64_t plan_bytes_ = 0;
  device::cuda::LaunchGraphs graphs_;  // of passes, whose arguments lie in this memory
  bool is_pending_ = false;            // something was asked for and not waited for
};

}  // namespace tessera::model::cuda
