#include "card/shapes.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "card/random_values.h"
#include "catalogue/builder.h"

namespace tessera::bench::card {
namespace {

constexpr uint32_t kRecipe = 1;  // in the folders' names: a change of what is drawn makes new ones
constexpr uint64_t kSeed = 31;

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"tiny", 1, 64, 2, 1, 64, 96, 120, 32, 256},
      {"qwen3-0.6b", 28, 1024, 16, 8, 128, 3072, 151'936, 8192, 8192},
      {"qwen3-1.7b", 28, 2048, 16, 8, 128, 6144, 151'936, 8192, 8192}};
  return all;
}

struct Tensor {
  std::string name;
  std::vector<uint64_t> sizes;
  float deviation = 0;  // 0: a norm, all ones

  uint64_t count() const {
    return std::accumulate(sizes.begin(), sizes.end(), uint64_t{1}, std::multiplies<>());
  }
};

/// Projections keep the scale of what they read; those that write to the residual stream are
/// divided by its depth, so that logits spread over a few units as in a trained model.
std::vector<Tensor> tensors_of(const Shape& shape) {
  constexpr float kLogitSpread = 2.5f;
  const float residual = 1 / std::sqrt(2 * static_cast<float>(shape.layers));
  std::vector<Tensor> tensors;
  const auto matrix = [&](const std::string& name, uint64_t rows, uint64_t columns, float gain) {
    const float deviation = gain / std::sqrt(static_cast<float>(columns));
    tensors.push_back({name + ".weight", {rows, columns}, deviation});
  };
  const auto norm = [&](const std::string& name, uint64_t size) {
    tensors.push_back({name + ".weight", {size}, 0});
  };
  matrix("model.embed_tokens", shape.vocab, shape.hidden, kLogitSpread);
  for (uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer);
    norm(prefix + ".input_layernorm", shape.hidden);
    matrix(prefix + ".self_attn.q_proj", shape.q_size(), shape.hidden, 1);
    matrix(prefix + ".self_attn.k_proj", shape.kv_size(), shape.hidden, 1);
    matrix(prefix + ".self_attn.v_proj", shape.kv_size(), shape.hidden, 1);
    matrix(prefix + ".self_attn.o_proj", shape.hidden, shape.q_size(), residual);
    norm(prefix + ".self_attn.q_norm", shape.head_dim);
    norm(prefix + ".self_attn.k_norm", shape.head_dim);
    norm(prefix + ".post_attention_layernorm", shape.hidden);
    matrix(prefix + ".mlp.gate_proj", shape.inner, shape.hidden, 1);
    matrix(prefix + ".mlp.up_proj", shape.inner, shape.hidden, 1);
    matrix(prefix + ".mlp.down_proj", shape.hidden, shape.inner, residual);
  }
  norm("model.norm", shape.hidden);
  return tensors;
}

std::string config_of(const Shape& shape) {
  const auto field = [](const char* name, uint64_t value) {
    return ",\n  \"" + std::string(name) + "\": " + std::to_string(value);
  };
  return "{\n  \"architectures\": [\"Qwen3ForCausalLM\"],\n  \"model_type\": \"qwen3\",\n"
         "  \"dtype\": \"bfloat16\",\n  \"attention_bias\": false,\n  \"hidden_act\": \"silu\",\n"
         "  \"rms_norm_eps\": 1e-6,\n  \"rope_theta\": 1000000,\n"
         "  \"tie_word_embeddings\": true,\n  \"use_sliding_window\": false" +
         field("head_dim", shape.head_dim) + field("hidden_size", shape.hidden) +
         field("intermediate_size", shape.inner) +
         field("max_position_embeddings", shape.positions) +
         field("num_attention_heads", shape.heads) + field("num_hidden_layers", shape.layers) +
         field("num_key_value_heads", shape.kv_heads) + field("vocab_size", shape.vocab) + "\n}\n";
}

/// Length, then JSON padded with spaces so that the tensors begin on a multiple of 64 bytes.
std::string header_of(const std::vector<Tensor>& tensors) {
  std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
  uint64_t end = 0;
  for (const Tensor& tensor : tensors) {
    const uint64_t begin = end;
    end += tensor.count() * sizeof(uint16_t);
    std::string sizes;
    for (const uint64_t size : tensor.sizes) {
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    }
    json += ",\"" + tensor.name + R"(":{"dtype":"BF16","shape":[)" + sizes +
            "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  }
  json += "}";
  json.resize((json.size() + 8 + 63) / 64 * 64 - 8, ' ');
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json;
}

void write_tensor(std::ofstream& file, const Tensor& tensor, uint64_t seed) {
  const auto write = [&](const std::vector<uint16_t>& values, uint64_t count) {
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(count * sizeof(uint16_t)));
  };
  if (tensor.deviation == 0) {
    write(std::vector<uint16_t>(tensor.count(), narrowed(1)), tensor.count());
    return;
  }
  const RandomValues values(seed, tensor.deviation, tensor.count());
  const std::vector<uint16_t>& pattern = values.pattern();
  for (uint64_t done = 0; done < tensor.count(); done += pattern.size()) {
    write(pattern, std::min<uint64_t>(pattern.size(), tensor.count() - done));
  }
}

Status failed(const std::string& path) { return {Code::kIoFailed, path + ": cannot be written"}; }

/// Makes `folder` whole or not at all: `fill` writes into a folder beside it.
Status make_folder(const std::string& folder, const std::function<Status(std::string)>& fill) {
  const std::string fresh = folder + ".fresh";
  std::error_code error;
  std::filesystem::remove_all(fresh, error);
  if (!std::filesystem::create_directories(fresh, error)) return failed(fresh);
  TESSERA_RETURN_IF_ERROR(fill(fresh));
  std::filesystem::rename(fresh, folder, error);
  return error ? failed(folder) : Status::ok();
}

Status write_model(const Shape& shape, const std::string& folder) {
  std::ofstream config(folder + "/config.json");
  config << config_of(shape);
  std::ofstream file(folder + "/model.safetensors", std::ios::binary);
  const std::vector<Tensor> tensors = tensors_of(shape);
  const std::string header = header_of(tensors);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (size_t i = 0; i < tensors.size(); ++i) write_tensor(file, tensors[i], kSeed + i);
  config.close();
  file.close();
  return config.good() && file.good() ? Status::ok() : failed(folder);
}

Status write_catalogue(uint32_t items, uint32_t codes, const std::string& folder) {
  catalogue::CatalogueInput input;
  input.level_sizes.assign(kLevels, codes);
  std::mt19937_64 random(kSeed);
  std::vector<uint16_t> sids;
  for (uint32_t item = 0; item < items; ++item) {
    for (uint32_t level = 0; level < kLevels; ++level) {
      sids.push_back(static_cast<uint16_t>(random() % codes));
      input.codes.push_back(sids.back());
    }
    input.sid_ends.push_back(input.codes.size());
    input.item_ids.add(std::to_string(item));
  }
  std::ofstream file(folder + "/sids.u16", std::ios::binary);
  file.write(reinterpret_cast<const char*>(sids.data()),
             static_cast<std::streamsize>(sids.size() * sizeof(uint16_t)));
  file.close();
  if (!file.good()) return failed(folder);
  const auto built = catalogue::build_snapshot(input, folder + "/catalogue.snapshot", nullptr);
  return built.is_ok() ? Status::ok() : built.status();
}

}  // namespace

std::string shape_names() {
  std::string names;
  for (const Shape& shape : shapes()) names += (names.empty() ? "" : ", ") + shape.name;
  return names;
}

Result<Shape> shape_of(const std::string& name) {
  for (const Shape& shape : shapes()) {
    if (shape.name == name) return shape;
  }
  return Status(Code::kRequestInvalid, "--shape: expected of " + shape_names() + ", got " + name);
}

Result<std::string> model_folder(const Shape& shape, const std::string& cache) {
  const std::string folder = cache + "/card-" + shape.name + "-" + std::to_string(kRecipe);
  if (std::filesystem::exists(folder)) return folder;
  std::fprintf(stderr, "%s: drawing random weights into %s\n", shape.name.c_str(), folder.c_str());
  TESSERA_RETURN_IF_ERROR(
      make_folder(folder, [&](const std::string& fresh) { return write_model(shape, fresh); }));
  return folder;
}

Result<std::shared_ptr<const catalogue::Snapshot>> random_catalogue(uint32_t items, uint32_t codes,
                                                                    const std::string& cache) {
  const std::string folder = cache + "/card-catalogue-" + std::to_string(items) + "-" +
                             std::to_string(codes) + "-" + std::to_string(kRecipe);
  if (!std::filesystem::exists(folder)) {
    std::fprintf(stderr, "catalogue of %u random SIDs into %s\n", items, folder.c_str());
    TESSERA_RETURN_IF_ERROR(make_folder(
        folder, [&](const std::string& fresh) { return write_catalogue(items, codes, fresh); }));
  }
  return catalogue::Snapshot::open(folder + "/catalogue.snapshot");
}

std::vector<std::vector<int32_t>> level_tokens(const Shape& shape) {
  std::vector<std::vector<int32_t>> levels(kLevels, std::vector<int32_t>(shape.codes));
  for (uint32_t level = 0; level < kLevels; ++level) {
    std::iota(levels[level].begin(), levels[level].end(),
              static_cast<int32_t>(level * shape.codes));
  }
  return levels;
}

std::vector<int32_t> random_prompt(const Shape& shape, uint32_t length, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> prompt;
  for (uint32_t at = 0; at < length; ++at) {
    prompt.push_back(static_cast<int32_t>(at % kLevels * shape.codes + random() % shape.codes));
  }
  return prompt;
}

}  // namespace tessera::bench::card
