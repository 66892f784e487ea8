// The decoder on emulated threads against the decoder on the processor.
#include "cuda/model/card_decoder.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cuda/model/test_decoders.h"

namespace tessera::model::cuda {
namespace card_decoder_test {

using attention::RowGroup;

class CardDecoderTest : public ::testing::Test {
 protected:
  void write(const char* type, uint64_t seed) {
    const TestShape shape = shape_of(type);
    folder_.write_model(shape, test_tensors(shape, tensor::DType::kBf16, seed));
  }
  OnCard load(uint64_t seed = 1) { return load_on_card(folder_, *processor_, seed); }

  const TestFolder folder_;
  const std::unique_ptr<device::Device> processor_ = open_processor();
};

RowGroup prompt_group(TestRequest& request, uint32_t first_row, uint32_t rows) {
  RowGroup group;
  group.prompt = &request.prompt();
  group.first_row = first_row;
  group.row_count = rows;
  group.first_position = request.prompt().length;
  return group;
}

RowGroup first_step_group(TestRequest& request, uint32_t first_row, uint32_t rows) {
  RowGroup group = prompt_group(request, first_row, rows);
  group.beam = &request.beam();
  group.step = 1;
  return group;
}

std::vector<float> logits_of(const Decoder& decoder, PassMemory& memory,
                             std::vector<uint32_t> rows) {
  std::vector<int32_t> all(kVocab);
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> logits(rows.size() * kVocab);
  EXPECT_TRUE(decoder.logits(memory, rows, all, logits).is_ok());
  return logits;
}

TEST_F(CardDecoderTest, IsAsCloseToFullPrecisionAsTheProcessorIn16Bits) {
  for (const char* type : {"qwen3", "qwen2", "llama"}) {
    write(type, 5);
    const auto exact = load_on_processor(folder_, ComputeType::kF32, *processor_);
    const auto rounded = load_on_processor(folder_, ComputeType::kBf16, *processor_);
    const OnCard card = load();
    const std::vector<float> expected = trace(*exact, kPrompt);
    const float bound = largest_difference(trace(*rounded, kPrompt), expected);
    EXPECT_GT(bound, 0.0f);
    EXPECT_LE(largest_difference(trace(*card.decoder, kPrompt), expected), 2 * bound) << type;
    EXPECT_EQ(card.decoder->digest(), rounded->digest());
    EXPECT_EQ(card.decoder->kv_bytes_per_position(), rounded->kv_bytes_per_position());
    std::vector<float> row(48), expected_row(48);
    card.decoder->embedding_row(7, row.data());
    rounded->embedding_row(7, expected_row.data());
    EXPECT_EQ(row, expected_row);
    card.decoder->head_row(7, row.data());
    rounded->head_row(7, expected_row.data());
    EXPECT_EQ(row, expected_row);
  }
}

TEST_F(CardDecoderTest, IsAsCloseToFullPrecisionAsTheProcessorWithInt8Layers) {
  write("qwen3", 5);
  const auto exact = load_on_processor(folder_, ComputeType::kF32, *processor_);
  const auto rounded = load_on_processor(folder_, ComputeType::kW8A8, *processor_);
  const OnCard card = load_on_card(folder_, *processor_, 1, {}, ComputeType::kW8A8);
  const std::vector<float> expected = trace(*exact, kPrompt);
  const float bound = largest_difference(trace(*rounded, kPrompt), expected);
  const std::vector<float> whole = trace(*card.decoder, kPrompt);
  EXPECT_LE(largest_difference(whole, expected), 1.5f * bound);
  EXPECT_EQ(trace(*card.decoder, 17), whole);
  EXPECT_EQ(card.decoder->digest(), exact->digest());
  EXPECT_LT(card.decoder->weight_bytes(), load().decoder->weight_bytes());
}

TEST_F(CardDecoderTest, ChunksAndOtherRequestsChangeNoBit) {
  write("qwen3", 6);
  const OnCard card = load(3);
  const Decoder& decoder = *card.decoder;
  const std::vector<float> whole = trace(decoder, kPrompt);
  EXPECT_EQ(trace(decoder, 17), whole);

  const std::vector<int32_t> tokens = some_tokens(20);
  TestRequest one(decoder, 40, 1, 4), beams(decoder, 40, 1, 4), joined(decoder, 40, 1, 4);
  one.prefill(tokens, 20);
  const std::vector<float> alone = logits_of(decoder, one.memory(), {3, 19});
  beams.prefill(some_tokens(33, 5), 33);
  const RowGroup step = first_step_group(beams, 0, 3);
  const std::vector<int32_t> step_tokens = {7, 9, 11};
  ASSERT_TRUE(decoder.forward({step_tokens, {&step, 1}}, beams.memory()).is_ok());
  const std::vector<float> beams_alone = logits_of(decoder, beams.memory(), {0, 1, 2});

  std::vector<int32_t> both = step_tokens;
  both.insert(both.end(), tokens.begin(), tokens.end());
  const RowGroup groups[] = {first_step_group(beams, 0, 3), prompt_group(joined, 3, 20)};
  auto memory = decoder.make_memory(64, 40, 0);
  ASSERT_TRUE(memory.is_ok());
  ASSERT_TRUE(decoder.forward({both, groups}, *memory.value()).is_ok());
  EXPECT_EQ(logits_of(decoder, *memory.value(), {6, 22}), alone);
  EXPECT_EQ(logits_of(decoder, *memory.value(), {0, 1, 2}), beams_alone);
}

TEST_F(CardDecoderTest, SetsAndRequestsOfOneCallHaveTheBitsOfEachAlone) {
  write("qwen3", 7);
  const OnCard card = load();
  const Decoder& decoder = *card.decoder;
  TestRequest request(decoder, 40, 1, 4);
  request.prefill(some_tokens(20), 20);
  PassMemory& memory = request.memory();
  const std::vector<float> all = logits_of(decoder, memory, {0, 7, 8, 19});
  const std::vector<int32_t> first = {5, 69, 5, 31}, second = {40};
  const std::vector<uint32_t> rows_a = {7, 0}, rows_b = {19}, rows_c = {8};
  std::vector<float> a1(8), a2(2), b1(4), c1(4), sums_a(2), sums_b(1);
  const ops::HeadTokens of_a[] = {{first, a1.data()}, {second, a2.data()}};
  const ops::HeadTokens of_b[] = {{first, b1.data()}};
  const ops::HeadTokens of_c[] = {{first, c1.data()}};
  const HeadRequest requests[] = {
      {rows_a, of_a, sums_a.data()}, {rows_b, of_b, sums_b.data()}, {{}, of_b}, {rows_c, of_c}};
  ASSERT_TRUE(decoder.head(requests, memory).is_ok());
  // Beside sums, logits are those of the product that the sums are of.
  std::vector<int32_t> vocabulary(kVocab);
  std::iota(vocabulary.begin(), vocabulary.end(), 0);
  std::vector<float> whole(4 * kVocab), sums(4);
  const ops::HeadTokens of_all[] = {{vocabulary, whole.data()}};
  const std::vector<uint32_t> rows = {0, 7, 8, 19};
  const HeadRequest of_sums[] = {{rows, of_all, sums.data()}};
  ASSERT_TRUE(decoder.head(of_sums, memory).is_ok());
  const auto at = [&](size_t row, int32_t id) {
    return whole[row * kVocab + static_cast<size_t>(id)];
  };
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int32_t id = 0; id < int32_t{kVocab}; ++id) {
      EXPECT_LE(at(row, id), sums[row]);
      EXPECT_NEAR(at(row, id), all[row * kVocab + static_cast<size_t>(id)], 1e-5);
    }
  }
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(a1[i], at(1, first[i]));
    EXPECT_EQ(a1[4 + i], at(0, first[i]));
    EXPECT_EQ(b1[i], at(3, first[i]));
    EXPECT_EQ(c1[i], all[2 * kVocab + static_cast<size_t>(first[i])]);
  }
  EXPECT_EQ(a2[0], at(1, 40));
  EXPECT_EQ(a2[1], at(0, 40));
  std::vector<float> alone(1);
  ASSERT_TRUE(decoder.log_sum_exp(memory, std::vector<uint32_t>{0}, alone).is_ok());
  EXPECT_EQ(sums_a[1], alone[0]);
  double sum = 0;
  for (int32_t id = 0; id < int32_t{kVocab}; ++id) sum += std::exp(double{at(3, id)});
  EXPECT_NEAR(sums_b[0], std::log(sum), 1e-4);
}

