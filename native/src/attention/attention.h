// Scaled dot-product attention with grouped queries (Ainslie et al. 2023, arXiv:2305.13245),
// over the views of kv_view.h. Prompt rows see the prompt up to themselves, or, where a layer is
// not causal, the whole of a text or what is near them. Beam rows of a request see all of the
// shared prompt, as one product for all beams, and their own ancestors. The softmax runs online
// over tiles of positions (Milakov and Gimelshein 2018, arXiv:1805.02867).
//
// Bits of a row depend on the row's own inputs alone: tiles begin at position 0 and have one size,
// then come the own ancestors as one more tile, so chunks, batches and threads change nothing.
// BF16: keys, values and probabilities are rounded to BF16, sums are F32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/block.h"
#include "attention/kv_view.h"
#include "base/status.h"
#include "device/device.h"

namespace tessera::attention {

inline constexpr uint32_t kMaxSteps = 64;        // decode steps a beam may have taken
inline constexpr uint32_t kTilePositions = 256;  // prompt positions per tile of the softmax
inline constexpr uint32_t kQueriesPerTask = 64;

/// Added to the score of a key by how far it is from the query (T5: Raffel et al. 2020,
/// arXiv:1910.10683): values[head * stride + reach + key position - query position].
struct DistanceBias {
  const float* values = nullptr;  // null: nothing is added
  uint32_t reach = 0;             // the furthest distance, either way
  uint32_t stride() const { return 2 * reach + 1; }
};

/// Which positions of its prompt a row sees.
struct Sight {
  static constexpr uint32_t kUnlimited = 1u << 30;
  /// Prompts of an encoder and a decoder (PromptKv::encoded): a row of the decoder sees what the
  /// encoder has read, or what the decoder has, the row itself and its own steps with it.
  enum class Part : uint8_t { kWhole, kEncoded, kDecoded };

  bool is_causal = true;        // none behind its own; otherwise the group's rows are the text
  uint32_t reach = kUnlimited;  // none further away; of rows that are not causal
  Part part = Part::kWhole;
  DistanceBias bias = {};
};

/// One layer's attention.
struct Layer {
  uint32_t index = 0;  // among those that have keys and values
  uint32_t heads = 0;  // a multiple of layout.kv_heads
  BlockLayout layout;
  Sight sight = {};
  float factor = 0;  // of the scores; 0: 1 / sqrt(head_dim)
};

/// The tasks of one group among all tasks of a pass: those before `end` and after the previous
/// one's.
struct GroupTasks {
  uint32_t group = 0;
  uint32_t end = 0;
};

/// Memory of attend(): a tile per thread, sized once, and the order of a pass's tasks.
class Scratch {
 public:
  /// Errors: ENGINE_OVERLOADED.
  static Result<Scratch> allocate(device::Device& device, uint32_t head_dim);

  /// Chooses the size of tiles, and puts groups first whose rows see most, so that threads end
  /// together. Changes no result.
  void order_tasks(const Layer& layer, std::span<const RowGroup> groups);
  std::span<const GroupTasks> order() const { return order_; }
  uint32_t tile_queries() const { return tile_queries_; }
  void* of_thread(uint32_t thread) { return memory_.as<char>() + thread * bytes_per_thread_; }
  uint32_t head_dim() const { return head_dim_; }

 private:
  device::Buffer memory_;
  std::vector<GroupTasks> order_;
  uint64_t bytes_per_thread_ = 0;
  uint32_t head_dim_ = 0;
  uint32_t thread_count_ = 1;
  uint32_t tile_queries_ = 0;  // at most, in the pass at hand
};

/// Stores keys and values [rows][kv_heads][head_dim] of the groups' rows into their views and
/// mirrors: prompt rows at their positions, beam rows at slot first_slot + row in group. REQUIRES:
/// positions lie in the chains of blocks, slots and ancestors among the beams' slots; no two groups
/// or mirrors write the same position of the same block, or the same slot.
void write_kv(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
              const float* keys, const float* values);

/// out[row][head] = softmax(q[row][head] . K * factor + bias) V, [rows][heads][head_dim] both.
/// REQUIRES: write_kv ran for these rows; for BF16 q holds BF16 values.
void attend(device::Device& device, const Layer& layer, std::span<const RowGroup> groups,
            const float* q, float* out, Scratch& scratch);

}  // namespace tessera::attention
