// The decoder on emulated threads against the decoder on the CPU.
#include "cuda/model/card_decoder.h"

#include <gtest/gtest.h>

#include "cuda/model/test_trace.h"

namespace tessera::model::cuda {
namespace card_decoder_test {

TEST(CardDecoder, IsAsCloseToFullPrecisionAsTheCpuIn16Bits) {
  auto device =
      std::move(device::open_cpu_device({.thread_count = 1, .instruction_set = {}}).value());
  for (const char* type : {"qwen3", "qwen2"}) {
    const TestFolder folder;
    const TestShape shape = shape_of(type);
    folder.write_model(shape, test_tensors(shape, tensor::DType::kBf16, 5));
    const std::vector<float> exact = trace_cpu(folder, ComputeType::kF32, *device);
    const std::vector<float> rounded = trace_cpu(folder, ComputeType::kBf16, *device);
    const std::unique_ptr<Queue> queue = open_queue();
    const auto decoder = load(folder, *queue);
    const std::vector<float> card = trace_card(*decoder, *queue, 45);
    const float bound = largest_difference(rounded, exact);
    EXPECT_GT(bound, 0.0f);
    EXPECT_LE(largest_difference(card, exact), 2 * bound) << type;
  }
}

TEST(CardDecoder, ChunksAndOtherRequestsChangeNoBit) {
  const TestFolder folder;
  const TestShape shape = shape_of("qwen3");
  folder.write_model(shape, test_tensors(shape, tensor::DType::kBf16, 6));
  const std::unique_ptr<Queue> opened = open_queue(3);
  Queue& queue = *opened;
  const auto decoder = load(folder, queue);
  const std::vector<float> whole = trace_card(*decoder, queue, 45);
  EXPECT_EQ(trace_card(*decoder, queue, 17), whole);

  CardRequest one(*decoder, queue), other(*decoder, queue), joined(*decoder, queue);
  const std::vector<int32_t> tokens = some_tokens(20);
  one.prefill(tokens, 20);
  const std::vector<float> alone = one.head(19, 1).first;
  std::vector<int32_t> both = {7, 9, 11};
  both.insert(both.end(), tokens.begin(), tokens.end());
  const CardRows groups[] = {other.prompt_rows(3), joined.prompt_rows(20)};
  ASSERT_TRUE(decoder->forward(both, groups).is_ok());
  EXPECT_EQ(joined.head(22, 1).first, alone);
}

TEST(CardDecoder, AReplayedPassGivesTheBitsOfAFreshOne) {
  const TestFolder folder;
  const TestShape shape = shape_of("qwen3");
  folder.write_model(shape, test_tensors(shape, tensor::DType::kBf16, 8));
  const std::unique_ptr<Queue> queue = open_queue(4);
  const auto decoder = load(folder, *queue);
  CardRequest warm(*decoder, *queue);
  // Nine to sixteen rows are one shape, whatever the tokens and positions.
  for (const uint32_t count : {9u, 16u}) warm.prefill(some_tokens(count), count);
  EXPECT_EQ(decoder->graphs().size(), 1u);
  const uint64_t before = decoder->graphs().replay_count();
  EXPECT_GT(before, 0u);
  const std::vector<int32_t> tokens = {5, 1, 7, 5, 22, 41, 8, 9, 10, 11, 12};
  CardRequest replayed(*decoder, *queue);
  replayed.prefill(tokens, 11);
  EXPECT_EQ(decoder->graphs().replay_count(), before + 1);
  EXPECT_EQ(decoder->graphs().size(), 1u);
  const std::unique_ptr<Queue> fresh_queue = open_queue(5);
  const auto fresh_decoder = load(folder, *fresh_queue);
  CardRequest fresh(*fresh_decoder, *fresh_queue);
  fresh.prefill(tokens, 11);
  EXPECT_EQ(fresh_decoder->graphs().replay_count(), 0u);
  EXPECT_EQ(replayed.head(0, 5), fresh.head(0, 5));
  EXPECT_EQ(replayed.head(10, 1), fresh.head(10, 1));
}

TEST(CardDecoder, RefusesAModelWhoseSizesTheKernelsDoNotTake) {
  TestShape shape = shape_of("qwen3");
  shape.head_dim = 32;
  const TestFolder folder;
  folder.write_model(shape, test_tensors(shape, tensor::DType::kBf16, 7));
  EmulatedQueue queue;
  const auto decoder = CardDecoder::load(folder.path(), {8, kContext, 1}, queue);
  ASSERT_FALSE(decoder.is_ok());
  EXPECT_EQ(decoder.status().code(), Code::kModelInvalid);
  EXPECT_NE(decoder.status().message().find("head_dim: expected 64 or 128 on a card, got 32"),
            std::string::npos);
}

}  // namespace card_decoder_test
}  // namespace tessera::model::cuda
