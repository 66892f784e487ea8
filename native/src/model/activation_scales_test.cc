#include "model/activation_scales.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/backends.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace activation_scales_test {

constexpr uint32_t kTokens = 60;

std::unique_ptr<device::Device> open() {
  return std::move(device::open_cpu_device({.thread_count = 1, .instruction_set = {}}).value());
}

struct W8A8Model {
  explicit W8A8Model(const TestShape& of_shape = {}) : W8A8Model(of_shape, tensors_of(of_shape)) {}
  W8A8Model(const TestShape& of_shape, const TestTensors& tensors) : shape(of_shape) {
    folder.write_model(shape, tensors);
  }
  static TestTensors tensors_of(const TestShape& shape) {
    return test_tensors(shape, tensor::DType::kF32, 8);
  }

  Result<std::shared_ptr<ProcessorDecoder>> load(const std::string& scales_path) const {
    return ProcessorDecoder::load(folder.path(), ComputeType::kW8A8, *device, scales_path);
  }
  Status refusal(const std::string& scales) const {
    folder.write("scales.json", scales);
    return load(scales_path()).status();
  }
  std::string text(const ActivationScales& scales) const { return scales.text(recipe); }
  std::string scales_path() const { return folder.path() + "/scales.json"; }

  static ActivationRanges ranges_of(const ProcessorDecoder& decoder) {
    ActivationRanges ranges(decoder.recipe());
    TestRequest request(decoder, kTokens, 1, 1);
    request.workspace().measure(&ranges);
    request.prefill(prompt(), 7);
    return ranges;
  }
  /// Scales measured on the test prompt.
  ActivationScales measured(double percentile) const {
    const auto decoder = load("").value();
    const ActivationRanges ranges = ranges_of(*decoder);
    return {decoder->digest(), percentile, ranges.rows(), ranges.scales(percentile)};
  }

  std::vector<UnseenExpert> unseen() const { return ranges_of(*load("").value()).unseen(); }

  static std::vector<int32_t> prompt() {
    std::vector<int32_t> tokens;
    for (uint32_t i = 0; i < kTokens; ++i) tokens.push_back(static_cast<int32_t>(i * 29 % 70));
    return tokens;
  }
  static std::vector<float> logits(const ProcessorDecoder& decoder, uint32_t chunk) {
    TestRequest request(decoder, kTokens, 1, 1);
    request.prefill(prompt(), chunk);
    return request.logits(request.last_row());
  }

  const TestShape shape;
  TestFolder folder;
  std::unique_ptr<device::Device> device = open();
  const Recipe recipe{ModelConfig::parse(test_config(shape), "config.json").value()};
};

TEST(ActivationScalesTest, WhatIsWrittenIsReadBackAndUsed) {
  const W8A8Model model;
  const ActivationScales scales = model.measured(100);
  EXPECT_EQ(scales.rows, kTokens);
  model.folder.write("scales.json", model.text(scales));
  const auto read = ActivationScales::load(model.scales_path(), scales.model_digest, model.recipe);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value().layers, scales.layers);
  EXPECT_EQ(read.value().percentile, 100);

  const auto fixed = model.load(model.scales_path()).value(), own = model.load("").value();
  const std::vector<float> with = W8A8Model::logits(*fixed, 60),
                           without = W8A8Model::logits(*own, 60);
  double difference = 0, magnitude = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(with[i] - without[i])));
    magnitude = std::max(magnitude, std::abs(static_cast<double>(without[i])));
  }
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 0.2 * magnitude);
  EXPECT_EQ(with, W8A8Model::logits(*fixed, 11));
}

TestShape mixture_shape(const char* model_type) {
  TestShape shape;
  shape.model_type = model_type;
  return shape;
}

class MixtureScalesTest : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr size_t kDown = 3;  // input of an expert's last product, behind attention's two

  const TestShape shape_ = mixture_shape(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Families, MixtureScalesTest,
                         ::testing::Values("qwen3_moe", "qwen2_moe", "olmoe", "qwen3_next"));

TEST_P(MixtureScalesTest, EveryExpertHasAScaleOfItsOwn) {
  const W8A8Model model(shape_);
  ActivationScales scales = model.measured(100);
  EXPECT_EQ(scales.layers[0][kDown - 1].size(), 1u);
  EXPECT_EQ(scales.layers[0][kDown].size(), shape_.experts);
  EXPECT_NE(scales.layers[0][kDown][0], scales.layers[0][kDown][1]);
  const auto load = [&] {
    model.folder.write("scales.json", model.text(scales));
    return model.load(model.scales_path()).value();
  };
  const auto read =
      (load(), ActivationScales::load(model.scales_path(), scales.model_digest, model.recipe));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value().layers, scales.layers);
  const std::vector<float> whole = W8A8Model::logits(*load(), 60);
  EXPECT_EQ(whole, W8A8Model::logits(*load(), 11));
  const std::string numbers = load()->numbers();
  scales.layers[0][kDown][2] *= 2;
  EXPECT_NE(whole, W8A8Model::logits(*load(), 60));
  EXPECT_NE(numbers, load()->numbers());
}

