// Settings of an encoder and a decoder of T5's blocks (Raffel et al. 2020, arXiv:1910.10683), as
// config.json of transformers spells them. Values only.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::model {

class ObjectReader;
struct ModelConfig;

struct T5Config {
  enum class Activation : uint8_t { kRelu, kGelu, kGeluTanh, kSilu };

  uint32_t encoder_layers = 0;  // 0: the model has no encoder; they come before the decoder's
  uint32_t buckets = 0;         // of distances, each with a bias a head
  uint32_t max_distance = 0;    // from here on all distances share a bucket
  Activation activation = Activation::kRelu;
  bool is_gated = false;    // the activated product is multiplied with one of its own
  uint32_t inner_layers = 1;  // of a feed-forward network, each as wide as intermediate_size
  bool has_bias = false;      // of each product of a feed-forward network
  bool scales_output = false;  // rows that the head reads are divided by sqrt(hidden_size)
  uint32_t start_token = 0;  // that ends a prompt: the decoder begins with it

  /// Bucket of a key so many positions behind its query (negative: before it). `sees_all`: keys on
  /// both sides have buckets of their own; otherwise those behind the query share the first.
  uint32_t bucket(int64_t distance, bool sees_all) const;
  /// Every field that changes a result, as text.
  std::string canonical_text() const;
};

/// Reads the shape and all settings into `config`. Errors are the reader's: MODEL_INVALID for what
/// these blocks do not compute.
void read_t5(ObjectReader& reader, ModelConfig& config);

}  // namespace tessera::model
