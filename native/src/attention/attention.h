// Scaled dot-product attention with grouped queries (Ainslie et al. 2023, arXiv:2305.13245),
// causal, over the views of kv_view.h. Prompt rows see the prompt up to themselves. Beam rows of a
// request see all of the shared prompt, as one product for all beams, and their own ancestors,
// joined in one softmax.
//
// Bits of a row depend on the row's own inputs alone: position p of the prompt is always lane p mod
// 16 of every sum, so chunks, batches and threads change nothing. BF16: keys, values and
// probabilities are rounded to BF16, sums are F32.
#pragma once

#include <cstdint>
#include <span>

#include "attention/kv_view.h"
#include "base/status.h"
#include "device/device.h"
#include "tensor/dtype.h"

namespace tessera::attention {

inline constexpr uint32_t kMaxSteps = 64;  // decode steps a beam may have taken
inline constexpr uint32_t kQueriesPerTask = 16;

/// One layer's attention.
struct Layer {
  uint32_t index = 0;  // of this layer
  uint32_t heads = 0;  // a multiple of kv_heads
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;                     // any
  tensor::DType type = tensor::DType::kF32;  // of keys and values: kF32 or kBf16
};

/// Memory of attend(), sized once: per thread a tile of scores and one of outputs.
class Scratch {
 public:
  /// For prompts of up to max_context positions. Errors: ENGINE_OVERLOADED.
  static Result<Scratch> allocate(device::Device& device, uint32_t max_context, uint32_t head_dim);

  float* of_thread(uint32_t thread) { return memory_.as<float>() + thread * floats_per_thread_; }
  uint32_t max_context() const { return max_context_; }
  uint32_t head_dim() const { return head_dim_; }

 private:
  device::Buffer memory_;
  uint64_t floats_per_thread_ = 0;
  uint32_t max_context_ = 0;
  uint32_t head_dim_ = 0;
};

/// Stores keys and values [rows][kv_heads][head_dim] of the groups' rows into their views: prompt
/// rows at their positions, beam rows at slot [step - 1][row in group]. REQUIRES: positions <
/// capacity; step <= max_steps; row_count <= max_width.
void write_kv(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
              const float* keys, const float* values);

/// out[row][head] = softmax(q[row][head] . K / sqrt(head_dim)) V, [rows][heads][head_dim] both.
/// REQUIRES: write_kv ran for these rows; for BF16 q holds BF16 values; prompts fit
/// scratch.max_context().
void attend(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
            const float* q, float* out, Scratch& scratch);

}  // namespace tessera::attention
