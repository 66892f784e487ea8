// The recurrent state of a prompt in layers of gated delta nets (Yang et al. 2024,
// arXiv:2412.06464), which stands in place of keys and values. A value head's state is a matrix
// S [key_dim][value_dim]:
//
//   S_t = a_t S_(t-1) + k_t u_t',   u_t = b_t (v_t - a_t S_(t-1)' k_t),   out_t = S_t' q_t
//
// The matrix is advanced at multiples of kDeltaChunk positions only. The tokens behind the last one
// are kept by key, correction u and decay a, as the tokens of beams are, and a row adds them one by
// one. So a row's bits depend on its position and its predecessors, never on slices of the prompt.
//
//   state, floats: [layer][value head] panels of S (device/panel.h), k = key_dim
//                  [layer][position % (taps - 1)][channels]   inputs of the short convolution
//                  [position % kDeltaChunk][layer] key, correction, decay of one token
//
// A state of `length` positions is the first floats(length) of these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/panel.h"

namespace tessera::attention {

inline constexpr uint32_t kDeltaChunk = 16;
static_assert(kDeltaChunk == device::kPanelGroups);

struct DeltaShape {
  uint32_t layers = 0;  // of this kind; 0: the model has none
  uint32_t key_heads = 0;
  uint32_t value_heads = 0;             // a multiple of key_heads: neighbours share a key head
  uint32_t key_dim = 0, value_dim = 0;  // of a head
  uint32_t taps = 0;                    // of the convolution, at least 2
  bool is_narrow = false;  // rows of beams keep keys and inputs as BF16 (a prompt never does)

  uint64_t keys() const { return uint64_t{key_heads} * key_dim; }
  uint64_t values() const { return uint64_t{value_heads} * value_dim; }
  /// Queries, keys and values of a row, in this order.
  uint64_t channels() const { return 2 * keys() + values(); }
  uint64_t matrix_floats() const {
    return device::panel_count(value_dim) * panel_bytes() / sizeof(float);
  }
  uint64_t panel_bytes() const { return device::panel_bytes(device::PanelType::kF32, key_dim); }
  /// Key, correction and decay of a token, padded to cache lines.
  uint64_t token_floats() const { return (keys() + values() + value_heads + 15) / 16 * 16; }
  uint64_t history_floats() const { return (taps - 1) * channels(); }

  uint64_t matrix(uint32_t layer, uint32_t value_head) const {
    return (uint64_t{layer} * value_heads + value_head) * matrix_floats();
  }
  uint64_t history(uint32_t layer, uint32_t position) const {
    return matrix(layers, 0) + layer * history_floats() + position % (taps - 1) * channels();
  }
  uint64_t token(uint32_t layer, uint32_t position) const {
    return matrix(layers, 0) + layers * history_floats() +
           (uint64_t{position % kDeltaChunk} * layers + layer) * token_floats();
  }
  uint64_t floats(uint32_t length) const {
    return matrix(layers, 0) + layers * history_floats() +
           uint64_t{length % kDeltaChunk} * layers * token_floats();
  }
  /// Room for a state of any length.
  uint64_t floats_max() const { return floats(kDeltaChunk - 1) + layers * token_floats(); }
  /// Layout of one row of beams: its token, the beginning of corrections, its inputs of the
  /// convolution.
  uint64_t beam_corrections() const { return is_narrow ? (keys() + 1) / 2 : keys(); }
  uint64_t beam_token_floats() const {
    return (beam_corrections() + values() + value_heads + 15) / 16 * 16;
  }
  uint64_t beam_input_floats() const { return is_narrow ? (channels() + 1) / 2 : channels(); }
  /// Both, in all layers.
  uint64_t slot_floats() const { return layers * (beam_token_floats() + beam_input_floats()); }
};

/// The state of one request's prompt. Owner of the bytes: engine::RunningRequest.
struct DeltaState {
  float* data = nullptr;  // aligned to 64 bytes; zeros at length 0
  /// Per layer: the tokens behind the last chunk are in the matrices, once beams have read them.
  std::vector<uint8_t> is_folded = {};
};

/// Where a copy of the state of `position` positions goes while rows pass it: pieces of
/// `piece_bytes`, one behind the other.
struct DeltaCapture {
  uint32_t position = 0;
  void* const* pieces = nullptr;
  uint64_t piece_bytes = 0;

  /// Writes `count` floats to offset `first` of the copy.
  void write(uint64_t first, const float* from, uint64_t count) const;
};

/// The first `count` floats of a state from such pieces.
void read_pieces(void* const* pieces, uint64_t piece_bytes, uint64_t count, float* to);

}  // namespace tessera::attention
