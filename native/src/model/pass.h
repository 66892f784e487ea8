// One forward pass, as the blocks of its layers see it: the rows of the residual stream, scratch,
// and the steps that blocks are made of. A block says which of its inputs and matrices a step is
// about; scales, adapters and measured ranges are found here. Private to the decoder and its
// blocks.
//
// Thread-safety: the thread that runs the pass; steps fork over the device's threads themselves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "attention/attention.h"
#include "attention/delta_rule.h"
#include "attention/kv_view.h"
#include "device/device.h"
#include "model/decoder.h"
#include "model/expert_scratch.h"
#include "model/recipe.h"
#include "model/static_scales.h"
#include "model/workspace.h"
#include "ops/layer_norm.h"
#include "ops/matmul.h"
#include "ops/operand.h"
#include "ops/rope.h"
#include "ops/route.h"

namespace tessera::model {

/// The input of a product: the operand, and the floats it was written from.
struct ProductRows {
  ops::Operand operand;
  const float* floats = nullptr;  // [operand.rows][operand.k]
};

class Pass {
 public:
  /// All outlive the pass.
  Pass(const Recipe& recipe, ComputeType type, std::span<const LayerScales> scales,
       device::Device& device, const ForwardBatch& batch, Workspace& workspace,
       const StaticScales* static_scales = nullptr)
      : recipe_(recipe),
        type_(type),
        scales_(scales),
        device_(device),
        batch_(batch),
        workspace_(workspace),
        static_scales_(static_scales) {}

  /// Runs the blocks of the next layer.
  void run(const Layer& layer, std::span<const BlockWeights> weights);
  /// Keeps what the blocks of the next layer, one of a decoder, read of the pass's rows.
  void keep_encoded(const Layer& layer, std::span<const BlockWeights> weights);
  /// The next layer is this one, and the first that has keys and values.
  void begin_at(uint32_t layer) { layer_ = layer; }

  const ModelConfig& config() const { return recipe_.config(); }
  ComputeType type() const { return type_; }
  device::Device& device() { return device_; }
  uint64_t rows() const { return batch_.tokens.size(); }
  /// The residual stream: [rows][hidden_size].
  float* hidden();
  /// [rows][n] of the block's own, behind arrays of `offset` floats per row. Nothing is left in it
  /// of the block before. REQUIRES: offset + n <= the block's floats_per_row().
  float* scratch(uint64_t offset);

