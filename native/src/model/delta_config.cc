#include "model/delta_config.h"

#include <algorithm>

#include "model/json.h"

namespace tessera::model {
namespace {

/// Default interval of layers with keys and values, where config.json does not list them.
constexpr uint32_t kIntervalOfTransformers = 4;

}  // namespace

DeltaConfig read_delta(ObjectReader& reader) {
  DeltaConfig delta;
  delta.key_heads = reader.whole("linear_num_key_heads", 1, kMaxDeltaHeads, 16);
  delta.value_heads = reader.whole("linear_num_value_heads", 1, kMaxDeltaHeads, 32);
  delta.key_dim = reader.whole("linear_key_head_dim", 1, kMaxDeltaHeadDim, 128);
  delta.value_dim = reader.whole("linear_value_head_dim", 1, kMaxDeltaHeadDim, 128);
  delta.taps = reader.whole("linear_conv_kernel_dim", kMinTaps, kMaxTaps, 4);
  if (delta.value_heads % delta.key_heads != 0) {
    reader.refuse("linear_num_value_heads",
                  "a multiple of linear_num_key_heads (" + std::to_string(delta.key_heads) + ")");
  }
  return delta;
}

std::vector<uint8_t> read_delta_layers(ObjectReader& reader, uint32_t layer_count) {
  std::vector<uint8_t> layers(layer_count, 0);
  const auto types = reader.find("layer_types");
  if (!types) {
    const uint32_t interval =
        reader.whole("full_attention_interval", 1, layer_count, kIntervalOfTransformers);
    if (interval > layer_count) {
      reader.refuse("full_attention_interval", "at most num_hidden_layers (the default is " +
                                                   std::to_string(interval) + ")");
    }
    for (uint32_t i = 0; i < layer_count; ++i) layers[i] = (i + 1) % interval != 0;
    return layers;
  }
  simdjson::dom::array names;
  bool is_known = types->get_array().get(names) == simdjson::SUCCESS && names.size() == layer_count;
  for (uint32_t i = 0; is_known && i < layer_count; ++i) {
    std::string_view name;
    is_known = names.at(i).get_string().get(name) == simdjson::SUCCESS &&
               (name == "linear_attention" || name == "full_attention");
    layers[i] = name == "linear_attention";
  }
  if (!is_known || std::find(layers.begin(), layers.end(), 0) == layers.end()) {
    reader.refuse("layer_types", "linear_attention or full_attention for each of the " +
                                     std::to_string(layer_count) +
                                     " layers, full_attention for one at least");
  }
  return layers;
}

std::string DeltaConfig::canonical_text() const {
  if (key_heads == 0) return {};
  std::string text = " delta";
  for (const uint32_t value : {key_heads, value_heads, key_dim, value_dim, taps})
    text += " " + std::to_string(value);
  return text;
}

}  // namespace tessera::model
