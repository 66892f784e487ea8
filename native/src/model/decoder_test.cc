// Loading and running small random models: what is refused, and that no bit depends on chunks,
// batches, threads, instruction sets or the alignment of the file.
#include "model/processor_decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "device/backends.h"
#include "model/encoder.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace decoder_test {

using device::InstructionSet;
using tensor::DType;

constexpr ComputeType kTypes[] = {ComputeType::kF32, ComputeType::kBf16, ComputeType::kW8A8};

std::unique_ptr<device::Device> open(uint32_t threads = 2, std::optional<InstructionSet> set = {}) {
  auto device = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

std::shared_ptr<const ProcessorDecoder> load(const TestFolder& folder, ComputeType type,
                                             device::Device& device) {
  auto decoder = ProcessorDecoder::load(folder.path(), type, device);
  if (!decoder.is_ok()) {
    ADD_FAILURE() << decoder.status().message();
    return nullptr;
  }
  return std::move(decoder).value();
}

std::vector<int32_t> some_tokens(uint32_t count) {
  std::vector<int32_t> tokens;
  for (uint32_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(i * 31 % 70));
  return tokens;
}

/// Logits after the prompt and after each of two steps of five beams.
std::vector<float> trace(const ProcessorDecoder& decoder, uint32_t chunk) {
  TestRequest request(decoder, 45, 3, 5);
  request.prefill(some_tokens(45), chunk);
  std::vector<float> all = request.logits(request.last_row());
  const std::vector<int32_t> tokens = {3, 60, 8, 8, 1};
  const std::vector<uint32_t> parents = {4, 0, 0, 2, 2};
  for (int step = 0; step < 2; ++step) {
    request.step(tokens, parents);
    for (uint32_t row = 0; row < 5; ++row) {
      const std::vector<float> logits = request.logits(row);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    const std::vector<float> sums = request.log_sum_exp(5);
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Of every family in its turn.
class FamilyTest : public ::testing::TestWithParam<const char*> {
 protected:
  FamilyTest() { shape_.model_type = GetParam(); }
  TestShape shape_;
};

INSTANTIATE_TEST_SUITE_P(Families, FamilyTest,
                         ::testing::Values("qwen3", "qwen2", "llama", "qwen3_moe", "qwen2_moe",
                                           "olmoe", "qwen3_5_text", "qwen3_next"));

TEST_P(FamilyTest, ChunksThreadsAndInstructionSetsChangeNoBit) {
  const TestFolder folder;
  folder.write_model(shape_, test_tensors(shape_, DType::kF32, 3));
  for (const device::NumericClass numbers : device::available_numeric_classes()) {
    const std::vector<InstructionSet> sets = device::available_instruction_sets(numbers);
    for (const ComputeType type : kTypes) {
      const std::unique_ptr<device::Device> device = open(1, sets.back());
      const auto decoder = load(folder, type, *device);
      ASSERT_NE(decoder, nullptr);
      const std::vector<float> whole = trace(*decoder, 45);
      for (const uint32_t chunk : {1u, 7u, 16u, 44u})
        EXPECT_TRUE(same_bits(whole, trace(*decoder, chunk)));
      for (const InstructionSet set : sets) {
        const std::unique_ptr<device::Device> other = open(3, set);
        EXPECT_TRUE(same_bits(whole, trace(*load(folder, type, *other), 9)))
            << device::instruction_set_name(set);
      }
    }
  }
}

TEST(DecoderTest, KeysAndValuesOfEveryNumericClassHaveTheirOwnName) {
  const TestFolder folder;
  folder.write_model({}, test_tensors({}, DType::kF32, 3));
  std::vector<std::string> names;
  for (const device::NumericClass numbers : device::available_numeric_classes()) {
    const auto device = open(1, device::available_instruction_sets(numbers).front());
    const std::string end = "/" + std::string(device::numeric_class_name(numbers));
    EXPECT_EQ(load(folder, ComputeType::kBf16, *device)->numbers(), "bf16" + end);
    EXPECT_EQ(load(folder, ComputeType::kW8A8, *device)->numbers(), "w8a8-64" + end);
    EXPECT_EQ(load(folder, ComputeType::kF32, *device)->numbers(), "f32/fma");
  }
}

TEST_P(FamilyTest, RequestsInOneBatchHaveTheBitsTheyHaveAlone) {
  const TestFolder folder;
  folder.write_model(shape_, test_tensors(shape_, DType::kBf16, 4));
  const std::unique_ptr<device::Device> device = open();
  for (const ComputeType type : kTypes) {
    const auto decoder = load(folder, type, *device);
    ASSERT_NE(decoder, nullptr);
    TestRequest a(*decoder, 30, 1, 1), b(*decoder, 30, 1, 1), both_a(*decoder, 40, 1, 1);
    TestRequest both_b(*decoder, 40, 1, 1);
    const std::vector<int32_t> tokens = some_tokens(30);
    const std::span<const int32_t> tail = std::span(tokens).subspan(13);
    a.prefill(tokens, 30);
    b.prefill(tail, 17);
    attention::RowGroup groups[2];
    groups[0].prompt = &both_b.prompt();
    groups[0].row_count = groups[1].first_row = 17;
    groups[1].prompt = &both_a.prompt();
    groups[1].row_count = 30;
    std::vector<int32_t> joined(tail.begin(), tail.end());
    joined.insert(joined.end(), tokens.begin(), tokens.end());
    std::unique_ptr<Workspace> workspace = decoder->make_workspace(47, 30);
    ASSERT_TRUE(decoder->forward({joined, groups}, *workspace).is_ok());
    std::vector<int32_t> vocabulary(70);
    std::iota(vocabulary.begin(), vocabulary.end(), 0);
    const std::vector<uint32_t> rows = {46, 16};
    std::vector<float> logits(140);
    ASSERT_TRUE(decoder->logits(*workspace, rows, vocabulary, logits).is_ok());
    std::vector<float> alone = a.logits(29);
    const std::vector<float> alone_b = b.logits(16);
    alone.insert(alone.end(), alone_b.begin(), alone_b.end());
    EXPECT_TRUE(same_bits(logits, alone));
  }
}

/// Norms whose numbers are these few, each plus `more`; all sums are exact.
TestTensors with_norms(TestTensors tensors, float more) {
  for (auto& [name, tensor] : tensors) {
    if (name.find("norm") == std::string::npos) continue;
    for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      const float number = more + static_cast<float>(i % 5) / 8;
      std::memcpy(&tensor.bytes[i * sizeof(float)], &number, sizeof number);
    }
  }
  return tensors;
}

TEST(DecoderTest, NormsOfHybridsMultiplyWithOneMoreThanTheirWeights) {
  const TestShape shape;
  const TestTensors tensors = test_tensors(shape, DType::kF32, 5);
  const TestFolder plain, hybrid, next;
  plain.write_model(shape, with_norms(tensors, 0.5f));
  const std::string config = test_config(shape);
  for (const auto& [folder, more] : {std::pair{&hybrid, 7.0f}, std::pair{&next, -0.5f}}) {
    folder->write_model(shape, with_norms(tensors, more));
    folder->write("config.json",
                  "{\"full_attention_interval\": 1, \"attn_output_gate\": false, "
                  "\"partial_rotary_factor\": 1.0, \"model_type\": \"qwen3_5_text\", " +
                      config.substr(config.find("\"vocab_size\"")));
  }
  const std::unique_ptr<device::Device> device = open();
  const std::vector<float> expected = trace(*load(plain, ComputeType::kF32, *device), 9);
  EXPECT_TRUE(same_bits(trace(*load(next, ComputeType::kF32, *device), 9), expected));
  auto updated = ProcessorDecoder::load(hybrid.path(), ComputeType::kF32, *device);
  ASSERT_TRUE(updated.is_ok()) << updated.status().message();
  EXPECT_FALSE(same_bits(trace(*updated.value(), 9), expected));
  auto update = updated.value()->prepare_update(next.path());
  ASSERT_TRUE(update.is_ok()) << update.status().message();
  ASSERT_TRUE(updated.value()->update(std::move(update).value()).is_ok());
  EXPECT_TRUE(same_bits(trace(*updated.value(), 9), expected));
}

TEST(DecoderTest, ABeamThatRepeatsAPromptAgreesWithThePromptAlone) {
  const TestFolder folder;
  folder.write_model({}, test_tensors({}, DType::kF32, 5));
  const std::unique_ptr<device::Device> device = open();
  const auto decoder = load(folder, ComputeType::kF32, *device);
  ASSERT_NE(decoder, nullptr);
  const std::vector<int32_t> tokens = some_tokens(20);
  TestRequest whole(*decoder, 20, 1, 1), beams(*decoder, 17, 3, 2);
  whole.prefill(tokens, 20);
  beams.prefill(std::span(tokens).first(17), 17);
  const std::vector<uint32_t> parents = {0, 1};
  for (size_t i = 17; i < 20; ++i) beams.step(std::vector<int32_t>{1, tokens[i]}, parents);
  const std::vector<float> expected = whole.logits(19), found = beams.logits(1);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4f);
}

class MixtureTest : public FamilyTest {};

INSTANTIATE_TEST_SUITE_P(Mixtures, MixtureTest,
                         ::testing::Values("qwen3_moe", "qwen2_moe", "olmoe", "qwen3_next"));

TEST_P(MixtureTest, ExpertsInTwoTensorsAreTheSame) {
  const TestFolder apart, together;
  const TestTensors tensors = test_tensors(shape_, DType::kBf16, 4);
  apart.write_model(shape_, tensors);
  together.write_model(shape_, with_experts_together(shape_, tensors));
  const std::unique_ptr<device::Device> device = open();
  for (const ComputeType type : kTypes) {
    const auto decoder = load(apart, type, *device), other = load(together, type, *device);
    ASSERT_TRUE(decoder != nullptr && other != nullptr);
    EXPECT_EQ(decoder->weight_bytes(), other->weight_bytes());
    EXPECT_TRUE(same_bits(trace(*decoder, 16), trace(*other, 9)));
  }
}

TEST_P(MixtureTest, APassCountsTheExpertsThatItsRowsTouch) {
  const TestFolder folder;
  folder.write_model(shape_, test_tensors(shape_, DType::kF32, 9));
  const std::unique_ptr<device::Device> device = open();
  const auto decoder = load(folder, ComputeType::kF32, *device);
  TestRequest request(*decoder, 45, 1, 1);
  request.prefill(some_tokens(1), 1);
  const ExpertUse one = request.workspace().expert_use();
  EXPECT_EQ(one.rows, uint64_t{shape_.layers} * shape_.chosen);
  EXPECT_EQ(one.touched, one.rows);
  TestRequest many(*decoder, 45, 1, 1);
  many.prefill(some_tokens(45), 45);
  const ExpertUse use = many.workspace().expert_use();
  EXPECT_EQ(use.rows, 45u * shape_.layers * shape_.chosen);
  EXPECT_GE(use.places, use.rows);
  EXPECT_GT(use.touched, one.touched);
  EXPECT_LE(use.touched, uint64_t{shape_.layers} * shape_.experts);
}

TEST(DecoderTest, APassOfAModelWithoutExpertsTouchesNone) {
  const TestFolder folder;
  folder.write_model({}, test_tensors({}, DType::kF32, 9));
  const std::unique_ptr<device::Device> device = open();
  const auto decoder = load(folder, ComputeType::kF32, *device);
  TestRequest request(*decoder, 45, 1, 1);
  request.prefill(some_tokens(45), 45);
  EXPECT_EQ(request.workspace().expert_use().rows, 0u);
  EXPECT_EQ(request.workspace().expert_use().touched, 0u);
}

TEST(DecoderTest, TheFormOfTheFileChangesNothingButWhatItStores) {
  const TestTensors tensors = test_tensors({}, DType::kBf16, 6);
  const std::unique_ptr<device::Device> device = open();
  const TestFolder single, shifted, sharded;
  single.write_model({}, tensors);
  // One space more in the header puts every tensor at an odd address.
  std::string file = safetensors_file(tensors);
  const uint64_t header =
      static_cast<uint8_t>(file[0]) + 256 * static_cast<uint64_t>(static_cast<uint8_t>(file[1]));
  shifted.write("config.json", test_config({}));
  std::string text = file.substr(8, header) + (header % 2 == 0 ? " " : "  ");
  if (text.size() % 2 == 0) text += " ";
  shifted.write("model.safetensors", safetensors_file(text, file.substr(8 + header)));
  TestTensors halves[2];
  std::string index = "{\"weight_map\": {";
  size_t i = 0;
  for (const auto& [name, tensor] : tensors) {
    const size_t shard = i++ % 2;
    halves[shard][name] = tensor;
    index +=
        (i > 1 ? ",\"" : "\"") + name + "\": \"part" + std::to_string(shard) + ".safetensors\"";
  }
  sharded.write("config.json", test_config({}));
  sharded.write("part0.safetensors", safetensors_file(halves[0]));
  sharded.write("part1.safetensors", safetensors_file(halves[1]));
  sharded.write("model.safetensors.index.json", index + "}}");
  for (const ComputeType type : kTypes) {
    const auto expected = load(single, type, *device);
    for (const TestFolder* other : {&shifted, &sharded}) {
      const auto decoder = load(*other, type, *device);
      ASSERT_TRUE(expected != nullptr && decoder != nullptr);
      EXPECT_EQ(decoder->digest(), expected->digest());
      EXPECT_TRUE(same_bits(trace(*decoder, 45), trace(*expected, 45)));
    }
  }
}

TEST(DecoderTest, TheDigestFollowsEveryWeightAndTheConfiguration) {
  const std::unique_ptr<device::Device> device = open();
  TestTensors tensors = test_tensors({}, DType::kF32, 7);
  const TestFolder folder;
  const auto digest = [&](const std::string& config) {
    folder.write_model({}, tensors);
    folder.write("config.json", config);
    return load(folder, ComputeType::kF32, *device)->digest();
  };
  const std::string config = test_config({});
  const std::string original = digest(config);
  EXPECT_EQ(original.size(), 32u);
  EXPECT_EQ(original, digest(config));
  EXPECT_EQ(original, digest("{\"transformers_version\": \"5\", " + config.substr(1)));
  EXPECT_NE(original, digest(std::string(config).replace(config.find("10000.0"), 7, "7.00000")));
  tensors["model.layers.1.mlp.up_proj.weight"].bytes[5] ^= 1;
  EXPECT_NE(original, digest(config));
}

class RefusalTest : public ::testing::Test {
 protected:
  void expect_refused(Code code, const std::string& says) {
    folder_.write_model(shape_, tensors_);
    const auto decoder = ProcessorDecoder::load(folder_.path(), ComputeType::kF32, *device_);
    ASSERT_FALSE(decoder.is_ok()) << says;
    EXPECT_EQ(decoder.status().code(), code) << decoder.status().message();
    EXPECT_NE(decoder.status().message().find(says), std::string::npos)
        << decoder.status().message();
  }

  TestShape shape_;
  TestTensors tensors_ = test_tensors(shape_, DType::kF32, 8);
  TestFolder folder_;
  std::unique_ptr<device::Device> device_ = open();
};

TEST_F(RefusalTest, AMissingTensorIsNamed) {
  tensors_.erase("model.layers.1.self_attn.k_norm.weight");
  expect_refused(Code::kModelInvalid, "model.layers.1.self_attn.k_norm.weight: expected a tensor");
}

TEST_F(RefusalTest, AMisshapenTensorIsNamedWithBothShapes) {
  TestTensor& tensor = tensors_["model.layers.0.mlp.up_proj.weight"];
  std::swap(tensor.shape[0], tensor.shape[1]);
  expect_refused(Code::kModelInvalid, "up_proj.weight: expected shape [37,24], got [24,37]");
}

TEST_F(RefusalTest, AnUnexpectedTensorIsNamed) {
  tensors_["model.layers.2.mlp.up_proj.weight"] = {"F32", {1}, "1234"};
  expect_refused(Code::kModelInvalid, "model.layers.2.mlp.up_proj.weight: expected no such tensor");
}

TEST_F(RefusalTest, ATensorOfATypeWeDoNotComputeWithIsNamed) {
  tensors_["model.norm.weight"] = {"I32", {24}, std::string(96, '\0')};
  expect_refused(Code::kModelInvalid, "model.norm.weight: expected F32, BF16 or F16, got I32");
}

TEST_F(RefusalTest, NaNAndInfinityAreNamedWithTheirPlace) {
  const std::string nan("\x00\x00\xC0\x7F", 4), infinity("\x00\x00\x80\xFF", 4);
  tensors_["lm_head.weight"].bytes.replace(4 * 100, 4, nan);
  expect_refused(Code::kModelCorrupt, "lm_head.weight: expected finite numbers");
  tensors_ = test_tensors(shape_, DType::kF16, 8);
  tensors_["model.layers.0.mlp.down_proj.weight"].bytes.replace(2 * 33, 2,
                                                                std::string("\x00\x7C", 2));
  expect_refused(Code::kModelCorrupt,
                 "down_proj.weight: expected finite numbers, got NaN or infinity at element 33");
  tensors_ = test_tensors(shape_, DType::kBf16, 8);
  tensors_["model.embed_tokens.weight"].bytes.replace(2 * 7, 2, infinity.substr(2));
  expect_refused(Code::kModelCorrupt, "at element 7");
}

TEST_F(RefusalTest, AFolderWithoutWeightsIsNotFound) {
  folder_.write("config.json", test_config(shape_));
  const auto decoder = ProcessorDecoder::load(folder_.path(), ComputeType::kF32, *device_);
  ASSERT_FALSE(decoder.is_ok());
  EXPECT_EQ(decoder.status().code(), Code::kModelNotFound);
}

TEST_F(RefusalTest, AnIndexThatLeadsAstrayIsRefused) {
  const struct {
    const char* index;
    Code code;
    const char* says;
  } cases[] = {
      {"{\"weight_map\": {\"a\": \"../model.safetensors\"}}", Code::kModelCorrupt, "weight_map.a"},
      {"{\"weight_map\": {\"a\": 3}}", Code::kModelCorrupt, "weight_map.a"},
      {"{\"weight_map\": {}}", Code::kModelCorrupt, "weight_map"},
      {"{\"weight\": {}}", Code::kModelCorrupt, "weight_map"},
      {"{", Code::kModelCorrupt, "JSON"},
      {"{\"weight_map\": {\"a\": \"gone.safetensors\"}}", Code::kModelNotFound, "gone.safetensors"},
      {"{\"weight_map\": {\"a\": \"here.safetensors\"}}", Code::kModelCorrupt, "weight_map.a"},
  };
  folder_.write("config.json", test_config(shape_));
  folder_.write("here.safetensors", safetensors_file(tensors_));
  for (const auto& bad : cases) {
    folder_.write("model.safetensors.index.json", bad.index);
    const auto decoder = ProcessorDecoder::load(folder_.path(), ComputeType::kF32, *device_);
    ASSERT_FALSE(decoder.is_ok()) << bad.index;
    EXPECT_EQ(decoder.status().code(), bad.code) << decoder.status().message();
    EXPECT_NE(decoder.status().message().find(bad.says), std::string::npos)
        << decoder.status().message();
  }
}

TEST(DecoderTest, ATiedModelMayHaveItsEmbeddingUnderTheNameOfTheHead) {
  TestShape tied;
  tied.tied = true;
  TestTensors tensors = test_tensors(tied, DType::kF32, 9);
  const TestFolder usual, named;
  usual.write_model(tied, tensors);
  tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  tensors.erase("model.embed_tokens.weight");
  named.write_model(tied, tensors);
  const std::unique_ptr<device::Device> device = open();
  const auto decoder = load(named, ComputeType::kF32, *device);
  ASSERT_NE(decoder, nullptr);
  EXPECT_TRUE(decoder->prepare_update(usual.path()).is_ok());
  const auto encoder = Encoder::load(named.path(), ComputeType::kF32, *device);
  EXPECT_TRUE(encoder.is_ok()) << encoder.status().message();
  TestShape untied;
  const TestFolder other;
  other.write_model(untied, tensors);
  EXPECT_FALSE(ProcessorDecoder::load(other.path(), ComputeType::kF32, *device).is_ok());
}

TEST(DecoderTest, WhatIsNoModelIsToldApart) {
  const std::unique_ptr<device::Device> device = open();
  const TestShape shape;
  TestTensors tensors = test_tensors(shape, DType::kF32, 9);
  const TestFolder adapted, pickled;
  adapted.write_model(shape, tensors);
  adapted.write("adapter_config.json", "{}");
  pickled.write_model(shape, tensors);
  std::filesystem::rename(pickled.path() + "/model.safetensors",
                          pickled.path() + "/pytorch_model.bin");
  const std::pair<const TestFolder*, const char*> faults[] = {{&adapted, "merge it"},
                                                              {&pickled, "save_pretrained"}};
  for (const auto& [folder, remedy] : faults) {
    const auto refused = ProcessorDecoder::load(folder->path(), ComputeType::kF32, *device);
    ASSERT_FALSE(refused.is_ok());
    EXPECT_NE(refused.status().message().find(remedy), std::string::npos)
        << refused.status().message();
  }
}

TEST(DecoderTest, ATensorWithoutANameIsNoCopyOfTheEmbedding) {
  const TestShape shape;
  TestTensors tensors = test_tensors(shape, DType::kF32, 9);
  tensors[""] = tensors["model.embed_tokens.weight"];
  const TestFolder folder;
  folder.write_model(shape, tensors);
  const auto refused = ProcessorDecoder::load(folder.path(), ComputeType::kF32, *open());
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(refused.status().message().find(": expected no such tensor"), std::string::npos)
      << refused.status().message();
}

TEST(DecoderTest, ATiedModelMayCarryItsHeadButNoOther) {
  TestShape tied;
  tied.tied = true;
  TestTensors tensors = test_tensors(tied, DType::kF32, 9);
  const TestTensor& embedding = tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  const std::unique_ptr<device::Device> device = open();
  const TestFolder same;
  same.write_model(tied, tensors);
  const auto decoder = load(same, ComputeType::kF32, *device);
  ASSERT_NE(decoder, nullptr);
  TestTensor bit = embedding, shorter = embedding, half = embedding;
  bit.bytes.back() = static_cast<char>(bit.bytes.back() ^ 1);
  shorter.shape = {1};
  shorter.bytes.resize(4);
  half.dtype = "BF16";
  half.bytes.resize(half.bytes.size() / 2);
  for (const TestTensor& head : {bit, shorter, half}) {
    tensors["lm_head.weight"] = head;
    const TestFolder folder;
    folder.write_model(tied, tensors);
    const auto refused = ProcessorDecoder::load(folder.path(), ComputeType::kF32, *device);
    ASSERT_FALSE(refused.is_ok());
    EXPECT_EQ(refused.status().code(), Code::kModelInvalid);
    EXPECT_NE(refused.status().message().find("tie_word_embeddings"), std::string::npos);
    EXPECT_FALSE(decoder->prepare_update(folder.path()).is_ok());
  }
}

/// A device that has only so much memory left.
class SmallDevice final : public device::Device {
 public:
  SmallDevice(device::Device& device, uint64_t bytes) : device_(device), bytes_(bytes) {}
  const char* name() const override { return device_.name(); }
  uint64_t available_bytes() const override { return bytes_; }
  Result<device::Buffer> allocate(uint64_t bytes) override { return device_.allocate(bytes); }
  Status zero(device::Buffer& buffer) override { return device_.zero(buffer); }
  void copy(void* to, const void* from, uint64_t bytes) override { device_.copy(to, from, bytes); }
  const device::KernelTable& kernels() const override { return device_.kernels(); }
  platform::ThreadPool& threads() override { return device_.threads(); }

 private:
  void release(void*, uint64_t) override {}
  device::Device& device_;
  const uint64_t bytes_;
};

TEST_P(FamilyTest, WeightsThatDoNotFitAreRefusedWithTheFiguresBeforeAnyIsRead) {
  TestTensors tensors = test_tensors(shape_, DType::kF32, 12);
  const TestFolder folder;
  folder.write_model(shape_, tensors);
  const std::unique_ptr<device::Device> device = open();
  const uint64_t needed = load(folder, ComputeType::kF32, *device)->weight_bytes();
  SmallDevice enough(*device, needed), small(*device, needed - 1);
  EXPECT_NE(load(folder, ComputeType::kF32, enough), nullptr);
  // A weight that is not a number would be the error if it was read.
  tensors["model.norm.weight"].bytes.replace(0, 4, std::string("\x00\x00\xC0\x7F", 4));
  folder.write_model(shape_, tensors);
  const auto decoder = ProcessorDecoder::load(folder.path(), ComputeType::kF32, small);
  ASSERT_FALSE(decoder.is_ok());
  EXPECT_EQ(decoder.status().code(), Code::kEngineOverloaded);
  EXPECT_EQ(decoder.status().message(),
            "modelPath: expected weights of at most " + std::to_string(needed - 1) +
                " bytes as f32, the memory that the machine or its cgroup has left, got " +
                folder.path() + " with " + std::to_string(needed));
}

TEST(DecoderTest, WeightsAreKeptOnceAsPanels) {
  TestShape tied;
  tied.tied = true;
  const TestFolder folder;
  folder.write_model(tied, test_tensors(tied, DType::kF32, 13));
  const std::unique_ptr<device::Device> device = open();
  const auto bytes = [](device::PanelType type, const TestShape& s) {
    const auto matrix = [&](uint64_t columns, uint64_t k) {
      return ops::packed_bytes(type, k, columns);
    };
    const auto vector = [](uint64_t n) { return (n * 4 + 63) / 64 * 64; };
    const uint64_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
    const uint64_t layer = matrix(q, s.hidden) + 2 * matrix(kv, s.hidden) + matrix(s.hidden, q) +
                           2 * matrix(s.intermediate, s.hidden) + matrix(s.hidden, s.intermediate) +
                           2 * vector(s.hidden) + 2 * vector(s.head_dim);
    return matrix(s.vocab, s.hidden) + s.layers * layer + vector(s.hidden);
  };
  EXPECT_EQ(load(folder, ComputeType::kF32, *device)->weight_bytes(),
            bytes(device::PanelType::kF32, tied));
  EXPECT_EQ(load(folder, ComputeType::kBf16, *device)->weight_bytes(),
            bytes(device::PanelType::kBf16, tied));
}

TEST(DecoderTest, ATiedModelReadsItsEmbeddingOutOfItsHead) {
  TestShape apart, tied;
  tied.tied = true;
  TestTensors tensors = test_tensors(tied, DType::kF32, 14);
  const TestFolder tied_folder, apart_folder;
  tied_folder.write_model(tied, tensors);
  tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  apart_folder.write_model(apart, tensors);
  const std::unique_ptr<device::Device> device = open();
  for (const ComputeType type : kTypes) {
    EXPECT_TRUE(same_bits(trace(*load(tied_folder, type, *device), 20),
                          trace(*load(apart_folder, type, *device), 20)));
  }
}

TEST(DecoderTest, TheHeadOfSeveralRequestsHasTheBitsOfEachAlone) {
  const TestFolder folder;
  folder.write_model({}, test_tensors({}, DType::kF32, 15));
  const std::unique_ptr<device::Device> device = open();
  for (const ComputeType type : kTypes) {
    const auto decoder = load(folder, type, *device);
    ASSERT_NE(decoder, nullptr);
    TestRequest request(*decoder, 45, 3, 5);
    request.prefill(some_tokens(45), 45);
    Workspace& workspace = request.workspace();
    std::vector<int32_t> codes(20), ended = {69, 3};
    std::iota(codes.begin(), codes.end(), 30);
    // More requests than are multiplied at once, every third with its log sum exp.
    std::vector<std::vector<uint32_t>> rows;
    std::vector<std::vector<float>> code_logits, ended_logits, sums;
    for (uint32_t r = 0; r < 80; ++r) {
      rows.emplace_back();
      if (r < 45) rows.back().push_back(44 - r);
      code_logits.emplace_back(rows.back().size() * codes.size());
      ended_logits.emplace_back(rows.back().size() * ended.size());
      sums.emplace_back(rows.back().size());
    }
    std::vector<std::array<ops::HeadTokens, 2>> tokens;
    for (uint32_t r = 0; r < 80; ++r) {
      tokens.push_back({{{codes, code_logits[r].data()}, {ended, ended_logits[r].data()}}});
    }
    std::vector<HeadRequest> requests;
    for (uint32_t r = 0; r < 80; ++r) {
      const size_t sets = r % 2 == 0 ? 2 : 1;
      requests.push_back(
          {rows[r], std::span(tokens[r]).first(sets), r % 3 == 0 ? sums[r].data() : nullptr});
    }
    ASSERT_TRUE(decoder->head(requests, workspace).is_ok());
    for (uint32_t r = 0; r < 45; ++r) {
      std::vector<float> alone(codes.size()), sum(1), alone_ended(2);
      ASSERT_TRUE(decoder->logits(workspace, rows[r], codes, alone).is_ok());
      ASSERT_TRUE(decoder->logits(workspace, rows[r], ended, alone_ended).is_ok());
      ASSERT_TRUE(decoder->log_sum_exp(workspace, rows[r], sum).is_ok());
      EXPECT_TRUE(same_bits(code_logits[r], alone));
      if (r % 2 == 0) {
        EXPECT_TRUE(same_bits(ended_logits[r], alone_ended));
      }
      if (r % 3 == 0) {
        EXPECT_TRUE(same_bits(sums[r], sum));
      }
    }
  }
}

TEST(DecoderTest, BytesPerPositionCountKeysAndValuesOfAllLayers) {
  const TestFolder folder;
  folder.write_model({}, test_tensors({}, DType::kF32, 10));
  const std::unique_ptr<device::Device> device = open();
  EXPECT_EQ(load(folder, ComputeType::kF32, *device)->kv_bytes_per_position(), 2u * 2 * 10 * 4);
  EXPECT_EQ(load(folder, ComputeType::kBf16, *device)->kv_bytes_per_position(), 2u * 2 * 10 * 2);
}

}  // namespace decoder_test
}  // namespace tessera::model
