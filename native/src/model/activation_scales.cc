#include "model/activation_scales.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

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

/// The scales of one layer. Errors are the reader's.
LayerScales read_layer(ObjectReader& reader, const Layer& layer) {
  LayerScales scales;
  for (const std::string_view name : layer.inputs()) {
    scales.push_back(
        static_cast<float>(reader.number(name, 0, static_cast<double>(kLargestScale))));
    if (reader.status().is_ok() && scales.back() < kSmallestScale) {
      reader.refuse(name, "a scale of at least 1e-30");
    }
  }
  return scales;
}

}  // namespace

std::vector<LayerScales> own_scales(const Recipe& recipe) {
  std::vector<LayerScales> scales;
  for (const Layer& layer : recipe.layers()) scales.emplace_back(layer.inputs().size());
  return scales;
}

Result<ActivationScales> ActivationScales::load(const std::string& path,
                                                const std::string& model_digest,
                                                const Recipe& recipe) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  const auto bytes = file.value().bytes();
  if (bytes.size() > kMaxScalesBytes) {
    return Status(Code::kModelInvalid, path + ": expected at most " +
                                           std::to_string(kMaxScalesBytes) + " bytes, got " +
                                           std::to_string(bytes.size()));
  }
  simdjson::dom::parser parser;
  auto document = parse_json(parser, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                             path, Code::kModelInvalid);
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
  for (size_t i = 0; i < layers.size(); ++i) {
    json += "    \"" + std::to_string(i) + "\": {";
    const std::vector<std::string_view> inputs = recipe.layers()[i].inputs();
    for (size_t input = 0; input < inputs.size(); ++input) {
      json += (input > 0 ? ", \"" : "\"");
      json += inputs[input];
      json += "\": " + digits(static_cast<double>(layers[i][input]));
    }
    json += i + 1 < layers.size() ? "},\n" : "}\n";
  }
  return json + "  }\n}\n";
}

ActivationRanges::ActivationRanges(const Recipe& recipe) {
  for (const Layer& layer : recipe.layers()) layers_.emplace_back(layer.inputs().size());
}

void ActivationRanges::add(uint32_t layer, uint32_t input, const float* x, uint64_t rows,
                           uint64_t n) {
  std::vector<float>& magnitudes = layers_[layer][input];
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

uint64_t ActivationRanges::rows() const { return layers_.empty() ? 0 : layers_[0][0].size(); }

std::vector<LayerScales> ActivationRanges::scales(double percentile) const {
  TESSERA_CHECK(rows() > 0 && percentile > 0 && percentile <= 100);
  std::vector<LayerScales> result(layers_.size());
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    for (std::vector<float> magnitudes : layers_[layer]) {
      const double rank = std::ceil(percentile / 100 * static_cast<double>(magnitudes.size()));
      const auto at = magnitudes.begin() + (static_cast<ptrdiff_t>(rank) - 1);
      std::nth_element(magnitudes.begin(), at, magnitudes.end());
      result[layer].push_back(std::clamp(*at / 127.0f, kSmallestScale, kLargestScale));
    }
  }
  return result;
}

}  // namespace tessera::model
