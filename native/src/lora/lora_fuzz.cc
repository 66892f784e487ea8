// Seeded mutations of a valid PEFT folder, read by the code that production uses: nothing may
// crash, read out of bounds or be half-loaded. With Clang's libFuzzer only LLVMFuzzerTestOneInput
// is used; otherwise main() mutates.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/check.h"
#include "device/backends.h"
#include "lora/arena.h"
#include "lora/heads.h"
#include "lora/peft_config.h"
#include "lora/test_adapter.h"
#include "model/test_request.h"

namespace tessera::lora {
namespace {

void read_as_config(const std::string& text) {
  const Result<PeftConfig> config = PeftConfig::parse(text, "fuzz");
  if (!config.is_ok()) {
    TESSERA_CHECK(!config.status().message().empty());
    return;
  }
  const std::string module = "model.layers.0.self_attn.q_proj";
  TESSERA_CHECK(config.value().rank_of(module) >= 1);
  TESSERA_CHECK(config.value().rank_of(module) <= ops::kRankMax);
  TESSERA_CHECK(config.value().scale_of(module) > 0);
  (void)config.value().targets(module, 0);
}

void read_as_ranking(const std::string& text) {
  const Result<RankingForm> form = RankingForm::parse(text, "fuzz");
  if (!form.is_ok()) {
    TESSERA_CHECK(!form.status().message().empty());
    return;
  }
  TESSERA_CHECK(!form.value().heads.empty() && form.value().heads.size() <= kHeadsMax);
  for (const HeadForm& head : form.value().heads) (void)head.answer(0.5);
  for (const HeadAttribute& attribute : form.value().attributes) (void)attribute.of(1);
}

[[maybe_unused]] std::string mutate(std::string text, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  const int changes = 1 + static_cast<int>(below(3));
  for (int i = 0; i < changes && !text.empty(); ++i) {
    // The header is where the reader decides; half of the changes go there.
    const size_t at = below(below(2) == 0 ? std::min<size_t>(text.size(), 3000) : text.size());
    switch (below(6)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text.resize(at); break;
      case 2: text.insert(at, text.substr(below(text.size()), below(64))); break;
      case 3: text.erase(at, below(16)); break;
      case 4: text[at] = static_cast<char>('0' + below(10)); break;
      default: {
        const char* const values[] = {"-1",   "0", "1e99",      "18446744073709551616",
                                      "null", "[", "\"(a*)*\"", "true"};
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text.replace(digit, 1, values[below(8)]);
      }
    }
  }
  return text;
}

/// Loads a folder of which one file was changed; what loads must also run.
[[maybe_unused]] bool load_and_run(const model::TestFolder& folder,
                                   const model::ProcessorDecoder& decoder, Arena& arena) {
  const auto loaded = arena.load(folder.path(), {ops::kRankMax, 1e6});
  if (!loaded.is_ok()) {
    TESSERA_CHECK(!loaded.status().message().empty());
    TESSERA_CHECK(arena.use().used_bytes == 0 && arena.use().adapters == 0);
    return false;
  }
  model::TestRequest request(decoder, 3, 1, 1, &loaded.value()->numbers());
  const int32_t tokens[3] = {0, 2, 5};
  request.prefill(tokens, 3);
  TESSERA_CHECK(request.logits(2).size() == decoder.config().vocab_size);
  return true;
}

}  // namespace
}  // namespace tessera::lora

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::lora::read_as_config(std::string(reinterpret_cast<const char*>(data), size));
  tessera::lora::read_as_ranking(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef TESSERA_LIBFUZZER
/// lora_fuzz [cases] [seed]
int main(int argc, char** argv) {
  using namespace tessera;
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::printf("lora_fuzz: %llu cases, seed %llu\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const model::TestShape shape;
  const model::TestFolder base, changed;
  base.write_model(shape, test_tensors(shape, tensor::DType::kF32, seed));
  auto device = device::open_cpu_device({.thread_count = 1, .instruction_set = {}});
  TESSERA_CHECK(device.is_ok());
  const auto decoder =
      model::ProcessorDecoder::load(base.path(), model::ComputeType::kBf16, *device.value());
  TESSERA_CHECK(decoder.is_ok());
  const auto arena = lora::Arena::open(decoder.value(), 64u << 20);
  TESSERA_CHECK(arena.is_ok());
  lora::TestAdapterShape adapter_shape;
  adapter_shape.ranks = {0, 2, 7};
  adapter_shape.embedding = {2, 5, 60};
  adapter_shape.head = {0, 69};
  adapter_shape.has_dora = true;
  const lora::TestAdapter adapter = random_adapter(shape, adapter_shape, seed);
  const std::string file = model::safetensors_file(adapter.tensors);
  const std::string ranking =
      R"({"version": 1, "item": "{sid}", "maxItemTokens": 9, "attributes": [{"name": "price",
          "function": "log1p", "mean": 2.5, "deviation": 0.5, "default": 1}], "heads": [
          {"name": "a", "hidden": [3, 2], "hiddenActivation": "gelu", "activation": "sigmoid",
           "calibration": {"isotonic": {"x": [0.1, 0.5], "y": [0, 1]}}},
          {"name": "b", "calibration": {"platt": [1.5, -0.5]}}]})";
  uint64_t loaded = 0;
  for (uint64_t i = 0; i < cases; ++i) {
    const std::string config = lora::mutate(adapter.config, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(config.data()), config.size());
    lora::read_as_ranking(lora::mutate(ranking, random));
    if (i % 4 != 0) continue;
    changed.write("adapter_config.json", i % 8 == 0 ? config : adapter.config);
    changed.write("adapter_model.safetensors", i % 8 == 0 ? file : lora::mutate(file, random));
    loaded += lora::load_and_run(changed, *decoder.value(), *arena.value()) ? 1 : 0;
  }
  std::printf("lora_fuzz: %llu of %llu changed folders still load and run\n",
              static_cast<unsigned long long>(loaded), static_cast<unsigned long long>(cases / 4));
  return 0;
}
#endif
