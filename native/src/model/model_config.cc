#include "model/model_config.h"

#include <algorithm>

#include "model/json.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::model {
namespace {

// The defaults of transformers for fields that config.json leaves out.
constexpr uint32_t kSlidingWindowOfTransformers = 4096;
constexpr uint32_t kWindowLayersOfTransformers = 28;  // layers below have no window

std::string names_of(std::span<const Family> known) {
  std::string names;
  for (const Family& family : known) {
    names += (names.empty() ? "" : ", ") + std::string(family.model_type);
  }
  return names;
}

/// Models of texts are saved without a head, or with the one that they were trained with.
bool is_of(const Family& family, std::string_view architecture) {
  if (!family.reads_texts) return architecture == family.architecture;
  const std::string_view ending = family.encoder == nullptr ? "ForCausalLM" : "Model";
  const std::string_view name =
      family.architecture.substr(0, family.architecture.size() - ending.size());
  return architecture.starts_with(name) && (architecture.substr(name.size()) == "Model" ||
                                            architecture.substr(name.size()).starts_with("For"));
}

void read_family(ObjectReader& reader, std::span<const Family> known, ModelConfig& config) {
  const std::string type = reader.text("model_type");
  const auto row = std::find_if(known.begin(), known.end(),
                                [&](const Family& family) { return family.model_type == type; });
  if (row == known.end()) {
    reader.refuse("model_type", "one of " + names_of(known));
    return;
  }
  config.family = &*row;
  const auto architectures = reader.find("architectures");
  if (!architectures) return;
  simdjson::dom::array names;
  bool fits = architectures->get_array().get(names) == simdjson::SUCCESS;
  bool is_one = fits && names.size() == 0;  // says nothing
  for (size_t i = 0; fits && i < names.size(); ++i) {
    std::string_view name;
    fits = names.at(i).get_string().get(name) == simdjson::SUCCESS;
    is_one = is_one || (fits && is_of(*row, name));
  }
  if (!fits || !is_one)
    reader.refuse("architectures", "[\"" + std::string(row->architecture) + "\"]");
}

void read_shape(ObjectReader& reader, ModelConfig& config) {
  config.vocab_size = reader.whole("vocab_size", 1, kMaxVocabSize);
  config.hidden_size = reader.whole("hidden_size", 1, kMaxHiddenSize);
  config.layer_count = reader.whole("num_hidden_layers", 1, kMaxLayers);
  config.head_count = reader.whole("num_attention_heads", 1, kMaxHeads);
  config.kv_head_count = reader.whole("num_key_value_heads", 1, kMaxHeads, config.head_count);
  config.intermediate_size = reader.whole("intermediate_size", 1, kMaxIntermediateSize);
  config.max_positions = reader.whole("max_position_embeddings", 1, kMaxPositions);
  if (config.head_count % config.kv_head_count != 0) {
    reader.refuse("num_key_value_heads",
                  "a divisor of num_attention_heads (" + std::to_string(config.head_count) + ")");
  }
  if (reader.find("head_dim") || config.family->head_dim > 0) {
    config.head_dim = reader.whole("head_dim", 1, kMaxHeadDim, config.family->head_dim);
  } else {
    config.head_dim = config.hidden_size / config.head_count;
    if (config.head_dim * config.head_count != config.hidden_size ||
        config.head_dim > kMaxHeadDim) {
      reader.refuse("head_dim", "a value, or hidden_size to be a multiple of num_attention_heads");
    }
  }
  if (config.family->encoder == nullptr && config.head_dim % 2 != 0) {
    reader.refuse("head_dim", "an even number");
  }
}

/// Of the windowed layers that config.json lists or counts: whether there is one. Errors: a type of
/// layer that is not computed, and a list of another length.
bool has_windowed_layer(ObjectReader& reader, const ModelConfig& config, bool is_windowed) {
  const auto types = reader.find("layer_types");
  if (!types) {
    return is_windowed && (config.family->window == Window::kAlways ||
                           config.family->window == Window::kAskedOfAll ||
                           reader.whole("max_window_layers", 0, kMaxPositions,
                                        kWindowLayersOfTransformers) < config.layer_count);
  }
  simdjson::dom::array names;
  bool is_known =
      types->get_array().get(names) == simdjson::SUCCESS && names.size() == config.layer_count;
  bool has_window = is_windowed && config.family->window == Window::kAlways;
  for (size_t i = 0; is_known && i < names.size(); ++i) {
    std::string_view name;
    is_known = names.at(i).get_string().get(name) == simdjson::SUCCESS &&
               (name == "full_attention" || (is_windowed && name == "sliding_attention"));
    has_window = has_window || name == "sliding_attention";
  }
  if (!is_known) {
    reader.refuse("layer_types", "full_attention for each of the " +
                                     std::to_string(config.layer_count) + " layers");
  }
  return has_window;
}

/// The window limits the positions instead of masking: within its length both are the same
/// attention. Where config.json is silent the window is that of transformers; null is none.
void read_sliding_window(ObjectReader& reader, ModelConfig& config) {
  const Window rule = config.family->window;
  const bool is_asked = rule == Window::kAsked || rule == Window::kAskedOfAll;
  const bool is_used =
      is_asked ? reader.boolean("use_sliding_window", false) : rule == Window::kAlways;
  const bool is_windowed = is_used && !reader.is_null("sliding_window");
  if (!has_windowed_layer(reader, config, is_windowed)) return;
  const uint32_t window =
      reader.whole("sliding_window", 1, kMaxPositions, kSlidingWindowOfTransformers);
  config.max_positions = std::min(config.max_positions, window);
}

/// Weights that are of no type that this engine reads.
void refuse_other_weights(ObjectReader& reader) {
  for (const std::string_view field : {"quantization_config", "quantization"}) {
    if (reader.find(field)) reader.refuse(field, "none: F32, BF16 or F16 weights");
  }
  const std::string_view spelling = reader.find("dtype") ? "dtype" : "torch_dtype";
  const std::string type = reader.text(spelling, "float32");
  if (type != "float32" && type != "bfloat16" && type != "float16") {
    reader.refuse(spelling, "one of float32, bfloat16, float16");
  }
}

/// Which rows a decoder's row sees. `is_causal` is transformers' switch for decoders that embed.
void read_sight(ObjectReader& reader, ModelConfig& config) {
  config.is_causal = reader.boolean("is_causal", true);
  if (!config.is_causal && !config.family->reads_texts) {
    reader.refuse("is_causal", "true of a model that generates");
  }
  if (reader.boolean("use_bidirectional_attention", false)) {
    reader.refuse("use_bidirectional_attention", "false (is_causal says which rows a row sees)");
  }
}

/// The part that describes the decoder, of a configuration of several models.
ObjectReader part_of(ObjectReader& reader, const Family& family) {
  if (family.part.empty()) return reader;
  std::optional<ObjectReader> part = reader.object(family.part);
  const std::string type(family.part_type);
  if (part && part->text("model_type", type) != type) part->refuse("model_type", type);
  if (part) return *part;
  reader.refuse(family.part, "an object");
  return reader;
}

/// Reads a decoder's settings beside the shape. Errors: settings that this engine does not compute.
void read_decoder(ObjectReader& reader, ModelConfig& config) {
  read_sight(reader, config);
  read_rope(reader, *config.family, config.head_dim, config.max_positions, config.rope);
  config.max_positions = config.rope.positions(config.max_positions);
  if (config.family->is_hybrid) {
    config.delta = read_delta(reader);
    config.delta_layers = read_delta_layers(reader, config.layer_count);
    config.output_gate = reader.boolean("attn_output_gate", true);
  } else {
    read_sliding_window(reader, config);
  }
  if (config.family->mixture != nullptr) {
    config.mixture =
        read_mixture(reader, *config.family->mixture, config.layer_count, kMaxIntermediateSize);
  }
  config.rms_norm_eps =
      static_cast<float>(reader.number("rms_norm_eps", 0, 1, config.family->rms_norm_eps));
  const std::string activation(config.family->activation);
  if (reader.text("hidden_act", activation) != activation) {
    reader.refuse("hidden_act", "\"" + activation + "\"");
  }
  if (reader.boolean("mlp_bias", false)) reader.refuse("mlp_bias", "false");
  if (reader.find("clip_qkv")) reader.refuse("clip_qkv", "none");
  const bool bias = reader.boolean("attention_bias", false);
  const auto has = [&](Bias of_family) {
    if (of_family == Bias::kUnlessDenied) return reader.boolean("qkv_bias", true);
    if (bias && of_family == Bias::kRefused) reader.refuse("attention_bias", "false");
    return of_family == Bias::kAlways || (of_family == Bias::kAsked && bias);
  };
  config.qkv_bias = has(config.family->qkv_bias);
  config.output_bias = has(config.family->output_bias);
}

}  // namespace

