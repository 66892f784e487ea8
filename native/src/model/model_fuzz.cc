// Seeded mutations of a valid model folder, read by the code that production uses: nothing may
// crash, read out of bounds or be half-loaded. With Clang's libFuzzer only LLVMFuzzerTestOneInput
// is used; otherwise main() mutates.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/check.h"
#include "device/backends.h"
#include "model/activation_scales.h"
#include "model/model_config.h"
#include "model/processor_decoder.h"
#include "model/safetensors.h"
#include "model/static_scales.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace {

void read_as_weights(const std::string& file) {
  Result<std::vector<TensorEntry>> entries =
      read_safetensors(std::as_bytes(std::span(file)), "fuzz");
  if (!entries.is_ok()) {
    TESSERA_CHECK(!entries.status().message().empty());
    return;
  }
  unsigned sum = 0;
  for (const TensorEntry& entry : entries.value()) {
    for (const std::byte byte : entry.bytes) sum += static_cast<unsigned>(byte);
  }
  [[maybe_unused]] static volatile unsigned sink;
  sink = sum;
}

void read_as_config(const std::string& text) {
  Result<ModelConfig> config = ModelConfig::parse(text, "fuzz");
  if (!config.is_ok()) return;
  TESSERA_CHECK(config.value().head_count % config.value().kv_head_count == 0);
  TESSERA_CHECK(config.value().rope_frequencies().size() <= config.value().head_dim / 2);
  TESSERA_CHECK(!config.value().canonical_text().empty());
}

[[maybe_unused]] std::string mutate(std::string text, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  const int changes = 1 + static_cast<int>(below(4));
  for (int i = 0; i < changes && !text.empty(); ++i) {
    // The header is where the reader decides; half of the changes go there.
    const size_t at = below(below(2) == 0 ? std::min<size_t>(text.size(), 3000) : text.size());
    switch (below(7)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text.resize(at); break;
      case 2: text.insert(at, text.substr(below(text.size()), below(64))); break;
      case 3: text.erase(at, below(16)); break;
      case 4: text[at] = static_cast<char>('0' + below(10)); break;
      case 5: {  // a list becomes something of another kind
        const char* const kinds[] = {"0", "\"a\"", "{}", "true"};
        const size_t from = text.find('[', at), to = text.find(']', from);
        if (to != std::string::npos) text.replace(from, to - from + 1, kinds[below(4)]);
        break;
      }
      default: {
        const char* const numbers[] = {"-1",   "0", "1e99", "18446744073709551616",
                                       "null", "[", "\"",   "4294967296"};
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text.replace(digit, 1, numbers[below(8)]);
      }
    }
  }
  return text;
}

/// Configuration of the same model with the lists that name its layers.
[[maybe_unused]] std::string with_lists(std::string config, size_t layers) {
  std::string types;
  for (size_t i = 0; i < layers; ++i)
    types += i == 0 ? "\"full_attention\"" : ",\"full_attention\"";
  const std::string yarn =
      R"("rope_scaling":{"type":"yarn","factor":4.5,"beta_fast":8,"truncate":false,"mscale":0.7,
         "mscale_all_dim":1,"original_max_position_embeddings":50},)";
  return config.insert(1, "\"layer_types\":[" + types + "],\"mlp_only_layers\":[]," + yarn);
}

/// Loads a folder of which one file was changed; what loads must also run.
[[maybe_unused]] bool load_and_run(const TestFolder& folder, device::Device& device) {
  const auto decoder = ProcessorDecoder::load(folder.path(), ComputeType::kBf16, device);
  if (!decoder.is_ok()) {
    TESSERA_CHECK(decoder.status().message().find("expected") != std::string::npos ||
                  decoder.status().code() == Code::kModelNotFound ||
                  decoder.status().code() == Code::kIoFailed);
    return false;
  }
  const ModelConfig& config = decoder.value()->config();
  if (config.vocab_size < 3 || config.max_positions < 3) return true;
  TestRequest request(*decoder.value(), 2, 1, 1);
  const int32_t tokens[2] = {0, 2};
  request.prefill(tokens, 2);
  return true;
}

constexpr const char* kDigest = "0123456789abcdef0123456789abcdef";

[[maybe_unused]] std::string scales_text(const std::string& config) {
  const Recipe recipe(ModelConfig::parse(config, "fuzz").value());
  ActivationScales scales{kDigest, 100, 7, own_scales(recipe)};
  for (LayerScales& of_layer : scales.layers) {
    for (std::vector<float>& of_input : of_layer)
      std::fill(of_input.begin(), of_input.end(), 0.25f);
  }
  return scales.text(recipe);
}

