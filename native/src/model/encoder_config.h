// Encoder settings of config.json: a model whose rows see the whole text. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::model {

class ObjectReader;
struct ModelConfig;

inline constexpr uint32_t kMaxSegments = 16;

/// How a family of encoders spells its configuration, and what transformers takes where config.json
/// is silent.
struct EncoderFields {
  std::string_view epsilon_field = "layer_norm_eps";
  double epsilon = 1e-12;
  std::string_view activation_field = "hidden_act";
  /// Rotary positions and layers that see what is near; otherwise positions have rows of a table.
  bool is_rotary = false;
  /// The table's rows of positions begin behind that of the padding.
  bool begins_behind_padding = false;
  uint32_t padding = 0;  // pad_token_id
};

struct EncoderConfig {
  float epsilon = 0;            // of the layer norms
  uint32_t segments = 0;        // rows of the table of segments; 0: there is none
  uint32_t position_rows = 0;   // of the table of positions; 0: positions are rotary
  uint32_t first_position = 0;  // row of a text's first position
  /// Of rotary positions: layers whose rows see no further than `reach` positions, and the base of
  /// their angles; RopeConfig is that of the other layers.
  std::vector<bool> local_layers;
  uint32_t reach = 0;
  double local_theta = 0;

  bool is_local(uint32_t layer) const { return layer < local_layers.size() && local_layers[layer]; }
  /// Every field that changes a result, as text.
  std::string canonical_text() const;
};

/// Reads what encoders have beside the shape, which `config` holds already, into it. Errors are the
/// reader's: MODEL_INVALID for what these encoders do not compute.
void read_encoder(ObjectReader& reader, const EncoderFields& fields, ModelConfig& config);

}  // namespace tessera::model
