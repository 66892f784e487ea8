// Weights streamed over those that serve: the bits of a decoder that was loaded from the new
// folder, or, whatever fails on the way, those from before.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "device/backends.h"
#include "model/processor_decoder.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace update_test {

using tensor::DType;

std::vector<float> logits_of(const ProcessorDecoder& decoder) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 40; ++i) tokens.push_back(i * 31 % 70);
  TestRequest request(decoder, 45, 3, 5);
  request.prefill(tokens, 16);
  return request.logits(request.last_row());
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Writes into a file that others have mapped, which sees it at once.
void overwrite(const std::string& path, uint64_t from_end, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-static_cast<std::streamoff>(from_end), std::ios::end);
  file << bytes;
  ASSERT_TRUE(file.good());
}

class UpdateTest : public ::testing::TestWithParam<std::tuple<ComputeType, bool, const char*>> {
 protected:
  UpdateTest() {
    shape_.tied = std::get<1>(GetParam());
    shape_.model_type = std::get<2>(GetParam());
    shape_.layers = 3;
    before_.write_model(shape_, test_tensors(shape_, DType::kBf16, 1));
    after_.write_model(shape_, test_tensors(shape_, DType::kBf16, 2));
    device_ =
        std::move(device::open_cpu_device({.thread_count = 2, .instruction_set = {}})).value();
  }
  std::shared_ptr<ProcessorDecoder> load(const TestFolder& folder) {
    auto decoder = ProcessorDecoder::load(folder.path(), std::get<0>(GetParam()), *device_);
    EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
    return std::move(decoder).value();
  }
  std::string last_file(const TestFolder& folder) const {
    return folder.path() + "/model.safetensors";
  }

  TestShape shape_;
  TestFolder before_, after_;
  std::unique_ptr<device::Device> device_;
};

TEST_P(UpdateTest, HasTheBitsOfADecoderLoadedFromTheNewFolder) {
  const auto decoder = load(before_);
  const uint64_t bytes = decoder->weight_bytes();
  for (const TestFolder* folder : {&after_, &before_, &after_}) {
    auto update = decoder->prepare_update(folder->path());
    ASSERT_TRUE(update.is_ok()) << update.status().message();
    const Status status = decoder->update(std::move(update).value());
    ASSERT_TRUE(status.is_ok()) << status.message();
    const auto expected = load(*folder);
    EXPECT_EQ(decoder->digest(), expected->digest());
    EXPECT_TRUE(same_bits(logits_of(*decoder), logits_of(*expected)));
  }
  EXPECT_EQ(decoder->weight_bytes(), bytes);
}

TEST_P(UpdateTest, ThatFailsHalfWayLeavesTheWeightsBefore) {
  const auto decoder = load(before_);
  const std::string digest = decoder->digest();
  const std::vector<float> logits = logits_of(*decoder);
  auto update = decoder->prepare_update(after_.path());
  ASSERT_TRUE(update.is_ok());
  // The file's last tensor is read last or in the last layer: all before it has been written by
  // then.
  overwrite(last_file(after_), 2, "\xff\x7f");
  const Status status = decoder->update(std::move(update).value());
  EXPECT_EQ(status.code(), Code::kModelCorrupt) << status.message();
  EXPECT_TRUE(decoder->is_intact());
  EXPECT_EQ(decoder->digest(), digest);
  EXPECT_TRUE(same_bits(logits_of(*decoder), logits));
}

TEST_P(UpdateTest, WhoseFileHasChangedSinceItWasLookedThroughIsTakenBack) {
  const auto decoder = load(before_);
  const std::vector<float> logits = logits_of(*decoder);
  auto update = decoder->prepare_update(after_.path());
  ASSERT_TRUE(update.is_ok());
  overwrite(last_file(after_), 2, std::string("\x01\x3c", 2));
  const Status status = decoder->update(std::move(update).value());
  EXPECT_EQ(status.code(), Code::kModelCorrupt) << status.message();
  EXPECT_NE(status.message().find("that was looked through"), std::string::npos);
  EXPECT_TRUE(same_bits(logits_of(*decoder), logits));
}

TEST_P(UpdateTest, TakesTheWeightsBeforeFromAFolderThatIsGone) {
  const auto decoder = load(before_);
  const std::vector<float> logits = logits_of(*decoder);
  std::filesystem::remove(last_file(before_));
  auto update = decoder->prepare_update(after_.path());
  ASSERT_TRUE(update.is_ok());
  overwrite(last_file(after_), 2, "\xff\x7f");
  EXPECT_FALSE(decoder->update(std::move(update).value()).is_ok());
  EXPECT_TRUE(decoder->is_intact());
  EXPECT_TRUE(same_bits(logits_of(*decoder), logits));
}