TEST_F(CardDecoderTest, MirroredPositionsAreThoseOfAPromptOfItsOwn) {
  write("qwen3", 9);
  const OnCard card = load();
  const Decoder& decoder = *card.decoder;
  const std::vector<int32_t> tokens = some_tokens(44);
  TestRequest own(decoder, 64, 1, 4), leader(decoder, 64, 1, 4), follower(decoder, 64, 1, 4);
  own.prefill(tokens, 44);
  const std::vector<float> expected = logits_of(decoder, own.memory(), {43});
  follower.prefill(std::span(tokens).first(20), 20);
  RowGroup group = prompt_group(leader, 0, 40);
  // From a position within a block to one of the next.
  const attention::Mirror mirrors[] = {{&follower.prompt(), 20, 0}, {&follower.prompt(), 20, 20}};
  group.mirrors = mirrors;
  ASSERT_TRUE(decoder.forward({std::span(tokens).first(40), {&group, 1}}, leader.memory()).is_ok());
  follower.prompt().length = 40;
  follower.prefill(std::span(tokens).subspan(40), 4);
  EXPECT_EQ(logits_of(decoder, follower.memory(), {3}), expected);
}

TEST_F(CardDecoderTest, MoreMirrorsThanThePlanHasRoomForMakeItGrow) {
  write("qwen3", 9);
  const OnCard card = load();
  const Decoder& decoder = *card.decoder;
  TestRequest one(decoder, 20, 1, 4), other(decoder, 20, 1, 4);
  for (const uint32_t mirrors_count : {0u, 2000u, 0u}) {
    one.prompt().length = 0;
    RowGroup group = prompt_group(one, 0, 16);
    const std::vector<attention::Mirror> mirrors(mirrors_count, {&other.prompt(), 3, 1});
    group.mirrors = mirrors;
    ASSERT_TRUE(decoder.forward({some_tokens(16), {&group, 1}}, one.memory()).is_ok());
    EXPECT_TRUE(decoder.is_finite(one.memory(), 0, 16).value());
  }
}

