// Settings of config.json for layers that are gated delta nets: they keep a state in place of keys
// and values. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::model {

class ObjectReader;

inline constexpr uint32_t kMaxDeltaHeads = 1024;
inline constexpr uint32_t kMaxDeltaHeadDim = 1024;
inline constexpr uint32_t kMinTaps = 2;
inline constexpr uint32_t kMaxTaps = 8;

struct DeltaConfig {
  uint32_t key_heads = 0;    // 0: the family has no such layers
  uint32_t value_heads = 0;  // a multiple of key_heads
  uint32_t key_dim = 0;      // of a head
  uint32_t value_dim = 0;    // likewise
  uint32_t taps = 0;         // rows that the convolution sees, its own the last

  /// Numbers of a row over all heads: of queries as of keys, and of values.
  uint64_t keys() const { return uint64_t{key_heads} * key_dim; }
  uint64_t values() const { return uint64_t{value_heads} * value_dim; }
  /// Channels of the convolution: queries, keys, values.
  uint64_t channels() const { return 2 * keys() + values(); }
  /// Every field as text; empty where there are no such layers.
  std::string canonical_text() const;
};

/// Errors are the reader's.
DeltaConfig read_delta(ObjectReader& reader);
/// Of each layer 1 where it is a gated delta net. Errors are the reader's; a model without a layer
/// that has keys and values is one.
std::vector<uint8_t> read_delta_layers(ObjectReader& reader, uint32_t layer_count);

}  // namespace tessera::model