TEST_P(UpdateTest, SaysWhereNeitherCouldBeWritten) {
  const auto decoder = load(before_);
  auto update = decoder->prepare_update(after_.path());
  ASSERT_TRUE(update.is_ok());
  overwrite(last_file(after_), 2, "\xff\x7f");
  overwrite(last_file(before_), 2, "\xff\x7f");
  EXPECT_FALSE(decoder->update(std::move(update).value()).is_ok());
  EXPECT_FALSE(decoder->is_intact());
}

TEST_P(UpdateTest, OfAnotherConfigurationOrWithBadTensorsIsRefusedBeforeAnythingIsTouched) {
  const auto decoder = load(before_);
  const std::vector<float> logits = logits_of(*decoder);
  const auto expect_refused = [&](const TestFolder& folder, Code code, const std::string& says) {
    const auto update = decoder->prepare_update(folder.path());
    ASSERT_FALSE(update.is_ok());
    EXPECT_EQ(update.status().code(), code) << update.status().message();
    EXPECT_NE(update.status().message().find(says), std::string::npos) << update.status().message();
  };
  TestShape wider = shape_;
  wider.intermediate = 40;
  const TestFolder other, spoiled, holed;
  other.write_model(wider, test_tensors(wider, DType::kBf16, 3));
  expect_refused(other, Code::kModelInvalid, "config.json");
  TestTensors tensors = test_tensors(shape_, DType::kBf16, 3);
  const std::string name = test_matrices(shape_).back().module + ".weight";
  tensors[name].bytes.replace(0, 2, "\xff\x7f");
  spoiled.write_model(shape_, tensors);
  expect_refused(spoiled, Code::kModelCorrupt, name);
  tensors.erase(name);
  holed.write_model(shape_, tensors);
  expect_refused(holed, Code::kModelInvalid, name);
  expect_refused(TestFolder(), Code::kModelNotFound, "config.json");
  EXPECT_TRUE(same_bits(logits_of(*decoder), logits));
}

/// transformers saves a decoder that it took out of a vision folder under the names of that.
TEST(UpdateOfHybrids, TakesTheNamesOfEitherFolder) {
  TestShape shape;
  shape.model_type = "qwen3_5_text";
  const TestTensors tensors = test_tensors(shape, DType::kBf16, 2);
  TestTensors renamed;
  for (const auto& [name, tensor] : tensors) {
    const bool is_head = name == "lm_head.weight";
    renamed[is_head ? name : "model.language_model." + name.substr(std::strlen("model."))] = tensor;
  }
  const std::string config = test_config(shape);
  TestTensors with_tower = renamed;
  with_tower["model.visual.norm.weight"] = tensors.at("model.norm.weight");
  with_tower["mtp.norm.weight"] = tensors.at("model.norm.weight");
  const TestFolder served, decoder_alone, vision;
  served.write_model(shape, test_tensors(shape, DType::kBf16, 1));
  decoder_alone.write_model(shape, renamed);
  vision.write_model(shape, with_tower);
  vision.write("config.json", "{\"model_type\": \"qwen3_5\", \"text_config\": " + config + "}");
  const TestFolder expected;
  expected.write_model(shape, tensors);
  const auto device =
      std::move(device::open_cpu_device({.thread_count = 1, .instruction_set = {}})).value();
  const auto load = [&](const TestFolder& folder) {
    auto decoder = ProcessorDecoder::load(folder.path(), ComputeType::kF32, *device);
    EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
    return std::move(decoder).value();
  };
  const std::vector<float> logits = logits_of(*load(expected));
  const auto updated = load(served);
  for (const TestFolder* folder : {&decoder_alone, &served, &vision}) {
    auto update = updated->prepare_update(folder->path());
    ASSERT_TRUE(update.is_ok()) << update.status().message();
    ASSERT_TRUE(updated->update(std::move(update).value()).is_ok());
    EXPECT_EQ(same_bits(logits_of(*updated), logits), folder != &served);
    EXPECT_TRUE(same_bits(logits_of(*load(*folder)), logits_of(*updated)));
    EXPECT_EQ(load(*folder)->digest(), updated->digest());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, UpdateTest,
    ::testing::Combine(::testing::Values(ComputeType::kF32, ComputeType::kBf16, ComputeType::kW8A8),
                       ::testing::Bool(),
                       ::testing::Values("qwen3", "qwen3_moe", "qwen2_moe", "olmoe", "qwen3_5_text",
                                         "qwen3_next")));

}  // namespace update_test
}  // namespace tessera::model
