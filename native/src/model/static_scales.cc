#include "model/static_scales.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "model/safetensors.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::model {
namespace {

constexpr float kLeastScale = 1e-30f;
constexpr float kMostScale = 1e6f;
constexpr float kMostOffset = 1e9f;
constexpr float kLargestValue = 127.0f;
/// Smallest scale as a share of an input's largest: a value that hardly moved may move later.
constexpr float kLeastShare = 1.0f / 16;
constexpr std::string_view kModelDigest = "model_digest";
constexpr uint64_t kTileValues = device::panel_tile_depth(device::PanelType::kStaticI8);

uint64_t filled(uint64_t k) {
  return device::panel_tiles(device::PanelType::kStaticI8, k) * kTileValues;
}

std::string tensor_name(uint32_t layer, std::string_view input, std::string_view what) {
  return "layers." + std::to_string(layer) + "." + std::string(input) + "." + std::string(what);
}

/// Inputs of the matrices that read each input of a layer.
std::vector<uint64_t> input_sizes(const Layer& layer) {
  std::vector<uint64_t> sizes;
  for (const auto& block : layer.blocks) {
    const size_t first = sizes.size();
    sizes.resize(first + block->inputs().size());
    for (const WeightSlot& slot : block->slots()) {
      if (slot.kind != WeightSlot::Kind::kMatrix) continue;
      sizes[first + block->input_of(slot.number)] = slot.inputs;
    }
  }
  return sizes;
}

/// The tensors of a file by name; what is taken is no longer there.
class ScaleTensors {
 public:
  ScaleTensors(std::string path, std::vector<TensorEntry> entries) : path_(std::move(path)) {
    for (TensorEntry& entry : entries) {
      std::string name = entry.name;
      tensors_.emplace(std::move(name), std::move(entry));
    }
  }

  Status invalid(const std::string& name, const std::string& expected,
                 const std::string& got) const {
    return {Code::kModelInvalid, path_ + ": " + name + ": expected " + expected + ", got " + got};
  }

  /// Numbers of [-most, most], from `least` on where that is positive.
  Status take_floats(const std::string& name, uint64_t count, float least, float most,
                     std::vector<float>& to) {
    const auto found = tensors_.find(name);
    const std::string expected = "F32 of shape [" + std::to_string(count) + "]";
    if (found == tensors_.end()) return invalid(name, expected, "nothing");
    const TensorEntry& entry = found->second;
    if (entry.dtype != "F32" || entry.shape != std::vector{count}) {
      return invalid(name, expected,
                     entry.dtype + " of " + std::to_string(entry.bytes.size()) + " bytes");
    }
    to.resize(count);
    std::memcpy(to.data(), entry.bytes.data(), count * sizeof(float));
    tensors_.erase(found);
    const float lowest = least > 0 ? least : -most;
    const auto wrong = std::find_if(
        to.begin(), to.end(), [&](float value) { return !(value >= lowest && value <= most); });
    if (wrong == to.end()) return Status::ok();
    const std::string range = least > 0 ? "scales of 1e-30 to 1e6" : "numbers of -1e9 to 1e9";
    return invalid(name + "[" + std::to_string(wrong - to.begin()) + "]", range,
                   std::to_string(*wrong));
  }

  Status take_text(const std::string& name, std::string& to) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.dtype != "U8") {
      return invalid(name, "U8", found == tensors_.end() ? "nothing" : found->second.dtype);
    }
    const std::span<const std::byte> bytes = found->second.bytes;
    to.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    tensors_.erase(found);
    return Status::ok();
  }

  Status check_empty() const {
    if (tensors_.empty()) return Status::ok();
    return invalid(tensors_.begin()->first, "no such tensor for this model", "one");
  }

 private:
  std::string path_;
  std::map<std::string, TensorEntry> tensors_;
};

/// Fills in the quantisation factors in the form that kernels read.
void derive(StaticInput& input) {
  for (size_t i = 0; i < input.scales.size(); ++i) {
    const float factor = 1.0f / input.scales[i];
    input.factors.push_back(factor);
    input.shifts.push_back(-input.offsets[i] * factor);
  }
}

}  // namespace

