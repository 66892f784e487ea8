// Families of decoders and encoders as rows of a table: which norms, biases and windows they have,
// and which blocks their layers are made of. A family that is made of blocks that are there is one
// row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "model/encoder_config.h"
#include "model/layer_block.h"
#include "model/mixture_config.h"

namespace tessera::model {

struct ModelConfig;

/// The rule by which a bias is there.
enum class Bias : uint8_t {
  kAlways,
  kNever,         // whatever attention_bias says
  kAsked,         // attention_bias of config.json
  kUnlessDenied,  // by qkv_bias of config.json
  kRefused        // never, and attention_bias must not ask for it
};

/// The rule by which layers look back no further than sliding_window positions.
enum class Window : uint8_t {
  kNever,
  kAsked,       // use_sliding_window of config.json: layers from max_window_layers on
  kAskedOfAll,  // the same for every layer
  kAlways
};

/// Normalisation of a row's queries and keys before they are rotated.
enum class QkNorm : uint8_t {
  kNone,
  kHeads,  // each head by itself
  kRows    // all heads of a row as one
};

/// Makes a block of the layer of this number.
using MakeBlock = std::unique_ptr<const LayerBlock> (*)(const ModelConfig& config, uint32_t layer);

/// Names of the tensors that are of no layer, and what begins those of layers.
struct TensorNames {
  /// Of all but the head: the first whose embedding a folder has. A trained model is saved with one
  /// where it had a head, and without where it had none.
  std::array<std::string_view, 2> prefixes = {"model.", ""};
  std::string_view embedding = "embed_tokens.weight";
  std::string_view layers = "layers.";
  std::string_view final_norm = "norm.weight";  // empty: the last layer ends with its own
  std::string_view encoder_norm = {};           // of the encoder before a decoder
  /// Beginnings of tensors that a folder may have beside, of models that are not served.
  std::array<std::string_view, 2> others = {};
  /// Copies of the embedding that a folder may have beside it.
  std::array<std::string_view, 2> copies = {};
};

struct Family {
  std::string_view model_type;           // as config.json spells it
  std::string_view architecture;         // likewise
  std::string_view activation = "silu";  // hidden_act that the feed-forward block computes
  uint32_t head_dim = 0;  // where config.json is silent; 0: hidden_size / num_attention_heads
  QkNorm qk_norm = QkNorm::kNone;
  double rms_norm_eps = 1e-6;  // where config.json is silent
  /// partial_rotary_factor where config.json is silent; 0: heads are rotated whole.
  double rotary_share = 0;
  Bias qkv_bias = Bias::kNever;
  Bias output_bias = Bias::kNever;
  Window window = Window::kNever;
  const MixtureFields* mixture = nullptr;  // null: no layer chooses experts
  std::string_view part = {};       // of config.json, that describes the decoder; empty: the whole
  std::string_view part_type = {};  // its model_type, whose results are the same
  bool norm_adds_one = false;       // RMS norms multiply with 1 + weight
  bool is_hybrid = false;           // config.json says which layers are gated delta nets
  bool is_t5 = false;               // an encoder and a decoder (T5Config)
  MakeBlock attention = nullptr;
  MakeBlock delta = nullptr;  // in place of attention, in layers that are gated delta nets
  MakeBlock feed_forward = nullptr;
  MakeBlock cross = nullptr;  // of a decoder's layers, between the two, that reads an encoder
  const EncoderFields* encoder = nullptr;  // null: a decoder
  TensorNames names = {};
  /// Makes the block that completes a token's embedding; null: the embedding is the token's row.
  MakeBlock entry = nullptr;
  /// It makes vectors of texts: it may come without a head, or with one that is not read.
  bool reads_texts = false;
};

/// All families of decoders that are served.
std::span<const Family> families();
/// These and all families of encoders: what texts become vectors by.
std::span<const Family> text_families();

}  // namespace tessera::model
