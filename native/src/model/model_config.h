// The decoder or encoder that config.json of a Hugging Face folder describes, checked field by
// field. Values only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/delta_config.h"
#include "model/encoder_config.h"
#include "model/family.h"
#include "model/mixture_config.h"
#include "model/rope_config.h"
#include "model/t5_config.h"

namespace tessera::model {

inline constexpr uint64_t kMaxConfigBytes = 1u << 20;
inline constexpr uint32_t kMaxVocabSize = 1u << 22;
inline constexpr uint32_t kMaxHiddenSize = 1u << 16;
inline constexpr uint32_t kMaxIntermediateSize = 1u << 19;
inline constexpr uint32_t kMaxLayers = 512;
inline constexpr uint32_t kMaxHeads = 1024;
inline constexpr uint32_t kMaxHeadDim = 1024;
inline constexpr uint32_t kMaxPositions = 1u << 22;

struct ModelConfig {
  const Family* family = nullptr;  // a row of a table that outlives the configuration
  uint32_t vocab_size = 0;
  uint32_t hidden_size = 0;
  uint32_t layer_count = 0;
  uint32_t head_count = 0;
  uint32_t kv_head_count = 0;
  uint32_t head_dim = 0;
  uint32_t intermediate_size = 0;
  /// Positions that may be used. A model with a sliding window is served up to the window's length,
  /// where windowed and full attention are the same.
  uint32_t max_positions = 0;
  float rms_norm_eps = 1e-6f;
  bool tie_word_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  // of the attention's output projection
  bool output_gate = false;  // what attention mixes goes through a gate of each number
  bool is_causal = true;     // of a decoder: no row sees one behind it
  DeltaConfig delta;
  std::vector<uint8_t> delta_layers;  // 1: a gated delta net; empty: the family has none
  MixtureConfig mixture;
  EncoderConfig encoder;  // of families of encoders
  T5Config t5;            // of a model of an encoder and a decoder
  RopeConfig rope;

  /// Numbers of a row's queries, and of its keys or values, over all heads.
  uint64_t q_size() const { return uint64_t{head_count} * head_dim; }
  uint64_t kv_size() const { return uint64_t{kv_head_count} * head_dim; }

  bool is_delta(uint32_t layer) const { return !delta_layers.empty() && delta_layers[layer] != 0; }
  /// The first tokens of a prompt are read by an encoder, whose layers come before the decoder's.
  bool encodes_prompts() const { return t5.encoder_layers > 0; }
  /// A layer that keeps keys and values: none of an encoder, and no gated delta net.
  bool has_keys(uint32_t layer) const { return layer >= t5.encoder_layers && !is_delta(layer); }
  /// The beginning of the names of a layer's tensors, behind what all names begin with.
  std::string layer_name(uint32_t layer) const;
  /// Layers that have keys and values.
  uint32_t attention_layers() const;

  /// Reads folder/config.json of a model of one of the families `known`. Errors: MODEL_NOT_FOUND,
  /// MODEL_INVALID naming file, field, what was expected and what was found.
  static Result<ModelConfig> load(const std::string& folder,
                                  std::span<const Family> known = families());
  /// Parses a configuration from text; `name` stands for the file in messages.
  static Result<ModelConfig> parse(std::string_view text, const std::string& name,
                                   std::span<const Family> known = families());

  /// Angle per position of each pair of a head that is rotated.
  std::vector<float> rope_frequencies() const { return rope.frequencies(head_dim); }
  /// Frequencies of the layers that see what is near; empty where there is none.
  std::vector<float> local_rope_frequencies() const;
  /// Every field that changes a result, as text: part of the digest.
  std::string canonical_text() const;
};

}  // namespace tessera::model