Result<ModelConfig> ModelConfig::parse(std::string_view text, const std::string& name,
                                       std::span<const Family> known) {
  if (text.size() > kMaxConfigBytes) {
    return Status(Code::kModelInvalid, name + ": expected at most " +
                                           std::to_string(kMaxConfigBytes) + " bytes, got " +
                                           std::to_string(text.size()));
  }
  simdjson::dom::parser parser;
  Result<simdjson::dom::element> root = parse_json(parser, text, name, Code::kModelInvalid);
  if (!root.is_ok()) return root.status();
  simdjson::dom::object object;
  if (root.value().get_object().get(object) != simdjson::SUCCESS) {
    return Status(Code::kModelInvalid,
                  name + ": expected an object, got " + describe(root.value()));
  }
  ObjectReader reader(object, name, "");
  ModelConfig config;
  config.family = known.data();  // where the reader refuses the field, the rest is still read
  read_family(reader, known, config);
  ObjectReader part = part_of(reader, *config.family);
  if (config.family->is_t5) {
    read_t5(part, config);
    config.tie_word_embeddings = reader.boolean("tie_word_embeddings", true);
    // transformers 5 writes its own field, and ties whatever a head of its own says.
    config.t5.scales_output =
        reader.boolean("scale_decoder_outputs", config.tie_word_embeddings);
  } else if (read_shape(part, config); config.family->encoder != nullptr) {
    read_encoder(part, *config.family->encoder, config);
  } else {
    read_decoder(part, config);
    // transformers ties what the whole says, whatever its parts say.
    config.tie_word_embeddings = reader.boolean("tie_word_embeddings", false);
  }
  refuse_other_weights(part);
  reader.adopt(part);
  refuse_other_weights(reader);
  TESSERA_RETURN_IF_ERROR(reader.status());
  return config;
}