TEST_F(CardDecoderTest, ClearedPositionsHoldZerosAndTheOthersWhatTheyHeld) {
  write("qwen3", 10);
  const OnCard card = load();
  const Decoder& decoder = *card.decoder;
  TestRequest longer(decoder, 64, 1, 4), shorter(decoder, 64, 1, 4);
  longer.prefill(some_tokens(50), 50);
  shorter.prefill(some_tokens(30), 30);
  ASSERT_TRUE(decoder.clear(longer.prompt(), 30, 20).is_ok());
  for (uint32_t block = 0; block < 2; ++block) {
    std::vector<char> cleared(decoder.block_layout().bytes()), expected(cleared.size());
    ASSERT_TRUE(card.queue->copy_out(cleared.data(), longer.prompt().blocks[block], cleared.size())
                    .is_ok());
    ASSERT_TRUE(
        card.queue->copy_out(expected.data(), shorter.prompt().blocks[block], expected.size())
            .is_ok());
    EXPECT_EQ(cleared, expected);
  }
}

TEST_F(CardDecoderTest, RowsThatAreNotFiniteAreTold) {
  write("qwen3", 11);
  for (const ComputeType type : {ComputeType::kBf16, ComputeType::kW8A8}) {
    const OnCard card = load_on_card(folder_, *processor_, 1, {}, type);
    const Decoder& decoder = *card.decoder;
    TestRequest bad(decoder, 32, 1, 4), good(decoder, 32, 1, 4);
    bad.prefill(some_tokens(3), 3);
    const std::vector<uint16_t> not_numbers(64, 0x7FC0);
    ASSERT_TRUE(card.queue->copy_in(bad.prompt().blocks[0], not_numbers.data(), 128).is_ok());
    const RowGroup groups[] = {prompt_group(good, 0, 4), prompt_group(bad, 4, 2)};
    ASSERT_TRUE(decoder.forward({some_tokens(6), groups}, good.memory()).is_ok());
    EXPECT_TRUE(decoder.is_finite(good.memory(), 0, 4).value());
    EXPECT_FALSE(decoder.is_finite(good.memory(), 3, 2).value());
    EXPECT_FALSE(decoder.is_finite(good.memory(), 5, 1).value());
  }
}

