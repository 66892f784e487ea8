#include "model/activation_scales.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "base/check.h"
#include "device/panel.h"
#include "model/json.h"
#include "ops/quantise.h"
#include "platform/mapped_file.h"

namespace tessera::model {
namespace {

constexpr std::string_view kFormat = "tessera-activation-scales-2";
constexpr float kSmallestScale = 1e-30f;
constexpr float kLargestScale = 1e6f;
constexpr uint64_t kTile = device::panel_tile_depth(device::PanelType::kI8);

/// A nested object that must be there.
std::optional<ObjectReader> required_object(ObjectReader& reader, std::string_view field) {
  if (!reader.find(field)) reader.refuse(field, "an object");
  return reader.object(field);
}

/// A scale out of a file. Errors are the reader's.
float checked(ObjectReader& reader, std::string_view name, double value) {
  const bool is_scale =
      value >= static_cast<double>(kSmallestScale) && value <= static_cast<double>(kLargestScale);
  if (!is_scale) reader.refuse(name, "scales of 1e-30 to 1e6");
  return static_cast<float>(value);
}

/// A scale for each expert. Errors are the reader's.
std::vector<float> read_scales(ObjectReader& reader, const InputSlot& input) {
  std::vector<float> scales;
  simdjson::dom::array values;
  const auto found = reader.find(input.name);
  if (!found || found->get(values) != simdjson::SUCCESS || values.size() != input.scales) {
    reader.refuse(input.name, "an array of " + std::to_string(input.scales) + " scales");
    return scales;
  }
  for (const simdjson::dom::element value : values) {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) number = 0;
    scales.push_back(checked(reader, input.name, number));
  }
  return scales;
}

/// The scales of one layer. Errors are the reader's.
LayerScales read_layer(ObjectReader& reader, const Layer& layer) {
  LayerScales scales;
  for (const InputSlot& input : layer.inputs()) {
    if (input.scales > 1) {
      scales.push_back(read_scales(reader, input));
    } else {
      const double value = reader.number(input.name, 0, static_cast<double>(kLargestScale));
      scales.push_back({reader.status().is_ok() ? checked(reader, input.name, value) : 0.0f});
    }
  }
  return scales;
}

}  // namespace

std::vector<LayerScales> own_scales(const Recipe& recipe) {
  std::vector<LayerScales> scales;
  for (const Layer& layer : recipe.layers()) {
    LayerScales& of_layer = scales.emplace_back();
    for (const InputSlot& input : layer.inputs()) of_layer.emplace_back(input.scales);
  }
  return scales;
}

Result<ActivationScales> ActivationScales::load(const std::string& path,
                                                const std::string& model_digest,
                                                const Recipe& recipe) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  const std::string_view text = file.value().text();
  if (text.size() > kMaxScalesBytes) {
    return Status(Code::kModelInvalid, path + ": expected at most " +
                                           std::to_string(kMaxScalesBytes) + " bytes, got " +
                                           std::to_string(text.size()));
  }
  simdjson::dom::parser parser;
  auto document = parse_json(parser, text, path, Code::kModelInvalid);
  if (!document.is_ok()) return document.status();
  simdjson::dom::object object;
  if (document.value().get(object) != simdjson::SUCCESS) {
    return Status(Code::kModelInvalid, path + ": expected an object");
  }
  ObjectReader reader(object, path, "");
  ActivationScales scales;
  if (reader.text("format") != kFormat) reader.refuse("format", std::string(kFormat));
  scales.model_digest = reader.text("modelDigest");
  if (scales.model_digest != model_digest) {
    reader.refuse("modelDigest", "the digest of the model at hand, " + model_digest);
  }
  scales.percentile = reader.number("percentile", 0, 100);
  scales.rows = reader.whole("rows", 1, UINT32_MAX);
  auto layers = required_object(reader, "layers");
  for (size_t i = 0; layers && layers->status().is_ok() && i < recipe.layers().size(); ++i) {
    auto layer = required_object(*layers, std::to_string(i));
    if (!layer) break;
    scales.layers.push_back(read_layer(*layer, recipe.layers()[i]));
    layers->adopt(*layer);
  }
  if (layers) reader.adopt(*layers);
  if (!reader.status().is_ok()) return reader.status();
  return scales;
}