[[maybe_unused]] void read_as_scales(const std::string& path, const std::string& config) {
  const Recipe recipe(ModelConfig::parse(config, "fuzz").value());
  const auto scales = ActivationScales::load(path, kDigest, recipe);
  if (!scales.is_ok()) {
    TESSERA_CHECK(scales.status().message().find("expected") != std::string::npos);
    return;
  }
  for (const LayerScales& of_layer : scales.value().layers) {
    for (const std::vector<float>& of_input : of_layer) {
      for (const float scale : of_input) TESSERA_CHECK(scale > 0);
    }
  }
}

constexpr const char* kEncoderConfig =
    R"({"model_type":"bert","architectures":["BertModel"],"hidden_act":"gelu","hidden_size":8,
        "intermediate_size":70,"num_attention_heads":2,"num_hidden_layers":2,"vocab_size":9,
        "max_position_embeddings":16,"type_vocab_size":2})";

Recipe encoder_recipe() {
  return Recipe(ModelConfig::parse(kEncoderConfig, "fuzz", text_families()).value(),
                Purpose::kRows);
}

[[maybe_unused]] std::string static_scales_file() {
  const Recipe recipe = encoder_recipe();
  InputRanges ranges(recipe);
  const std::vector<float> row(70, 0.5f);
  for (uint32_t layer = 0; layer < recipe.layers().size(); ++layer) {
    for (const uint32_t input : {0u, 1u, 2u, 3u})
      ranges.add(layer, input, row.data(), 1, input == 3 ? 70 : 8);
  }
  return ranges.file(recipe, kDigest);
}

[[maybe_unused]] void read_as_static_scales(const std::string& folder) {
  const Recipe recipe = encoder_recipe();
  const auto scales = StaticScales::load(folder, recipe);
  if (!scales.is_ok()) {
    TESSERA_CHECK(scales.status().message().find("expected") != std::string::npos);
    return;
  }
  for (const float scale : scales.value().input(1, 3).scales) TESSERA_CHECK(scale > 0);
}

}  // namespace
}  // namespace tessera::model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tessera::model::read_as_weights(text);
  tessera::model::read_as_config(text);
  return 0;
}

#ifndef TESSERA_LIBFUZZER
/// model_fuzz [cases] [seed]
int main(int argc, char** argv) {
  using namespace tessera;
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::printf("model_fuzz: %llu cases, seed %llu\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  auto device = device::open_cpu_device({.thread_count = 1, .instruction_set = {}});
  TESSERA_CHECK(device.is_ok());
  constexpr size_t kShapes = 3;
  model::TestShape shapes[kShapes];
  shapes[1].model_type = "qwen2_moe";
  shapes[2].model_type = "qwen3_5_text";
  std::string files[kShapes], configs[kShapes], scales[kShapes];
  for (size_t i = 0; i < kShapes; ++i) {
    files[i] = model::safetensors_file(model::test_tensors(shapes[i], tensor::DType::kBf16, seed));
    configs[i] = model::test_config(shapes[i]);
    if (!shapes[i].is_hybrid()) configs[i] = model::with_lists(configs[i], shapes[i].layers);
    scales[i] = model::scales_text(configs[i]);
  }
  std::string index = "{\"metadata\":{},\"weight_map\":{\"lm_head.weight\":\"whole.safetensors\"}}";
  const model::TestFolder single, sharded;
  sharded.write("config.json", configs[0]);
  sharded.write("whole.safetensors", files[0]);
  const std::string static_scales = model::static_scales_file();
  uint64_t loaded = 0;
  for (uint64_t i = 0; i < cases; ++i) {
    const size_t family = i / 16 % kShapes;
    const std::string bad_file = model::mutate(files[family], random),
                      bad_config = model::mutate(configs[family], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bad_file.data()), bad_file.size());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bad_config.data()), bad_config.size());
    if (i % 8 != 0) continue;
    single.write("config.json", i % 16 == 0 ? bad_config : configs[family]);
    single.write("model.safetensors", i % 16 == 0 ? files[family] : bad_file);
    loaded += model::load_and_run(single, *device.value()) ? 1 : 0;
    single.write("scales.json", model::mutate(scales[family], random));
    model::read_as_scales(single.path() + "/scales.json", configs[family]);
    single.write(std::string(model::kStaticScalesFile), model::mutate(static_scales, random));
    model::read_as_static_scales(single.path());
    sharded.write("model.safetensors.index.json", model::mutate(index, random));
    loaded += model::load_and_run(sharded, *device.value()) ? 1 : 0;
  }
  std::printf("model_fuzz: %llu of %llu changed folders still load and run\n",
              static_cast<unsigned long long>(loaded), static_cast<unsigned long long>(cases / 4));
  return 0;
}
#endif
