#include "model/encoder_config.h"

#include <algorithm>
#include <cstdio>

#include "model/json.h"
#include "model/model_config.h"

namespace tessera::model {
namespace {

constexpr double kMaxTheta = 1e15;
// The defaults of transformers for fields that config.json leaves out.
constexpr uint32_t kLocalAttention = 128;  // positions before and behind a row, together
constexpr uint32_t kFullEvery = 3;         // layers
constexpr double kFullTheta = 160000;
constexpr double kLocalTheta = 10000;
constexpr uint32_t kSegments = 2;

void read_local_layers(ObjectReader& reader, uint32_t layers, EncoderConfig& encoder) {
  const uint32_t every = reader.whole("global_attn_every_n_layers", 1, kMaxLayers, kFullEvery);
  for (uint32_t i = 0; i < layers; ++i) encoder.local_layers.push_back(i % every != 0);
  const auto types = reader.find("layer_types");
  if (!types) return;
  simdjson::dom::array names;
  bool is_known = types->get_array().get(names) == simdjson::SUCCESS && names.size() == layers;
  for (size_t i = 0; is_known && i < layers; ++i) {
    std::string_view name;
    is_known = names.at(i).get_string().get(name) == simdjson::SUCCESS &&
               (name == "full_attention" || name == "sliding_attention");
    encoder.local_layers[i] = name == "sliding_attention";
  }
  if (!is_known) {
    reader.refuse("layer_types", "full_attention or sliding_attention for each of the " +
                                     std::to_string(layers) + " layers");
  }
}

/// The base of a kind of layer: of rope_parameters, or of the field that was there before them.
double read_theta(ObjectReader& reader, std::string_view kind, std::string_view earlier,
                  double otherwise) {
  const double theta = reader.number(earlier, 0, kMaxTheta, otherwise);
  std::optional<ObjectReader> all = reader.object("rope_parameters");
  if (!all) return theta;
  std::optional<ObjectReader> own = all->object(kind);
  reader.adopt(*all);
  if (!own) return theta;
  if (own->text("rope_type", "default") != "default") own->refuse("rope_type", "\"default\"");
  const double result = own->number("rope_theta", 0, kMaxTheta, theta);
  reader.adopt(*own);
  return result;
}

void read_rotary(ObjectReader& reader, ModelConfig& config) {
  EncoderConfig& encoder = config.encoder;
  read_local_layers(reader, config.layer_count, encoder);
  encoder.reach = reader.whole("local_attention", 2, kMaxPositions, kLocalAttention) / 2;
  if (reader.find("rope_scaling")) reader.refuse("rope_scaling", "none");
  config.rope.theta = read_theta(reader, "full_attention", "global_rope_theta", kFullTheta);
  encoder.local_theta = read_theta(reader, "sliding_attention", "local_rope_theta", kLocalTheta);
  for (const std::string_view field : {"norm_bias", "attention_bias", "mlp_bias"}) {
    if (reader.boolean(field, false)) reader.refuse(field, "false");
  }
  if (config.head_dim % 2 != 0) {
    reader.refuse("num_attention_heads", "heads of an even number of values");
  }
}

void read_absolute(ObjectReader& reader, const EncoderFields& fields, ModelConfig& config) {
  EncoderConfig& encoder = config.encoder;
  encoder.segments = reader.whole("type_vocab_size", 1, kMaxSegments, kSegments);
  encoder.position_rows = config.max_positions;
  const std::string kind = reader.text("position_embedding_type", "absolute");
  if (kind != "absolute") reader.refuse("position_embedding_type", "\"absolute\"");
  for (const std::string_view field : {"is_decoder", "add_cross_attention"}) {
    if (reader.boolean(field, false)) reader.refuse(field, "false");
  }
  if (!fields.begins_behind_padding) return;
  encoder.first_position =
      reader.whole("pad_token_id", 0, config.vocab_size - 1, fields.padding) + 1;
  if (encoder.first_position >= encoder.position_rows) {
    reader.refuse("max_position_embeddings", "more rows than the " +
                                                 std::to_string(encoder.first_position) +
                                                 " before a text's first position");
    return;
  }
  config.max_positions -= encoder.first_position;
}

}  // namespace

void read_encoder(ObjectReader& reader, const EncoderFields& fields, ModelConfig& config) {
  const std::string activation(config.family->activation);
  if (reader.text(fields.activation_field, activation) != activation) {
    reader.refuse(fields.activation_field, "\"" + activation + "\"");
  }
  config.encoder.epsilon =
      static_cast<float>(reader.number(fields.epsilon_field, 0, 1, fields.epsilon));
  if (fields.is_rotary) {
    read_rotary(reader, config);
  } else {
    read_absolute(reader, fields, config);
  }
}

std::string EncoderConfig::canonical_text() const {
  if (epsilon == 0) return "";
  char digits[160];
  std::snprintf(digits, sizeof digits, " encoder %.17g %u %u %u %u %.17g ",
                static_cast<double>(epsilon), segments, position_rows, first_position, reach,
                local_theta);
  std::string text(digits);
  for (const bool is_local : local_layers) text += is_local ? 'l' : 'f';
  return text;
}

}  // namespace tessera::model
