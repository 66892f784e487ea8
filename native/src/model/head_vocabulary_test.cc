// A head of some tokens against the whole one: the same bits, less memory.
#include "model/head_vocabulary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "device/backends.h"
#include "model/processor_decoder.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model {
namespace head_vocabulary_test {

using device::kPanelColumns;
using device::PanelType;
using tensor::DType;

TEST(HeadVocabulary, OfNoTokensIsTheWholeOne) {
  const HeadVocabulary all = HeadVocabulary::of({}, 70).value();
  EXPECT_TRUE(all.is_whole());
  EXPECT_TRUE(all.has(69));
  EXPECT_EQ(all.size(70), 70u);
  EXPECT_EQ(all.any(), 0);
  EXPECT_EQ(all.places(), nullptr);
}

TEST(HeadVocabulary, HasThePanelsOfItsTokens) {
  const int32_t tokens[] = {130, 40, 41, 33};
  const HeadVocabulary some = HeadVocabulary::of(tokens, 135).value();
  EXPECT_EQ(std::vector<uint32_t>(some.panels().begin(), some.panels().end()),
            (std::vector<uint32_t>{1, 4}));
  for (uint32_t token = 0; token < 135; ++token) {
    EXPECT_EQ(some.has(token), token / kPanelColumns == 1 || token / kPanelColumns == 4) << token;
  }
  EXPECT_EQ(some.size(135), 32u + 7u);  // the last panel has seven tokens
  EXPECT_TRUE(some.has(static_cast<uint32_t>(some.any())));
}

TEST(HeadVocabulary, RefusesTokensThatAreNone) {
  for (const int32_t token : {-1, 70}) {
    const int32_t tokens[] = {3, token};
    const auto refused = HeadVocabulary::of(tokens, 70);
    ASSERT_FALSE(refused.is_ok());
    EXPECT_EQ(refused.status().code(), Code::kRequestInvalid);
    EXPECT_EQ(refused.status().message(),
              "headTokens[1]: expected a token in 0..69, got " + std::to_string(token));
  }
}

class CutHead : public testing::TestWithParam<std::tuple<ComputeType, bool>> {
 protected:
  CutHead() {
    shape_.vocab = 1000;
    shape_.tied = std::get<1>(GetParam());
    write(before_, 1);
    write(after_, 2);
  }
  /// Aligned as Hugging Face writes files: an embedding in BF16 can be read in place.
  void write(const TestFolder& folder, uint64_t seed) const {
    const std::string file = safetensors_file(test_tensors(shape_, DType::kBf16, seed));
    uint64_t size = 0;
    std::memcpy(&size, file.data(), sizeof size);
    const std::string padding(size % 2, ' ');
    folder.write("config.json", test_config(shape_));
    folder.write("model.safetensors",
                 safetensors_file(file.substr(8, size) + padding, file.substr(8 + size)));
  }
  std::shared_ptr<ProcessorDecoder> load(const TestFolder& folder,
                                         std::span<const int32_t> tokens = {}) {
    auto decoder = ProcessorDecoder::load(folder.path(), std::get<0>(GetParam()), *device_, {},
                                          families(), tokens);
    if (!decoder.is_ok()) throw std::runtime_error(decoder.status().message());
    return std::move(decoder).value();
  }
  /// Logits of the kept tokens after a prompt of tokens of the whole vocabulary.
  std::vector<float> logits_of(const ProcessorDecoder& decoder) const {
    std::vector<int32_t> prompt(45);
    for (size_t i = 0; i < prompt.size(); ++i)
      prompt[i] = static_cast<int32_t>(i * 331 % shape_.vocab);
    TestRequest request(decoder, 45, 1, 1);
    request.prefill(prompt, 20);
    const std::vector<uint32_t> rows = {0, request.last_row()};
    std::vector<float> logits(rows.size() * kept_.size());
    EXPECT_TRUE(decoder.logits(request.workspace(), rows, kept_, logits).is_ok());
    return logits;
  }

  const std::vector<int32_t> kept_ = {999, 70, 71, 64, 500};  // in three panels of 32
  TestShape shape_;
  TestFolder before_, after_;
  std::unique_ptr<device::Device> device_ =
      device::open_cpu_device({.thread_count = 2, .instruction_set = {}}).value();
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_P(CutHead, GivesTheBitsOfTheWholeOne) {
  const auto whole = load(before_), cut = load(before_, kept_);
  EXPECT_EQ(cut->digest(), whole->digest());
  EXPECT_EQ(cut->numbers(), whole->numbers());
  EXPECT_TRUE(same_bits(logits_of(*cut), logits_of(*whole)));
  std::vector<float> own(shape_.hidden), theirs(shape_.hidden);
  for (uint32_t token = 0; token < shape_.vocab; ++token) {
    cut->embedding_row(token, own.data());
    whole->embedding_row(token, theirs.data());
    ASSERT_TRUE(same_bits(own, theirs)) << token;
  }
}

TEST_P(CutHead, TakesMemoryForItsPanelsAlone) {
  const PanelType type = head_panels(std::get<0>(GetParam()));
  const uint64_t panel = device::panel_bytes(type, shape_.hidden);
  const uint64_t whole = load(before_)->weight_bytes(), cut = load(before_, kept_)->weight_bytes();
  // The file has BF16: an embedding in F32 is a copy, one in BF16 is read where the file has it.
  const bool is_copied = shape_.tied && std::get<0>(GetParam()) == ComputeType::kF32;
  const uint64_t embedding = is_copied ? uint64_t{shape_.vocab} * shape_.hidden * 4 : 0;
  EXPECT_EQ(whole - cut + embedding, (device::panel_count(shape_.vocab) - 3) * panel);
}

TEST_P(CutHead, IsUpdatedAsTheWholeOneIs) {
  const auto cut = load(before_, kept_);
  for (const TestFolder* folder : {&after_, &before_}) {
    auto update = cut->prepare_update(folder->path());
    ASSERT_TRUE(update.is_ok()) << update.status().message();
    ASSERT_TRUE(cut->update(std::move(update).value()).is_ok());
    const auto expected = load(*folder);
    EXPECT_EQ(cut->digest(), expected->digest());
    EXPECT_TRUE(same_bits(logits_of(*cut), logits_of(*expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CutHead,
                         testing::Combine(testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                                          ComputeType::kW8A8),
                                          testing::Bool()));

}  // namespace head_vocabulary_test
}  // namespace tessera::model