  /// The rows of the residual stream, normalised by their root mean square, as input `input` of the
  /// block. Holds until the next product's rows are written.
  ProductRows norm(uint32_t input, const float* weight);
  /// The rows of the residual stream, normalised by mean and variance, as input `input`; bias may
  /// be null. Holds likewise.
  ProductRows layer_norm(uint32_t input, const float* weight, const float* bias);
  /// Normalises the residual stream itself by mean and variance, when it is next read, so that
  /// what reads it finds it in the cache; bias may be null.
  void normalise_stream(const float* weight, const float* bias);
  /// Adds to each row of the residual stream the row that tables of hidden_size columns have for
  /// its position, and for its segment.
  void add_positions(const float* table);
  void add_segments(const float* table);
  /// Normed rows as floats, [rows][hidden_size].
  const float* norm_floats(uint32_t input, const float* weight);
  /// Rows of k floats as input `input` of the block. Holds likewise.
  ProductRows rows_of(uint32_t input, const float* floats, uint64_t k);
  /// The rows of the residual stream as they are, as input `input`. Holds likewise.
  ProductRows stream_rows(uint32_t input);
  /// The product of `x` as `multiply` makes it, as input `input` of the block: with static scales
  /// each of its values becomes one of the left side at once, and target.y is not written.
  ProductRows multiply_to_rows(const ProductRows& x, std::initializer_list<uint32_t> matrices,
                               ops::Target target, uint32_t input);
  /// Products of `x`, with the terms that the pass's adapters have for the block's matrices of
  /// these numbers: one for each target's `w`, and behind the first one's, one for its `up`.
  void multiply(const ProductRows& x, std::initializer_list<uint32_t> matrices,
                std::span<ops::Target> targets);
  /// Normalises rows of n floats in place by their root mean square.
  void normalise(float* x, uint64_t n, const float* weight);
  /// y *= sigmoid(x . w) of every row: x is [rows][hidden_size], y [rows][n].
  void scale_by_sigmoid(const float* x, const float* w, float* y, uint64_t n);
  /// Copies the queries that the block has projected, and scales y by its gates.
  void copy_queries(const float* both, float* q);
  void scale_by_gates(const float* both, float* y);
  /// Chooses experts for every row of x, [rows][hidden_size]; what follows is about them.
  void choose(const ops::Router& router, const float* x);
  /// y = silu(x gate) * (x up) of each chosen pair, with the block's matrices from `first_gate` and
  /// `first_up` on, one for each expert: [pairs][outputs], in the order of ops::ExpertRows. Pairs
  /// are input `input` of the block.
  void multiply_experts(uint32_t input, const ExpertInput& x, const BlockWeights& weights,
                        uint32_t first_gate, uint32_t first_up, float* y);
  /// Adds the products of the chosen pairs, each times the weight of its expert, to the residual
  /// stream.
  void add_experts(uint32_t input, const ExpertInput& x, const BlockWeights& weights,
                   uint32_t first_matrix);
  /// Rotates rows to their positions.
  void rotate(std::span<const ops::RopeRows> rows);
  /// Rotates by the angles of layers that see what is near.
  void rotate_locally(std::span<const ops::RopeRows> rows);
  /// Rows of n floats become the left side of a product with keys, as rotate() can leave them.
  void round(float* x, uint64_t n);
  /// Keeps keys and values of all rows, and then lets the rows attend: `mixed` is [rows][q_size].
  void attend(const float* q, const float* k, const float* v, float* mixed,
              const attention::Sight& sight = {});
  /// Lets rows of a decoder attend to what their prompts have of the encoder: [rows][q_size] both.
  void attend_encoded(const float* q, float* mixed);
  /// Keeps keys and values of all rows for the layer.
  void keep(const float* k, const float* v);
  /// Takes the biases of a stack's layers from its table, [buckets][heads].
  void set_biases(const float* table, bool is_encoder);
  /// The positions that rows of a stack see of their own, with those biases.
  attention::Sight sight(bool is_encoder) const;
  /// x = activation(x), of a gated network times up: rows of n floats; `up`, which may be null, is
  /// overwritten.
  void activate(T5Config::Activation activation, float* x, float* up, uint64_t n);
  /// Runs the layer's recurrence (attention/delta_rule.h) over the groups of the pass.
  void recur(const attention::DeltaWeights& weights, const attention::DeltaRows& rows);

 private:
  /// Calls `use` with each block of the next layer and its weights.
  template <typename Use>
  void for_blocks(const Layer& layer, std::span<const BlockWeights> weights, const Use& use);
  attention::Layer attention_layer(const attention::Sight& sight) const;
  ops::Operand operand(uint32_t input, uint64_t k, Workspace::Side side = Workspace::Side::kRows);
  void run_pending_norm();
  /// The fixed scales of an input of the block.
  std::span<const float> scales_of(uint32_t input) const {
    return scales_[layer_][first_input_ + input];
  }
  void measure(uint32_t input, const float* floats, uint64_t rows, uint64_t k);
  /// The rows of each expert, [pairs][k] in the order of ops::ExpertRows.
  void measure_experts(uint32_t input, const ExpertInput& x);

  const Recipe& recipe_;
  const ComputeType type_;
  const std::span<const LayerScales> scales_;  // per layer
  device::Device& device_;
  const ForwardBatch& batch_;
  Workspace& workspace_;
  const StaticScales* const static_scales_;     // of kW8A8Static
  std::optional<ops::LayerNorm> pending_norm_;  // of the residual stream
  uint32_t layer_ = 0;
  uint32_t attention_layer_ = 0;  // the next among those that have keys and values
  uint32_t first_input_ = 0;      // of the block that runs, among the layer's
  uint32_t first_matrix_ = 0;     // likewise
};

}  // namespace tessera::model
