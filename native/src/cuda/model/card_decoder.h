// The decoder on a card: the passes of model::Decoder (decoder.h) in BF16, as kernels on a queue. A
// pass is one copy of its plan and a fixed chain of launches; nothing comes back to the host before
// logits are asked for.
//
// Every output element is reduced in an order fixed by its own inputs alone, as on the CPU: results
// are bit-identical alone and in any batch. They are not those of the CPU, whose residual products
// round at other places: keys and values of one are never read by the other.
//
// Thread-safety: one thread at a time, that of the queue.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device/launch_graphs.h"
#include "cuda/kernels/attend_kernels.h"
#include "cuda/kernels/multiply_kernels.h"
#include "cuda/model/card_weights.h"

namespace tessera::model::cuda {

/// Rows of one request in a pass: prompt tokens, or beams of one step (attention/kv_view.h). All
/// addresses are the card's.
struct CardRows {
  std::span<uint16_t* const> blocks;  // of the prompt, in the layout of attend_kernels.h
  uint32_t row_count = 0;
  uint32_t first_position = 0;  // of the first row (prompt), or of every row (beams)
  // Beams only: [layers][max_steps][max_width][kv_heads][head_dim].
  uint16_t* own_keys = nullptr;
  uint16_t* own_values = nullptr;
  uint32_t max_steps = 0;
  uint32_t max_width = 0;
  uint32_t step = 0;                    // 1-based; 0: prompt rows
  std::span<const uint32_t> ancestors;  // [row_count][step - 1]
  /// The same on the card, in place of them; null: `ancestors` hold.
  const uint32_t* card_ancestors = nullptr;
};

struct CardLimits {
  uint32_t rows = 0;       // of a pass
  uint32_t context = 0;    // positions of a prompt
  uint32_t head_rows = 0;  // whose logits are asked for at once
};

inline constexpr size_t kGraphsMax = 64;  // shapes of passes that are kept as graphs

class CardDecoder {
 public:
  /// Errors: those of ModelConfig::load and CardWeights::load. The queue outlives the decoder.
  static Result<std::unique_ptr<CardDecoder>> load(const std::string& folder,
                                                   const CardLimits& limits,
                                                   device::cuda::Queue& queue);
  CardDecoder(const CardDecoder&) = delete;
  CardDecoder& operator=(const CardDecoder&) = delete;

  const ModelConfig& config() const { return config_; }
  const CardLimits& limits() const { return limits_; }
  const device::cuda::LaunchGraphs& graphs() const { return graphs_; }
  uint64_t weight_bytes() const { return weights_.bytes; }
  /// Of a pool's block: attention::cuda::kBlockPositions positions, all layers.
  uint64_t block_bytes() const;

  /// Runs all layers; keys and values of the rows are in their places afterwards. REQUIRES: tokens
  /// in [0, vocab_size), rows and positions within the limits, groups cover all rows in order.
  /// Errors: what the queue says.
  Status forward(std::span<const int32_t> tokens, std::span<const CardRows> groups);
  /// The same for tokens that are on the card.
  Status forward(const int32_t* card_tokens, std::span<const CardRows> groups);
  /// Of the last pass, on the card: [rows][hidden], behind the final norm. A fault in a row's
  /// keys and values shows here, because a row attends to itself.
  const uint16_t* final_rows() const { return normed_; }
  /// logits: [rows][ids] on the card. `rows` and `ids` on the card too; rows of the last pass.
  /// `sums`: null, or [rows] log-sum-exps over the whole vocabulary. REQUIRES: at most head_rows.
  Status head(const uint32_t* rows, uint32_t row_count, const int32_t* ids, uint32_t id_count,
              float* logits, float* sums);

 private:
  CardDecoder(ModelConfig config, const CardLimits& limits, device::cuda::Queue& queue)
      : config_(std::move(config)), limits_(limits), queue_(queue), graphs_(queue, kGraphsMax) {}

  /// The bytes that a pass copies to the card, laid out in plan_.
  struct Plan;
  class Staging;
  Status allocate();
  Status fill_rope();
  Plan lay_out(std::span<const int32_t> tokens, const int32_t* card_tokens,
               std::span<const CardRows> groups);
  Status run(const Plan& plan);
  Status launch_layers(const Plan& plan);
  Status attend(const Plan& plan, uint32_t layer, const CardLayer& weights);
  Status multiply(const uint16_t* x, uint32_t k, const uint16_t* w, uint32_t columns,
                  const uint16_t* bias, uint16_t* y);
  Status norm(const uint16_t* added, const uint16_t* weight);
  uint32_t splits_max() const;

  ModelConfig config_;
  CardLimits limits_;
  device::cuda::Queue& queue_;
  device::cuda::LaunchGraphs graphs_;  // of passes
  CardWeights weights_;
  device::cuda::Memory memory_;
  uint32_t rows_ = 0;              // of the last pass, spare ones among them
  float* hidden_ = nullptr;        // [rows][hidden]: the residual stream
  uint16_t* normed_ = nullptr;     // [rows][hidden]
  uint16_t* added_ = nullptr;      // [rows][hidden]: what the next norm adds first
  uint16_t* projected_ = nullptr;  // [rows][heads + 2 kv_heads][head_dim]
  uint16_t* q_ = nullptr;          // [rows][heads][head_dim]
  uint16_t* mixed_ = nullptr;      // [rows][heads][head_dim]
  uint16_t* gate_up_ = nullptr;    // [rows][2 intermediate]
  uint16_t* gated_ = nullptr;      // [rows][intermediate]
  float* part_values_ = nullptr;   // [splits][rows][heads][head_dim]
  attention::cuda::Part* parts_ = nullptr;
  float* head_logits_ = nullptr;  // [head rows][vocab]
  float* cosines_ = nullptr;      // [context + steps][head_dim / 2]
  float* sines_ = nullptr;
  char* plan_ = nullptr;
  uint64_t plan_bytes_ = 0;
  std::vector<char> staged_;  // the plan before it is copied
};

}  // namespace tessera::model::cuda
