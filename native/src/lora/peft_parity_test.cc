// Adapters as PEFT saved them against the logits of transformers and PEFT in double precision
// (test/fixtures/adapters, made by `python -m trainer adapter-fixtures`).
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "device/backends.h"
#include "lora/arena.h"
#include "lora/tensor_names.h"
#include "model/test_model.h"
#include "model/test_request.h"
#include "platform/file.h"

namespace tessera::lora {
namespace peft_parity_test {

namespace fs = std::filesystem;
using model::ComputeType;
using simdjson::dom::element;

const fs::path kFixtures = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures";

template <typename T>
std::vector<T> numbers(element list) {
  std::vector<T> result;
  for (const element value : simdjson::dom::array(list))
    result.push_back(static_cast<T>(double(value)));
  return result;
}

std::vector<fs::path> adapter_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kFixtures / "adapters")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

double worst_of(const std::vector<float>& got, const std::vector<double>& expected) {
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
  return worst;
}

void check(const fs::path& folder, ComputeType type, double tolerance) {
  const bool is_t5 = folder.filename().string().starts_with("t5-");
  if (is_t5 && type == ComputeType::kW8A8) return;  // not served
  SCOPED_TRACE(folder.filename().string() + " " + std::string(model::compute_type_name(type)));
  simdjson::dom::parser parser;
  const element recorded = parser.load((folder / "cases.json").string());
  auto device = device::open_cpu_device({.thread_count = 2, .instruction_set = {}});
  ASSERT_TRUE(device.is_ok());
  const fs::path base = kFixtures / "parity" / std::string(std::string_view(recorded["model"]));
  auto decoder = model::ProcessorDecoder::load(base.string(), type, *device.value());
  ASSERT_TRUE(decoder.is_ok()) << decoder.status().message();
  // Rounding may turn the rest of a state's output, which its norm scales up.
  const bool is_rounded = type != ComputeType::kF32;
  if (is_rounded && decoder.value()->config().family->is_hybrid) tolerance *= 3;
  // Its scores are not divided by sqrt(d): the softmax of random weights is sharp.
  if (is_t5) tolerance *= 3;
  auto arena = Arena::open(decoder.value(), 64u << 20);
  ASSERT_TRUE(arena.is_ok());
  const auto adapter = arena.value()->load(folder.string(), {ops::kRankMax, 1e3});
  ASSERT_TRUE(adapter.is_ok()) << adapter.status().message();
  for (const element one : simdjson::dom::array(recorded["cases"])) {
    const auto prompt = numbers<int32_t>(one["promptTokens"]);
    const auto expected = numbers<double>(one["logits"]);
    model::TestRequest plain(*decoder.value(), static_cast<uint32_t>(prompt.size()), 1, 1);
    model::TestRequest request(*decoder.value(), static_cast<uint32_t>(prompt.size()), 1, 1,
                               &adapter.value()->numbers());
    plain.prefill(prompt, 7);
    request.prefill(prompt, 7);
    const std::vector<float> logits = request.logits(request.last_row());
    EXPECT_LT(worst_of(logits, expected), tolerance) << prompt.size() << " tokens";
    EXPECT_GT(worst_of(plain.logits(plain.last_row()), expected), 0.05) << "it changes nothing";
    const std::vector<float> sums = request.log_sum_exp(request.last_row() + 1);
    EXPECT_NEAR(static_cast<double>(sums.back()), double(one["logSumExp"]), tolerance);
  }
}

TEST(PeftParity, RecordedLogitsOfEveryFeatureAreReproduced) {
  const std::vector<fs::path> folders = adapter_folders();
  ASSERT_GE(folders.size(), 10u);
  for (const fs::path& folder : folders) {
    check(folder, ComputeType::kF32, 2e-5);
    check(folder, ComputeType::kBf16, 0.2);
    check(folder, ComputeType::kW8A8, 0.5);  // random weights: no room for rounding
  }
}

TEST(PeftParity, NoTableOfAStackIsLeftAside) {
  const fs::path folder = kFixtures / "adapters/t5-both-stacks";
  simdjson::dom::parser parser;
  const element recorded = parser.load((folder / "cases.json").string());
  const fs::path base = kFixtures / "parity" / std::string(std::string_view(recorded["model"]));
  auto device = device::open_cpu_device({.thread_count = 1, .instruction_set = {}});
  const auto decoder =
      model::ProcessorDecoder::load(base.string(), ComputeType::kF32, *device.value());
  const auto arena = Arena::open(decoder.value(), 64u << 20);
  const auto file = platform::MappedFile::open((folder / "adapter_model.safetensors").string(),
                                               Code::kAdapterNotFound);
  model::TestTensors tensors;
  const auto entries = model::read_safetensors(file.value().bytes(), "fixture");
  for (const model::TensorEntry& entry : entries.value()) {
    tensors[entry.name] = {entry.dtype,
                           entry.shape,
                           {reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size()}};
  }
  for (const char* name :
       {"encoder.embed_tokens.weight", "decoder.embed_tokens.lora_embedding_A"}) {
    const std::string full = std::string(kAdapterPrefix) + name;
    model::TestTensors more = tensors;
    more[full] = tensors.begin()->second;
    const model::TestFolder copy;
    fs::copy_file(folder / "adapter_config.json", copy.path() + "/adapter_config.json");
    copy.write("adapter_model.safetensors", model::safetensors_file(more));
    const auto loaded = arena.value()->load(copy.path(), {ops::kRankMax, 1e3});
    ASSERT_FALSE(loaded.is_ok()) << name;
    EXPECT_NE(loaded.status().message().find(full), std::string::npos) << loaded.status().message();
  }
}

}  // namespace peft_parity_test
}  // namespace tessera::lora