/// Of equal logits the lower number is chosen: where 2, 3 and 4 are routed as 0 and 1 the other way
/// round, rows choose 0 and 2, or 1 and 0.
TEST_P(MixtureScalesTest, AnExpertThatNoRowChoseIsNamedAndHasTheLargestScaleOfTheOthers) {
  TestTensors tensors = W8A8Model::tensors_of(shape_);
  TestTensor& router = tensors.at("model.layers.1.mlp.gate.weight");
  const size_t row = router.bytes.size() / shape_.experts;
  for (const size_t expert : {1, 2, 3, 4})
    router.bytes.replace(expert * row, row, router.bytes, 0, row);
  for (size_t at = row + 3; at < 2 * row; at += sizeof(float))
    router.bytes[at] = static_cast<char>(router.bytes[at] ^ 0x80);
  const W8A8Model model(shape_, tensors);
  ActivationScales scales = model.measured(100);
  const std::vector<UnseenExpert> unseen = model.unseen();
  for (const UnseenExpert& one : {UnseenExpert{1, 3}, UnseenExpert{1, 4}})
    EXPECT_EQ(std::count(unseen.begin(), unseen.end(), one), 1);
  EXPECT_EQ(std::count(unseen.begin(), unseen.end(), UnseenExpert{1, 0}), 0);
  const std::vector<float>& down = scales.layers[1][kDown];
  EXPECT_EQ(down[3], *std::max_element(down.begin(), down.begin() + 3));
  EXPECT_EQ(down[4], down[3]);
  const auto logits = [&] {
    model.folder.write("scales.json", model.text(scales));
    return W8A8Model::logits(*model.load(model.scales_path()).value(), 60);
  };
  const std::vector<float> before = logits();
  scales.layers[1][kDown][3] *= 2;
  EXPECT_EQ(before, logits());
}

TEST_P(MixtureScalesTest, ScalesThatAreNotThoseOfEveryExpertAreRefused) {
  const W8A8Model model(shape_);
  ActivationScales scales = model.measured(100);
  scales.layers[1][kDown].pop_back();
  const Status fewer = model.refusal(model.text(scales));
  EXPECT_EQ(fewer.code(), Code::kModelInvalid);
  EXPECT_NE(fewer.message().find("layers.1.mlpOutput: expected an array of 5 scales"),
            std::string::npos)
      << fewer.message();
  scales.layers[1][kDown].push_back(1e-40f);
  const Status small = model.refusal(model.text(scales));
  EXPECT_NE(small.message().find("layers.1.mlpOutput: expected scales"), std::string::npos);
}

TEST(ActivationScalesTest, ThePercentileLeavesOutTheLargestRows) {
  const W8A8Model model;
  ActivationRanges ranges(model.recipe);
  for (int i = 1; i <= 100; ++i) {
    const float row[2] = {static_cast<float>(i), -2.0f * static_cast<float>(i)};
    for (uint32_t input = 0; input < 4; ++input) {
      for (uint32_t layer = 0; layer < 2; ++layer) ranges.add({layer, input}, row, 1, 2);
    }
  }
  EXPECT_EQ(ranges.scales(100)[0][0][0], 300.0f / 127.0f);
  EXPECT_EQ(ranges.scales(99)[0][3][0], 297.0f / 127.0f);
  EXPECT_EQ(ranges.scales(0.5)[0][1][0], 3.0f / 127.0f);
}

TEST(ActivationScalesTest, NumbersTellComputeTypesAndScalesApart) {
  const W8A8Model model;
  model.folder.write("scales.json", model.text(model.measured(100)));
  model.folder.write("other.json", model.text(model.measured(50)));
  const auto numbers = [&](ComputeType type, const std::string& path) {
    return ProcessorDecoder::load(model.folder.path(), type, *model.device, path)
        .value()
        ->numbers();
  };
  const std::vector<std::string> all = {
      numbers(ComputeType::kF32, ""), numbers(ComputeType::kBf16, ""),
      numbers(ComputeType::kW8A8, ""), numbers(ComputeType::kW8A8, model.scales_path()),
      numbers(ComputeType::kW8A8, model.folder.path() + "/other.json")};
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(std::count(all.begin(), all.end(), all[i]), 1) << all[i];
  }
}

TEST(ActivationScalesTest, WhatDoesNotFitIsRefusedByItsField) {
  const W8A8Model model;
  const std::string good = model.text(model.measured(100));
  const auto spoiled = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::pair<std::string, std::string> cases[] = {
      {spoiled("tessera-activation", "other"), "format"},
      {spoiled("\"modelDigest\": \"", "\"modelDigest\": \"0"), "modelDigest"},
      {spoiled("\"percentile\": 100", "\"percentile\": 101"), "percentile"},
      {spoiled("\"1\": {", "\"7\": {"), "layers.1"},
      {spoiled("\"mlp\": ", "\"mlp\": -"), "layers.0.mlp"},
      {spoiled("\"mlpOutput\"", "\"mlpOut\""), "layers.0.mlpOutput"},
      {spoiled("\"attention\": ", "\"attention\": 1e-40, \"was\": "), "layers.0.attention"},
      {"[]", "object"},
      {"{", "scales.json"}};
  for (const auto& [text, field] : cases) {
    const Status status = model.refusal(text);
    EXPECT_EQ(status.code(), Code::kModelInvalid) << field;
    EXPECT_NE(status.message().find(field), std::string::npos) << status.message();
  }
  EXPECT_EQ(model.load(model.folder.path() + "/absent.json").status().code(), Code::kModelNotFound);
  model.folder.write("scales.json", good);
  const auto f32 = ProcessorDecoder::load(model.folder.path(), ComputeType::kF32, *model.device,
                                          model.scales_path());
  ASSERT_FALSE(f32.is_ok());
  EXPECT_EQ(f32.status().code(), Code::kRequestInvalid);
}

}  // namespace activation_scales_test
}  // namespace tessera::model
