#include "model/mixture_config.h"

#include <algorithm>

#include "model/json.h"

namespace tessera::model {
namespace {

/// transformers spells the field in two ways.
constexpr std::string_view kExperts = "num_experts";
constexpr std::string_view kLocalExperts = "num_local_experts";

uint32_t read_experts(ObjectReader& reader, uint32_t otherwise) {
  if (!reader.find(kLocalExperts)) return reader.whole(kExperts, 1, kMaxExperts, otherwise);
  const uint32_t count = reader.whole(kLocalExperts, 1, kMaxExperts);
  if (reader.find(kExperts) && reader.whole(kExperts, 1, kMaxExperts) != count) {
    reader.refuse(kExperts, "num_local_experts (" + std::to_string(count) + ")");
  }
  return count;
}

/// Layers that mlp_only_layers names have no experts.
void read_dense_layers(ObjectReader& reader, std::vector<bool>& layers) {
  const auto named = reader.find("mlp_only_layers");
  if (!named) return;
  constexpr const char* kExpected = "a list of numbers of layers";
  simdjson::dom::array numbers;
  if (named->get_array().get(numbers) != simdjson::SUCCESS) {
    return reader.refuse("mlp_only_layers", kExpected);
  }
  for (const simdjson::dom::element number : numbers) {
    uint64_t layer = 0;
    if (number.get_uint64().get(layer) != simdjson::SUCCESS) {
      return reader.refuse("mlp_only_layers", kExpected);
    }
    if (layer < layers.size()) layers[layer] = false;
  }
}

}  // namespace

MixtureConfig read_mixture(ObjectReader& reader, const MixtureFields& fields, uint32_t layer_count,
                           uint32_t size_max) {
  MixtureConfig mixture;
  mixture.experts = read_experts(reader, fields.experts);
  mixture.chosen =
      reader.whole("num_experts_per_tok", 1, std::min(mixture.experts, kMaxChosenExperts),
                   fields.chosen);
  if (mixture.chosen > mixture.experts) {
    reader.refuse("num_experts_per_tok", "a number of at most num_experts (the default is " +
                                             std::to_string(fields.chosen) + ")");
  }
  mixture.size = reader.whole(fields.expert_size, 1, size_max, fields.size);
  mixture.normalises = reader.boolean("norm_topk_prob", fields.normalises);
  if (fields.shared_size > 0) {
    mixture.shared_size =
        reader.whole("shared_expert_intermediate_size", 1, size_max, fields.shared_size);
  }
  mixture.layers.assign(layer_count, true);
  if (fields.has_dense_layers) {
    const uint32_t step = reader.whole("decoder_sparse_step", 1, layer_count, 1);
    for (uint32_t layer = 0; layer < layer_count; ++layer)
      mixture.layers[layer] = (layer + 1) % step == 0;
    read_dense_layers(reader, mixture.layers);
  }
  return mixture;
}

std::string MixtureConfig::canonical_text() const {
  if (experts == 0) return {};
  std::string text = " mixture";
  for (const uint32_t value : {experts, chosen, size, shared_size, uint32_t{normalises}})
    text += " " + std::to_string(value);
  text += " ";
  for (const bool chooses : layers) text += chooses ? '1' : '0';
  return text;
}

}  // namespace tessera::model
