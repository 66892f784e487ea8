// Weights streamed over those on a card, memory that a card lacks, and a card that fails.
#include <gtest/gtest.h>

#include <fstream>

#include "cuda/model/test_decoders.h"

namespace tessera::model::cuda {
namespace card_faults_test {

using attention::RowGroup;
using tensor::DType;

/// Writes over the end of a file that others have mapped, which see it at once.
void overwrite_end(const TestFolder& folder, const std::string& bytes) {
  std::fstream file(folder.path() + "/model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
  file << bytes;
  ASSERT_TRUE(file.good());
}

class CardUpdateTest : public ::testing::TestWithParam<const char*> {
 protected:
  CardUpdateTest() {
    const TestShape shape = shape_of(GetParam());
    before_.write_model(shape, test_tensors(shape, DType::kBf16, 1));
    after_.write_model(shape, test_tensors(shape, DType::kF32, 2));
  }
  static std::vector<float> logits_of(const Decoder& decoder) {
    TestRequest request(decoder, 32, 1, 1);
    request.prefill(some_tokens(20), 16);
    return request.logits(request.last_row());
  }
  std::vector<float> logits_of(const TestFolder& folder) const {
    return logits_of(*load_on_card(folder, *processor_).decoder);
  }

  const TestFolder before_, after_;
  const std::unique_ptr<device::Device> processor_ = open_processor();
};

TEST_P(CardUpdateTest, HasTheBitsOfADecoderLoadedFromTheNewFolder) {
  const auto decoder = load_on_card(before_, *processor_).decoder;
  for (const TestFolder* folder : {&after_, &before_}) {
    auto update = decoder->prepare_update(folder->path());
    ASSERT_TRUE(update.is_ok()) << update.status().message();
    ASSERT_TRUE(decoder->update(std::move(update).value()).is_ok());
    EXPECT_EQ(logits_of(*decoder), logits_of(*folder));
    EXPECT_EQ(decoder->digest(),
              load_on_processor(*folder, ComputeType::kF32, *processor_)->digest());
    std::vector<float> row(48), expected(48);
    decoder->head_row(9, row.data());
    load_on_processor(*folder, ComputeType::kBf16, *processor_)->head_row(9, expected.data());
    EXPECT_EQ(row, expected);
  }
}

TEST_P(CardUpdateTest, ThatFailsLeavesTheWeightsBefore) {
  const auto decoder = load_on_card(before_, *processor_).decoder;
  const std::string digest = decoder->digest();
  const std::vector<float> logits = logits_of(*decoder);
  // A number that is none, and one that was another when the file was looked through.
  for (const std::string& bytes : {std::string("\x00\x00\xc0\x7f", 4), std::string("abcd")}) {
    auto update = decoder->prepare_update(after_.path());
    ASSERT_TRUE(update.is_ok()) << update.status().message();
    overwrite_end(after_, bytes);
    const Status status = decoder->update(std::move(update).value());
    EXPECT_EQ(status.code(), Code::kModelCorrupt) << status.message();
    EXPECT_TRUE(decoder->is_intact());
    EXPECT_EQ(decoder->digest(), digest);
    EXPECT_EQ(logits_of(*decoder), logits);
    overwrite_end(after_, std::string("\x00\x00\x00\x3f", 4));
  }
}

TEST_P(CardUpdateTest, SaysWhereNeitherCouldBeWritten) {
  const auto decoder = load_on_card(before_, *processor_).decoder;
  auto update = decoder->prepare_update(after_.path());
  ASSERT_TRUE(update.is_ok());
  overwrite_end(after_, std::string("\x00\x00\xc0\x7f", 4));
  overwrite_end(before_, "\xff\x7f");
  EXPECT_FALSE(decoder->update(std::move(update).value()).is_ok());
  EXPECT_FALSE(decoder->is_intact());
}

TEST_P(CardUpdateTest, OfAnotherConfigurationOrWithBadTensorsIsRefused) {
  const auto decoder = load_on_card(before_, *processor_).decoder;
  TestShape wider = shape_of(GetParam());
  wider.intermediate = 80;
  const TestFolder other;
  other.write_model(wider, test_tensors(wider, DType::kBf16, 3));
  EXPECT_EQ(decoder->prepare_update(other.path()).status().code(), Code::kModelInvalid);
  overwrite_end(after_, std::string("\x00\x00\xc0\x7f", 4));
  EXPECT_EQ(decoder->prepare_update(after_.path()).status().code(), Code::kModelCorrupt);
}

INSTANTIATE_TEST_SUITE_P(Types, CardUpdateTest, ::testing::Values("qwen3", "qwen2"));

class CardFaultsTest : public ::testing::Test {
 protected:
  CardFaultsTest() {
    const TestShape shape = shape_of("qwen3");
    folder_.write_model(shape, test_tensors(shape, DType::kBf16, 1));
  }
  Result<std::shared_ptr<CardDecoder>> load() {
    return CardDecoder::load(folder_.path(), ComputeType::kBf16, {}, *processor_,
                             std::make_unique<WatchedQueue>(watch_, 1),
                             std::make_unique<WatchedQueue>(watch_, 1), "card");
  }

  const TestFolder folder_;
  const std::unique_ptr<device::Device> processor_ = open_processor();
  const std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

TEST_F(CardFaultsTest, MemoryThatTheCardLacksIsSaidAndLeaksNothing) {
  const auto take_all = [&]() -> Status {
    auto decoder = load();
    if (!decoder.is_ok()) return decoder.status();
    auto memory = decoder.value()->make_memory(8, 40, 1);
    if (!memory.is_ok()) return memory.status();
    const auto buffer = decoder.value()->memory().allocate(1000);
    return buffer.is_ok() ? Status::ok() : buffer.status();
  };
  Status status(Code::kEngineOverloaded, "");
  for (int64_t given = 0; !status.is_ok(); ++given) {
    watch_->until_refusal = given;
    status = take_all();
    EXPECT_TRUE(status.is_ok() || status.code() == Code::kEngineOverloaded) << status.message();
    EXPECT_EQ(watch_->in_use, 0) << given;
    EXPECT_EQ(status.is_ok(), given >= 6) << given;
  }
}

TEST_F(CardFaultsTest, BuffersAreZeroAndCountWhatIsLeft) {
  const OnCard card = load_on_card(folder_, *processor_);
  const auto bytes_of = [&](const device::Buffer& buffer) {
    std::vector<char> bytes(buffer.size());
    EXPECT_TRUE(card.queue->copy_out(bytes.data(), buffer.data(), bytes.size()).is_ok());
    return bytes;
  };
  device::Buffer buffer = std::move(card.decoder->memory().allocate(1000)).value();
  EXPECT_EQ(bytes_of(buffer), std::vector<char>(1000));
  const std::vector<char> ones(1000, 1);
  ASSERT_TRUE(card.queue->copy_in(buffer.data(), ones.data(), ones.size()).is_ok());
  ASSERT_TRUE(card.decoder->memory().zero(buffer).is_ok());
  EXPECT_EQ(bytes_of(buffer), std::vector<char>(1000));
  EXPECT_GT(card.decoder->memory().available_bytes(), 0u);

  const auto watched = load().value();
  const int64_t before = watch_->in_use;
  {
    const device::Buffer other = std::move(watched->memory().allocate(10)).value();
    EXPECT_EQ(watch_->in_use, before + 1);
  }
  EXPECT_EQ(watch_->in_use, before);
}

TEST_F(CardFaultsTest, ACardThatFailsIsToldByWhateverIsAskedNext) {
  const auto decoder = load().value();
  TestRequest request(*decoder, 40, 1, 4);
  request.prefill(some_tokens(8), 8);
  PassMemory& memory = request.memory();
  RowGroup group;
  group.prompt = &request.prompt();
  group.row_count = 8;
  const std::vector<int32_t> tokens = some_tokens(8);
  std::vector<float> logits(1);
  watch_->is_broken = true;
  const auto expect_told = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::kEngineUnavailable);
    EXPECT_EQ(status.message(), "the card fell off");
  };
  expect_told(decoder->is_finite(memory, 0, 8).status());
  expect_told(decoder->hidden(memory, 0, 8).status());
  expect_told(decoder->logits(memory, std::vector<uint32_t>{0}, std::vector<int32_t>{1}, logits));
  expect_told(decoder->forward({tokens, {&group, 1}}, memory));
  expect_told(decoder->clear(request.prompt(), 0, 1));
  watch_->is_broken = false;
  ASSERT_TRUE(decoder->is_finite(memory, 0, 8).is_ok());
  watch_->is_broken = true;
  expect_told(decoder->forward({tokens, {&group, 1}}, memory));
  expect_told(decoder->logits(memory, std::vector<uint32_t>{0}, std::vector<int32_t>{1}, logits));
}

TEST_F(CardFaultsTest, MemoriesOfPassesMayOutliveTheDecoder) {
  std::unique_ptr<PassMemory> memory;
  {
    const auto decoder = load().value();
    TestRequest request(*decoder, 40, 1, 4);
    memory = decoder->make_memory(8, 40, 0).value();
    RowGroup group;
    group.prompt = &request.prompt();
    group.row_count = 8;
    ASSERT_TRUE(decoder->forward({some_tokens(8), {&group, 1}}, *memory).is_ok());
  }
  EXPECT_GT(watch_->in_use, 0);
  memory = nullptr;
  EXPECT_EQ(watch_->in_use, 0);
}

}  // namespace card_faults_test
}  // namespace tessera::model::cuda