std::string ActivationScales::text(const Recipe& recipe) const {
  char number[64];
  const auto digits = [&](double value) {
    std::snprintf(number, sizeof number, "%.9g", value);
    return std::string(number);
  };
  std::string json = "{\n  \"format\": \"" + std::string(kFormat) + "\",\n";
  json += "  \"modelDigest\": \"" + model_digest + "\",\n";
  json += "  \"percentile\": " + digits(percentile) + ",\n";
  json += "  \"rows\": " + std::to_string(rows) + ",\n  \"layers\": {\n";
  const auto list = [&](const std::vector<float>& of_input) {
    std::string text;
    for (const float scale : of_input)
      text += (text.empty() ? "" : ", ") + digits(static_cast<double>(scale));
    return of_input.size() > 1 ? "[" + text + "]" : text;
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    json += "    \"" + std::to_string(i) + "\": {";
    const std::vector<InputSlot> inputs = recipe.layers()[i].inputs();
    for (size_t input = 0; input < inputs.size(); ++input) {
      json += (input > 0 ? ", \"" : "\"");
      json += inputs[input].name;
      json += "\": " + list(layers[i][input]);
    }
    json += i + 1 < layers.size() ? "},\n" : "}\n";
  }
  return json + "  }\n}\n";
}

ActivationRanges::ActivationRanges(const Recipe& recipe) {
  for (const Layer& layer : recipe.layers()) {
    auto& of_layer = layers_.emplace_back();
    for (const InputSlot& input : layer.inputs()) of_layer.emplace_back(input.scales);
  }
}

void ActivationRanges::add(const Place& place, const float* x, uint64_t rows, uint64_t n) {
  Magnitudes& magnitudes = layers_[place.layer][place.input][place.expert];
  for (uint64_t i = 0; i < rows; ++i) {
    float largest = 0;
    for (uint64_t j = 0; j < n; j += kTile) {
      float tile[kTile] = {};
      std::copy_n(x + i * n + j, std::min(kTile, n - j), tile);
      ops::hadamard_tile(tile);
      for (const float value : tile) largest = std::max(largest, std::abs(value));
    }
    magnitudes.push_back(largest);
  }
}

uint64_t ActivationRanges::rows() const { return layers_.empty() ? 0 : layers_[0][0][0].size(); }

std::vector<LayerScales> ActivationRanges::scales(double percentile) const {
  TESSERA_CHECK(rows() > 0 && percentile > 0 && percentile <= 100);
  const auto scale_of = [&](Magnitudes magnitudes) {
    if (magnitudes.empty()) return 0.0f;
    const double rank = std::ceil(percentile / 100 * static_cast<double>(magnitudes.size()));
    const auto at = magnitudes.begin() + (static_cast<ptrdiff_t>(rank) - 1);
    std::nth_element(magnitudes.begin(), at, magnitudes.end());
    return std::clamp(*at / 127.0f, kSmallestScale, kLargestScale);
  };
  std::vector<LayerScales> result;
  for (const auto& layer : layers_) {
    LayerScales& of_layer = result.emplace_back();
    for (const std::vector<Magnitudes>& input : layer) {
      std::vector<float>& scales = of_layer.emplace_back();
      std::transform(input.begin(), input.end(), std::back_inserter(scales), scale_of);
      const float largest = *std::max_element(scales.begin(), scales.end());
      std::replace(scales.begin(), scales.end(), 0.0f, largest);
    }
  }
  return result;
}

std::vector<UnseenExpert> ActivationRanges::unseen() const {
  std::vector<UnseenExpert> unseen;
  for (uint32_t layer = 0; layer < layers_.size(); ++layer) {
    for (const std::vector<Magnitudes>& input : layers_[layer]) {
      for (uint32_t expert = 0; input.size() > 1 && expert < input.size(); ++expert)
        if (input[expert].empty()) unseen.push_back({layer, expert});
    }
  }
  return unseen;
}

}  // namespace tessera::model
