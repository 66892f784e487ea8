// Encoders and their heads against recorded vectors of transformers in double precision
// (test/fixtures/encoders), and bit for bit between companies, threads and instruction sets.
#include "model/text_model.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "device/backends.h"
#include "model/test_model.h"

namespace tessera::model {
namespace text_model_test {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/encoders";
constexpr uint32_t kMaxRows = 2048, kMaxTexts = 64;
constexpr ComputeType kTypes[] = {ComputeType::kF32, ComputeType::kBf16, ComputeType::kW8A8};

using Vector = std::vector<float>;
using Tokens = std::vector<int32_t>;

struct Case {
  Tokens tokens;
  std::vector<double> vector;
};

std::unique_ptr<device::Device> open(uint32_t threads,
                                     std::optional<device::InstructionSet> set = {}) {
  auto device = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

std::vector<fs::path> fixtures() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kFixtures)) {
    if (fs::exists(entry.path() / "cases.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<Case> read_cases(const fs::path& folder) {
  simdjson::dom::parser parser;
  std::vector<Case> cases;
  for (const simdjson::dom::element recorded :
       simdjson::dom::array(parser.load((folder / "cases.json").string()))) {
    Case& one = cases.emplace_back();
    for (const int64_t token : simdjson::dom::array(recorded["tokens"]))
      one.tokens.push_back(static_cast<int32_t>(token));
    for (const simdjson::dom::element value : simdjson::dom::array(recorded["vector"]))
      one.vector.push_back(double(value));
  }
  return cases;
}

Result<TextModel> load(const fs::path& folder, ComputeType type, device::Device& device) {
  return TextModel::load(folder.string(), type, device);
}

/// Vectors of texts that are one pass.
std::vector<Vector> embed(const TextModel& model, const std::vector<Tokens>& texts) {
  auto workspace = model.make_workspace(kMaxRows, kMaxTexts);
  EXPECT_TRUE(workspace.is_ok());
  std::vector<EncoderText> given;
  for (const Tokens& tokens : texts) given.push_back({tokens});
  Vector all(texts.size() * model.dimension());
  const Status status = model.embed(given, *workspace.value(), all.data());
  EXPECT_TRUE(status.is_ok()) << status.message();
  std::vector<Vector> vectors;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(i * model.dimension());
    vectors.emplace_back(begin, begin + model.dimension());
  }
  return vectors;
}

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double cosine(const Vector& ours, const std::vector<double>& wanted) {
  double product = 0, a = 0, b = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto value = static_cast<double>(ours[i]);
    product += value * wanted[i];
    a += value * value;
    b += wanted[i] * wanted[i];
  }
  return product / std::sqrt(a * b);
}

TEST(TextModel, RecordedVectorsOfEveryFamilyAndHeadAreReproduced) {
  const std::unique_ptr<device::Device> device = open(2);
  ASSERT_GE(fixtures().size(), 8u);
  for (const fs::path& folder : fixtures()) {
    SCOPED_TRACE(folder.filename().string());
    for (const ComputeType type : kTypes) {
      SCOPED_TRACE(compute_type_name(type));
      const auto model = load(folder, type, *device);
      ASSERT_TRUE(model.is_ok()) << model.status().message();
      // Weights are random: rounded ones have far less room than those of a trained model.
      const double lowest = type == ComputeType::kF32    ? 0.99999
                            : type == ComputeType::kBf16 ? 0.995
                                                         : 0.98;
      for (const Case& one : read_cases(folder)) {
        const Vector vector = embed(model.value(), {one.tokens})[0];
        ASSERT_EQ(vector.size(), one.vector.size());
        if (vector.size() > 1) {
          EXPECT_GE(cosine(vector, one.vector), lowest) << one.tokens.size() << " tokens";
        }
        for (size_t i = 0; type == ComputeType::kF32 && i < vector.size(); ++i) {
          EXPECT_NEAR(static_cast<double>(vector[i]), one.vector[i], 2e-5);
        }
      }
    }
  }
}

TEST(TextModel, AVectorIsTheSameBitsAloneInAnyCompanyAndOnAnyThreads) {
  constexpr uint64_t kSeed = 5501;
  std::mt19937_64 random(kSeed);
  const auto one = open(1), three = open(3);
  for (const fs::path& folder : fixtures()) {
    const std::vector<Case> cases = read_cases(folder);
    for (const ComputeType type : kTypes) {
      SCOPED_TRACE(folder.filename().string() + " " + std::string(compute_type_name(type)));
      const auto model = load(folder, type, *one), other = load(folder, type, *three);
      ASSERT_TRUE(model.is_ok() && other.is_ok());
      std::vector<Tokens> texts;
      uint64_t rows = 0;
      for (size_t i = 0; i < 2 * cases.size(); ++i) {
        const Tokens& tokens = cases[random() % cases.size()].tokens;
        if (rows + tokens.size() > kMaxRows) continue;
        texts.push_back(tokens);
        rows += tokens.size();
      }
      const std::vector<Vector> together = embed(other.value(), texts);
      for (size_t i = 0; i < texts.size(); ++i) {
        EXPECT_TRUE(same_bits(embed(model.value(), {texts[i]})[0], together[i])) << i;
      }
    }
  }
}

TEST(TextModel, EveryInstructionSetOfAClassGivesTheSameBits) {
  const auto portable = open(1, device::InstructionSet::kPortable);
  const auto native = open(2);
  for (const char* name : {"bert-max-dense", "modernbert-classifier"}) {
    SCOPED_TRACE(name);
    const auto a = load(kFixtures / name, ComputeType::kF32, *portable);
    const auto b = load(kFixtures / name, ComputeType::kF32, *native);
    ASSERT_TRUE(a.is_ok() && b.is_ok());
    const std::vector<Tokens> texts = {{5, 9, 7, 30}, Tokens(70, 11), {3}};
    const std::vector<Vector> ours = embed(a.value(), texts), theirs = embed(b.value(), texts);
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_TRUE(same_bits(ours[i], theirs[i]));
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A copy of a fixture with one text of one file replaced.
struct Spoilt {
  Spoilt(const char* fixture, const std::string& file, const std::string& from,
         const std::string& to) {
    fs::copy(kFixtures / fixture, folder.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::string text = read_file(folder.path() + "/" + file);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    folder.write(file, text.replace(at, from.size(), to));
  }
  TestFolder folder;
};

TEST(TextModel, WhatIsNotComputedIsRefusedByItsPlace) {
  struct Fault {
    const char *fixture, *file, *from, *to, *named;
  };
  const Fault faults[] = {
      {"bert-mean", "config.json", "\"gelu\"", "\"relu\"", "hidden_act"},
      {"bert-mean", "config.json", "\"BertModel\"", "\"LlamaModel\"", "architectures"},
      {"bert-mean", "config.json", "\"bert\"", "\"albert\"", "model_type"},
      {"roberta-cls", "config.json", "306", "2", "max_position_embeddings"},
      {"modernbert-mean", "config.json", "\"local_attention\": 22", "\"local_attention\": 1",
       "local_attention"},
      {"bert-mean", "modules.json", "models.Normalize", "models.LSTM", "2.type"},
      {"bert-mean", "modules.json", "1_Pooling", "../1_Pooling", "1.path"},
      {"bert-mean", "1_Pooling/config.json", "pooling_mode_mean_tokens",
       "pooling_mode_weightedmean_tokens", "pooling_mode_weightedmean_tokens"},
      {"bert-mean", "1_Pooling/config.json", "\"pooling_mode_mean_tokens\": true",
       "\"pooling_mode_mean_tokens\": true, \"pooling_mode_cls_token\": true",
       "pooling_mode_mean_tokens"},
      {"bert-mean", "1_Pooling/config.json", "\"pooling_mode_mean_tokens\": true",
       "\"pooling_mode_mean_tokens\": true, \"include_prompt\": false", "include_prompt"},
      {"bert-mean", "1_Pooling/config.json", "\"pooling_mode_mean_tokens\": true",
       "\"pooling_mode_mean_tokens\": true, \"weights\": [1]", "weights"},
      {"bert-mean", "modules.json", "sentence_transformers.models.Transformer",
       "custom_st.Transformer", "0.type"},
      {"bert-mean", "modules.json", "models.Pooling",
       "cross_encoder.modules.logit_score.LogitScore", "relevance.json"},
      {"bert-max-dense", "2_Dense/config.json", ".Tanh", ".Softsign", "activation_function"},
      {"bert-max-dense", "2_Dense/config.json", "\"bias\": true",
       "\"bias\": true, \"use_residual\": true", "use_residual"},
      {"bert-max-dense", "2_Dense/config.json", "\"bias\": true",
       "\"bias\": true, \"module_input_name\": \"token_embeddings\"", "module_input_name"},
      {"bert-max-dense", "2_Dense/config.json", "\"bias\": true",
       "\"bias\": true, \"module_output_name\": \"scores\"", "module_output_name"},
      {"qwen3-last", "config.json", "\"rms_norm_eps\"",
       "\"use_bidirectional_attention\": true, \"rms_norm_eps\"", "use_bidirectional_attention"},
      {"bert-max-dense", "2_Dense/config.json", "\"out_features\": 20", "\"out_features\": 21",
       "linear.weight"},
      {"bert-max-dense", "2_Dense/model.safetensors", "linear.bias", "linear.bios", "linear.bias"},
      {"modernbert-classifier", "model.safetensors", "Wqkv", "Wqkx", "attn.Wq"},
      {"bert-classifier", "model.safetensors", "classifier.weight", "classifier.weighs",
       "classifier.weight"}};
  const auto device = open(1);
  for (const Fault& fault : faults) {
    SCOPED_TRACE(std::string(fault.fixture) + " " + fault.to);
    const Spoilt spoilt(fault.fixture, fault.file, fault.from, fault.to);
    const auto model = load(spoilt.folder.path(), ComputeType::kF32, *device);
    ASSERT_FALSE(model.is_ok());
    EXPECT_EQ(model.status().code(), Code::kModelInvalid) << model.status().message();
    EXPECT_NE(model.status().message().find(fault.named), std::string::npos)
        << model.status().message();
    EXPECT_NE(model.status().message().find(spoilt.folder.path()), std::string::npos);
  }
}

TEST(TextModel, ADecoderOfTextsMaySeeTheWholeOfThem) {
  const auto device = open(1);
  const Spoilt both_ways("qwen3-last", "config.json", "\"rms_norm_eps\"",
                         "\"is_causal\": false, \"rms_norm_eps\"");
  const auto causal = load(kFixtures / "qwen3-last", ComputeType::kF32, *device);
  const auto other = load(both_ways.folder.path(), ComputeType::kF32, *device);
  ASSERT_TRUE(causal.is_ok() && other.is_ok());
  EXPECT_NE(causal.value().digest(), other.value().digest());
  const Tokens one = {5}, several = {5, 9, 7};
  EXPECT_TRUE(same_bits(embed(causal.value(), {one})[0], embed(other.value(), {one})[0]));
  EXPECT_FALSE(same_bits(embed(causal.value(), {several})[0], embed(other.value(), {several})[0]));
  EXPECT_FALSE(ModelConfig::load(both_ways.folder.path()).is_ok());
}

TEST(TextModel, ADigestTellsEncodersAndHeadsApart) {
  const auto device = open(1);
  const auto digest = [&](const fs::path& folder) {
    const auto model = load(folder, ComputeType::kF32, *device);
    EXPECT_TRUE(model.is_ok());
    return model.value().digest();
  };
  const std::string own = digest(kFixtures / "bert-mean");
  EXPECT_EQ(own.size(), 64u);
  const Spoilt pooled("bert-mean", "1_Pooling/config.json", "mean_tokens", "cls_token");
  EXPECT_NE(own, digest(pooled.folder.path()));
  EXPECT_NE(own, digest(kFixtures / "bert-classifier"));
}

TEST(TextModel, ADecoderThatServesAndOneThatEmbedsAreTheSameRows) {
  TestShape shape;
  shape.tied = true;
  TestFolder folder;
  folder.write_model(shape, test_tensors(shape, tensor::DType::kF32, 77));
  const auto device = open(2);
  const auto encoder = Encoder::load(folder.path(), ComputeType::kF32, *device);
  ASSERT_TRUE(encoder.is_ok()) << encoder.status().message();
  EXPECT_EQ(encoder.value()->recipe().parameter_count(),
            Recipe(encoder.value()->config()).parameter_count());
}

}  // namespace text_model_test
}  // namespace tessera::model