std::string content_digest(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

Result<StaticScales> StaticScales::load(const std::string& folder, const Recipe& recipe) {
  StaticScales scales;
  scales.path_ = folder + "/" + std::string(kStaticScalesFile);
  if (!platform::exists(scales.path_)) {
    return Status(Code::kModelInvalid,
                  scales.path_ +
                      ": expected the file that npm run doctor -- --calibrate --model DIR "
                      "--texts FILE writes, got nothing");
  }
  Result<platform::MappedFile> file =
      platform::MappedFile::open(scales.path_, Code::kModelNotFound);
  if (!file.is_ok()) return file.status();
  const auto bytes = file.value().bytes();
  if (bytes.size() > kMaxStaticScalesBytes) {
    return Status(Code::kModelInvalid, scales.path_ + ": expected at most " +
                                           std::to_string(kMaxStaticScalesBytes) + " bytes, got " +
                                           std::to_string(bytes.size()));
  }
  auto entries = read_safetensors(bytes, scales.path_);
  if (!entries.is_ok()) return entries.status();
  ScaleTensors tensors(scales.path_, std::move(entries).value());
  TESSERA_RETURN_IF_ERROR(tensors.take_text(std::string(kModelDigest), scales.model_digest_));
  for (uint32_t i = 0; i < recipe.layers().size(); ++i) {
    const Layer& layer = recipe.layers()[i];
    const std::vector<InputSlot> inputs = layer.inputs();
    const std::vector<uint64_t> sizes = input_sizes(layer);
    std::vector<StaticInput>& of_layer = scales.layers_.emplace_back(inputs.size());
    for (size_t j = 0; j < inputs.size(); ++j) {
      const uint64_t count = filled(sizes[j]);
      TESSERA_RETURN_IF_ERROR(tensors.take_floats(tensor_name(i, inputs[j].name, "scale"), count,
                                                  kLeastScale, kMostScale, of_layer[j].scales));
      TESSERA_RETURN_IF_ERROR(tensors.take_floats(tensor_name(i, inputs[j].name, "offset"), count,
                                                  0, kMostOffset, of_layer[j].offsets));
      derive(of_layer[j]);
    }
  }
  TESSERA_RETURN_IF_ERROR(tensors.check_empty());
  scales.digest_ = content_digest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return scales;
}

Status StaticScales::check_model(const std::string& model_digest) const {
  if (model_digest_ == model_digest) return Status::ok();
  return {Code::kModelInvalid, path_ + ": " + std::string(kModelDigest) +
                                   ": expected the digest of the model at hand, " + model_digest +
                                   ", got " + model_digest_.substr(0, model_digest.size()) +
                                   " (npm run doctor -- --calibrate measures it anew)"};
}

void InputRanges::add(uint32_t layer, uint32_t input, const float* x, uint64_t rows, uint64_t n) {
  std::vector<Range>& of_layer = layers_[layer];
  if (of_layer.size() <= input) of_layer.resize(input + 1);
  Range& range = of_layer[input];
  if (range.least.empty()) {
    range.least.assign(filled(n), std::numeric_limits<float>::max());
    range.largest.assign(filled(n), std::numeric_limits<float>::lowest());
  }
  TESSERA_CHECK(range.least.size() == filled(n));
  if (layer == 0 && input == 0) rows_ += rows;
  for (uint64_t i = 0; i < rows; ++i) {
    for (uint64_t j = 0; j < n; j += kTileValues) {
      float tile[kTileValues] = {};
      std::copy_n(x + i * n + j, std::min(kTileValues, n - j), tile);
      ops::hadamard_tile(tile);
      for (uint64_t at = 0; at < kTileValues; ++at) {
        range.least[j + at] = std::min(range.least[j + at], tile[at]);
        range.largest[j + at] = std::max(range.largest[j + at], tile[at]);
      }
    }
  }
}

namespace {

/// Tensors of a safetensors file, one behind the other.
class TensorFile {
 public:
  void add(const std::string& name, std::string_view dtype, uint64_t count,
           std::string_view bytes) {
    header_ += (header_.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + std::string(dtype) +
               "\",\"shape\":[" + std::to_string(count) + "],\"data_offsets\":[" +
               std::to_string(data_.size()) + "," + std::to_string(data_.size() + bytes.size()) +
               "]}";
    data_ += bytes;
  }
  void add(const std::string& name, const std::vector<float>& values) {
    add(name, "F32", values.size(),
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  std::string content() const {
    std::string header = header_ + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data_;
  }

 private:
  std::string header_, data_;
};

}  // namespace

std::string InputRanges::file(const Recipe& recipe, const std::string& model_digest) const {
  TESSERA_CHECK(rows_ > 0);
  TensorFile file;
  for (uint32_t i = 0; i < layers_.size(); ++i) {
    const std::vector<InputSlot> inputs = recipe.layers()[i].inputs();
    for (size_t j = 0; j < inputs.size(); ++j) {
      const auto& [least, largest] = layers_[i][j];
      std::vector<float> halves, scales, offsets;
      for (size_t at = 0; at < least.size(); ++at) {
        halves.push_back(largest[at] * 0.5f - least[at] * 0.5f);
        offsets.push_back(largest[at] * 0.5f + least[at] * 0.5f);
      }
      const float most = *std::max_element(halves.begin(), halves.end());
      for (const float half : halves) {
        const float share = most > 0 ? std::sqrt(half / most) : 1.0f;
        const float scale = most * std::max(share, kLeastShare) / kLargestValue;
        scales.push_back(std::clamp(scale, kLeastScale, kMostScale));
      }
      file.add(tensor_name(i, inputs[j].name, "scale"), scales);
      file.add(tensor_name(i, inputs[j].name, "offset"), offsets);
    }
  }
  file.add(std::string(kModelDigest), "U8", model_digest.size(), model_digest);
  return file.content();
}

}  // namespace tessera::model
