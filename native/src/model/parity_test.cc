// The decoder against recorded results of independent implementations: logits and path scores of
// small checkpoints of every family (test/fixtures/parity), and the published checkpoints of
// ../shared/data when they are there.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "device/backends.h"
#include "model/processor_decoder.h"
#include "model/test_request.h"

namespace tessera::model {
namespace parity_test {

namespace fs = std::filesystem;
using simdjson::dom::element;

const fs::path kRoot = TESSERA_REPOSITORY_ROOT;
const fs::path kFixtures = kRoot / "test/fixtures/parity";
const fs::path kTinyModels = kRoot / "../shared/data/tiny-models";

std::unique_ptr<device::Device> open_device() {
  auto device = device::open_cpu_device({.thread_count = 2, .instruction_set = {}});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

std::shared_ptr<const ProcessorDecoder> load(const fs::path& folder, ComputeType type,
                                             device::Device& device) {
  auto decoder = ProcessorDecoder::load(folder.string(), type, device);
  if (!decoder.is_ok()) {
    ADD_FAILURE() << decoder.status().message();
    return nullptr;
  }
  return std::move(decoder).value();
}

template <typename T>
std::vector<T> numbers(element list) {
  std::vector<T> result;
  for (const element value : simdjson::dom::array(list))
    result.push_back(static_cast<T>(double(value)));
  return result;
}

std::vector<fs::path> fixture_folders() {
  std::vector<fs::path> folders;
  if (!fs::exists(kFixtures)) return folders;
  for (const auto& entry : fs::directory_iterator(kFixtures)) {
    if (fs::exists(entry.path() / "cases.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// The recorded paths of one case as token ids: codes, then terminal tokens; all of the same length
/// are beams of one run.
struct Paths {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<double> scores;
};

Paths read_paths(element recorded) {
  const auto bases = numbers<int32_t>(recorded["levelTokenBase"]);
  const auto terminals = numbers<int32_t>(recorded["terminalTokens"]);
  Paths paths;
  for (const element path : simdjson::dom::array(recorded["expected"])) {
    std::vector<int32_t> tokens = numbers<int32_t>(path["sid"]);
    for (size_t level = 0; level < tokens.size(); ++level) tokens[level] += bases[level];
    tokens.insert(tokens.end(), terminals.begin(), terminals.end());
    paths.tokens.push_back(tokens);
    paths.scores.push_back(double(path["score"]));
  }
  return paths;
}

/// Sum of log-probabilities over the whole vocabulary along each path, all paths of one length as
/// beams.
std::vector<double> path_scores(const ProcessorDecoder& decoder, const std::vector<int32_t>& prompt,
                                const std::vector<std::vector<int32_t>>& paths) {
  const uint32_t width = static_cast<uint32_t>(paths.size());
  const uint32_t length = static_cast<uint32_t>(paths[0].size());
  TestRequest request(decoder, static_cast<uint32_t>(prompt.size()), length, width);
  request.prefill(prompt, 5);
  std::vector<double> scores(width);
  std::vector<uint32_t> parents(width);
  for (uint32_t step = 0; step < length; ++step) {
    const std::vector<float> prompt_sum =
        step == 0 ? request.log_sum_exp(request.last_row() + 1) : request.log_sum_exp(width);
    std::vector<int32_t> tokens;
    for (uint32_t row = 0; row < width; ++row) {
      const uint32_t from = step == 0 ? request.last_row() : row;
      const int32_t token = paths[row][step];
      float logit = 0;
      EXPECT_TRUE(
          decoder.logits(request.workspace(), {&from, 1}, {&token, 1}, {&logit, 1}).is_ok());
      scores[row] += static_cast<double>(logit) - static_cast<double>(prompt_sum[from]);
      tokens.push_back(token);
      parents[row] = row;
    }
    if (step + 1 < length) request.step(tokens, parents);
  }
  return scores;
}

/// Numbers that are within their tolerance, of all.
struct Tally {
  size_t within = 0, all = 0;
  double worst_path = 0;

  void add(double ours, double expected, double tolerance) {
    within += std::abs(ours - expected) <= tolerance ? 1 : 0;
    all += 1;
  }
};

/// Logits and path scores of one case; the tolerance is that of a logit.
void compare(const ProcessorDecoder& decoder, element recorded, double tolerance, Tally& tally) {
  const auto prompt = numbers<int32_t>(recorded["promptTokens"]);
  const auto expected = numbers<double>(recorded["logits_last"]);
  TestRequest request(decoder, static_cast<uint32_t>(prompt.size()), 1, 1);
  request.prefill(prompt, static_cast<uint32_t>(prompt.size()));
  const std::vector<float> logits = request.logits(request.last_row());
  for (size_t i = 0; i < expected.size(); ++i) {
    tally.add(static_cast<double>(logits[i]), expected[i], tolerance);
  }
  if (std::string_view(recorded["scoreNorm"]) != "full") return;
  const Paths paths = read_paths(recorded);
  for (size_t length = 1; length <= 40; ++length) {
    std::vector<std::vector<int32_t>> tokens;
    std::vector<double> scores;
    for (size_t i = 0; i < paths.tokens.size(); ++i) {
      if (paths.tokens[i].size() != length) continue;
      tokens.push_back(paths.tokens[i]);
      scores.push_back(paths.scores[i]);
    }
    if (tokens.empty()) continue;
    const std::vector<double> ours = path_scores(decoder, prompt, tokens);
    for (size_t i = 0; i < ours.size(); ++i) {
      tally.add(ours[i], scores[i], tolerance * static_cast<double>(length));
      tally.worst_path = std::max(tally.worst_path, std::abs(ours[i] - scores[i]));
    }
  }
}

TEST(Parity, RecordedLogitsAndPathScoresOfEveryFamilyAreReproduced) {
  const std::vector<fs::path> folders = fixture_folders();
  if (folders.empty()) GTEST_SKIP() << "no fixtures in " << kFixtures;
  const std::unique_ptr<device::Device> device = open_device();
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.filename().string());
    const auto f32 = load(folder, ComputeType::kF32, *device);
    const auto bf16 = load(folder, ComputeType::kBf16, *device);
    ASSERT_TRUE(f32 != nullptr && bf16 != nullptr);
    EXPECT_EQ(f32->digest(), bf16->digest());
    const bool is_t5 = f32->config().family->is_t5;  // not served in w8a8
    const auto w8a8 = is_t5 ? nullptr : load(folder, ComputeType::kW8A8, *device);
    ASSERT_TRUE(is_t5 || (w8a8 != nullptr && w8a8->digest() == f32->digest()));
    Tally exact, rounded;
    simdjson::dom::parser parser;
    for (const element recorded :
         simdjson::dom::array(parser.load((folder / "cases.json").string()))) {
      compare(*f32, recorded, 2e-5, exact);
      compare(*bf16, recorded, 0.15, rounded);
      if (!is_t5) compare(*w8a8, recorded, 0.4, rounded);  // random weights: no room for rounding
    }
    EXPECT_EQ(exact.within, exact.all);
    // A rounded row that was near a tie chooses another expert; a state's output that rounding
    // turns, since next to nothing is left of it, is scaled up by its norm.
    const bool is_hybrid = f32->config().family->is_hybrid;
    const double share = f32->config().mixture.experts > 0 ? 0.8 : is_hybrid ? 0.98 : 1;
    EXPECT_GE(static_cast<double>(rounded.within), share * static_cast<double>(rounded.all));
    if (is_hybrid) {
      EXPECT_LE(exact.worst_path, 2e-5);
    }
    RecordProperty(folder.filename().string(), std::to_string(exact.worst_path));
  }
}

TEST(Parity, TheTrainedTinyLlamaWritesItsHundredGreedyTokens) {
  const fs::path folder = kTinyModels / "aidreams260K";
  if (!fs::exists(folder)) GTEST_SKIP() << "absent: " << folder;
  const std::unique_ptr<device::Device> device = open_device();
  const auto decoder = load(folder, ComputeType::kF32, *device);
  ASSERT_NE(decoder, nullptr);
  simdjson::dom::parser parser;
  const element expected = parser.load((folder / "expected.json").string());
  const auto greedy = numbers<int32_t>(expected["greedy_ids"]);
  TestRequest request(*decoder, 128, 1, 1);
  request.prefill(numbers<int32_t>(expected["prompt_ids"]), 1);
  const auto first = numbers<double>(expected["first_logits"]);
  std::vector<float> logits = request.logits(0);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(logits[i]), first[i], 2e-5);
  }
  for (size_t i = 0; i < greedy.size(); ++i) {
    const auto best = std::max_element(logits.begin(), logits.end());
    const int32_t token = static_cast<int32_t>(best - logits.begin());
    ASSERT_EQ(token, greedy[i]) << "token " << i;
    request.prefill({&token, 1}, 1);
    logits = request.logits(0);
  }
}

TEST(Parity, ATableOfAStackIsTheSharedOneOrRefused) {
  const fs::path fixture = kFixtures / "t5-tied";
  const auto file =
      platform::MappedFile::open((fixture / "model.safetensors").string(), Code::kModelNotFound);
  ASSERT_TRUE(file.is_ok());
  const auto entries = read_safetensors(file.value().bytes(), "fixture");
  ASSERT_TRUE(entries.is_ok());
  TestTensors tensors;
  for (const TensorEntry& entry : entries.value()) {
    tensors[entry.name] = {entry.dtype,
                           entry.shape,
                           {reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size()}};
  }
  const auto config =
      platform::MappedFile::open((fixture / "config.json").string(), Code::kModelNotFound);
  const std::unique_ptr<device::Device> device = open_device();
  const auto decoder = load(fixture, ComputeType::kF32, *device);
  for (const char* name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    for (const bool is_same : {true, false}) {
      TestTensors more = tensors;
      more[name] = more.at("shared.weight");
      if (!is_same) more[name].bytes[0] = static_cast<char>(more[name].bytes[0] ^ 1);
      const TestFolder folder;
      folder.write("config.json", std::string(config.value().text()));
      folder.write("model.safetensors", safetensors_file(more));
      const auto loaded = ProcessorDecoder::load(folder.path(), ComputeType::kF32, *device);
      EXPECT_EQ(loaded.is_ok(), is_same) << name;
      EXPECT_EQ(decoder->prepare_update(folder.path()).is_ok(), is_same) << name;
      if (is_same) continue;
      EXPECT_EQ(loaded.status().code(), Code::kModelInvalid);
      EXPECT_NE(loaded.status().message().find(std::string(name) + ": expected the content of "
                                                                   "shared.weight, got another"),
                std::string::npos)
          << loaded.status().message();
    }
  }
}

TEST(Parity, ThePublishedTinyModelsOfThreeFamiliesLoadAndGiveFiniteLogits) {
  if (!fs::exists(kTinyModels)) GTEST_SKIP() << "absent: " << kTinyModels;
  const std::unique_ptr<device::Device> device = open_device();
  for (const char* name : {"mlxd/tiny_qwen3", "mlxd/tiny_llama3", "mlxd/tiny_mistral"}) {
    SCOPED_TRACE(name);
    const auto decoder = load(kTinyModels / name, ComputeType::kBf16, *device);
    ASSERT_NE(decoder, nullptr);
    TestRequest request(*decoder, 8, 1, 1);
    request.prefill(std::vector<int32_t>{1, 2, 3}, 3);
    for (const float logit : request.logits(2)) EXPECT_TRUE(std::isfinite(logit));
  }
}

TEST(Parity, AQuantisedCheckpointIsRefusedByTheNameOfItsField) {
  const fs::path folder = kTinyModels / "mlxd/tiny_qwen3_sharded";
  if (!fs::exists(folder)) GTEST_SKIP() << "absent: " << folder;
  const std::unique_ptr<device::Device> device = open_device();
  const auto decoder = ProcessorDecoder::load(folder.string(), ComputeType::kF32, *device);
  ASSERT_FALSE(decoder.is_ok());
  EXPECT_EQ(decoder.status().code(), Code::kModelInvalid);
  EXPECT_NE(decoder.status().message().find("quantization"), std::string::npos);
}

}  // namespace parity_test
}  // namespace tessera::model