Result<ModelConfig> ModelConfig::load(const std::string& folder, std::span<const Family> known) {
  const std::string path = folder + "/config.json";
  if (platform::exists(folder + "/adapter_config.json")) {
    return Status(Code::kModelInvalid,
                  folder +
                      "/adapter_config.json: expected no adapter beside a model, got one "
                      "(merge it into the weights, or load it as an adapter)");
  }
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  return parse(file.value().text(), path, known);
}

std::string ModelConfig::layer_name(uint32_t layer) const {
  if (!encodes_prompts()) {
    return std::string(family->names.layers) + std::to_string(layer) + ".";
  }
  const bool is_encoder = layer < t5.encoder_layers;
  return (is_encoder ? "encoder.block." : "decoder.block.") +
         std::to_string(is_encoder ? layer : layer - t5.encoder_layers) + ".";
}

uint32_t ModelConfig::attention_layers() const {
  return layer_count - t5.encoder_layers -
         static_cast<uint32_t>(std::count(delta_layers.begin(), delta_layers.end(), uint8_t{1}));
}

std::vector<float> ModelConfig::local_rope_frequencies() const {
  if (encoder.reach == 0) return {};
  RopeConfig local = rope;
  local.theta = encoder.local_theta;
  return local.frequencies(head_dim);
}

std::string ModelConfig::canonical_text() const {
  std::string text(family->part.empty() ? family->model_type : family->part_type);
  for (const uint64_t value :
       {uint64_t{vocab_size}, uint64_t{hidden_size}, uint64_t{layer_count}, uint64_t{head_count},
        uint64_t{kv_head_count}, uint64_t{head_dim}, uint64_t{intermediate_size},
        uint64_t{tie_word_embeddings}, uint64_t{qkv_bias}, uint64_t{output_bias},
        static_cast<uint64_t>(rope.type)}) {
    text += " " + std::to_string(value);
  }
  const auto append = [&text](double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, " %.17g", value);
    text += digits;
  };
  append(static_cast<double>(rms_norm_eps));
  if (!encodes_prompts()) {
    for (const float frequency : rope_frequencies()) append(static_cast<double>(frequency));
  }
  if (rope.magnitude != 1) append(rope.magnitude);
  if (!is_causal) text += " sees all";
  if (!delta_layers.empty()) {
    text += delta.canonical_text() + (output_gate ? " gated " : " ");
    for (const uint8_t is_one : delta_layers) text += is_one != 0 ? '1' : '0';
  }
  return text + mixture.canonical_text() + encoder.canonical_text() + t5.canonical_text();
}

}  // namespace tessera::model