TEST_F(CardDecoderTest, AReplayedPassGivesTheBitsOfAFreshOne) {
  write("qwen3", 8);
  const OnCard card = load(4);
  TestRequest warm(*card.decoder, 60, 1, 4);
  const auto& graphs = static_cast<CardPass&>(warm.memory()).graphs();
  // Nine to sixteen rows are one shape, whatever the tokens and positions.
  for (const uint32_t count : {9u, 16u}) warm.prefill(some_tokens(count), count);
  EXPECT_EQ(graphs.size(), 1u);
  const uint64_t before = graphs.replay_count();
  EXPECT_GT(before, 0u);
  const std::vector<int32_t> tokens = {5, 1, 7, 5, 22, 41, 8, 9, 10, 11, 12};
  warm.prompt().length = 0;
  warm.prefill(tokens, 11);
  EXPECT_EQ(graphs.replay_count(), before + 1);
  const OnCard other = load(5);
  TestRequest fresh(*other.decoder, 60, 1, 4);
  fresh.prefill(tokens, 11);
  EXPECT_EQ(static_cast<CardPass&>(fresh.memory()).graphs().replay_count(), 0u);
  EXPECT_EQ(logits_of(*card.decoder, warm.memory(), {0, 10}),
            logits_of(*other.decoder, fresh.memory(), {0, 10}));
}

TEST_F(CardDecoderTest, ARestrictedVocabularyIsThatOfTheProcessor) {
  write("qwen3", 8);
  const std::vector<int32_t> tokens = {3, 66};
  const OnCard card = load_on_card(folder_, *processor_, 1, tokens);
  EXPECT_FALSE(card.decoder->head_vocabulary().is_whole());
  EXPECT_FALSE(card.decoder->head_vocabulary().has(40));
  TestRequest request(*card.decoder, 32, 1, 4);
  request.prefill(some_tokens(4), 4);
  std::vector<float> logits(2), expected(2);
  ASSERT_TRUE(
      card.decoder->logits(request.memory(), std::vector<uint32_t>{3}, tokens, logits).is_ok());
  const OnCard whole = load();
  TestRequest same(*whole.decoder, 32, 1, 4);
  same.prefill(some_tokens(4), 4);
  ASSERT_TRUE(
      whole.decoder->logits(same.memory(), std::vector<uint32_t>{3}, tokens, expected).is_ok());
  EXPECT_EQ(logits, expected);
}

TEST_F(CardDecoderTest, RefusesAModelThatTheKernelsDoNotTake) {
  const auto expect_refused = [&](TestShape shape, ComputeType type, Code code,
                                  const std::string& says) {
    const TestFolder folder;
    folder.write_model(shape, test_tensors(shape, tensor::DType::kBf16, 7));
    const auto decoder = CardDecoder::load(folder.path(), type, {}, *processor_, open_queue(),
                                           open_queue(), "cuda/test");
    ASSERT_FALSE(decoder.is_ok()) << says;
    EXPECT_EQ(decoder.status().code(), code);
    EXPECT_NE(decoder.status().message().find(says), std::string::npos)
        << decoder.status().message();
  };
  TestShape shape = shape_of("qwen3");
  shape.head_dim = 32;
  expect_refused(shape, ComputeType::kBf16, Code::kModelInvalid,
                 "head_dim: expected 64 or 128 on a card, got 32");
  shape = shape_of("qwen3");
  shape.hidden = 44;
  expect_refused(shape, ComputeType::kBf16, Code::kModelInvalid,
                 "hidden_size: expected a multiple of 8 on a card, got 44");
  shape = shape_of("qwen3");
  shape.intermediate = 71;
  expect_refused(shape, ComputeType::kBf16, Code::kModelInvalid, "intermediate_size");
  for (const char* type : {"qwen3_5_text", "qwen3_moe", "olmoe"}) {
    expect_refused(shape_of(type), ComputeType::kBf16, Code::kModelInvalid,
                   std::string("gated layers on a card, got ") + type);
  }
  for (const ComputeType type : {ComputeType::kF32, ComputeType::kW8A8Static}) {
    expect_refused(shape_of("qwen3"), type, Code::kRequestInvalid,
                   "computeType: expected bf16 or w8a8 on a card, got ");
  }
}

}  // namespace card_decoder_test
}  // namespace tessera::model::cuda
