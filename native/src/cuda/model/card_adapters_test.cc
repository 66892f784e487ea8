// Adapters on a card, loaded by the arena as the engine does, against the processor's.
#include "cuda/model/card_adapters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "cuda/model/test_decoders.h"
#include "lora/arena.h"
#include "lora/test_adapter.h"

namespace tessera::model::cuda {
namespace card_adapters_test {

using attention::RowGroup;
using lora::Arena;
using lora::TestAdapterShape;

constexpr lora::Limits kLimits{ops::kRankMax, 1e4};

using Held = std::shared_ptr<const lora::Adapter>;

class CardAdaptersTest : public ::testing::Test {
 protected:
  void write(const char* type) {
    shape_ = shape_of(type);
    folder_.write_model(shape_, test_tensors(shape_, tensor::DType::kBf16, 5));
  }
  Held load(Arena& arena, const TestAdapterShape& shape, uint64_t seed = 1) const {
    const TestFolder folder;
    lora::random_adapter(shape_, shape, seed).write(folder);
    auto loaded = arena.load(folder.path(), kLimits);
    EXPECT_TRUE(loaded.is_ok()) << loaded.status().message();
    return std::move(loaded).value();
  }
  /// LoRA of many ranks; DoRA; with rows of the embedding and the head.
  std::vector<TestAdapterShape> shapes() const {
    std::vector<TestAdapterShape> shapes(3);
    shapes[0].ranks = {0, 1, 7, 16, 128};
    shapes[1].ranks = {5, 64};
    shapes[1].has_dora = true;
    shapes[2].ranks = {0, 12};
    shapes[2].embedding = {1, 31, 32, 62, 69};
    if (!shape_.tied) shapes[2].head = {3, 40, 69};
    return shapes;
  }

  TestShape shape_;
  const TestFolder folder_;
  const std::unique_ptr<device::Device> processor_ = open_processor();
};

TEST_F(CardAdaptersTest, AreAsCloseToFullPrecisionAsTheProcessors) {
  for (const auto& [type, compute] :
       {std::pair("qwen3", ComputeType::kBf16), std::pair("qwen2", ComputeType::kBf16),
        std::pair("qwen3", ComputeType::kW8A8)}) {
    write(type);
    const auto exact = load_on_processor(folder_, ComputeType::kF32, *processor_);
    const auto rounded = load_on_processor(folder_, compute, *processor_);
    const OnCard card = load_on_card(folder_, *processor_, 1, {}, compute);
    const auto exact_arena = Arena::open(exact, 64u << 20).value();
    const auto rounded_arena = Arena::open(rounded, 64u << 20).value();
    const auto card_arena = Arena::open(card.decoder, 64u << 20).value();
    const std::vector<float> without = trace(*exact, kPrompt);
    const std::vector<TestAdapterShape> all = shapes();
    for (size_t i = 0; i < all.size(); ++i) {
      const Held in_f32 = load(*exact_arena, all[i]), fewer = load(*rounded_arena, all[i]);
      const Held on_card = load(*card_arena, all[i]);
      const std::vector<float> expected = trace(*exact, kPrompt, &in_f32->numbers());
      const float bound = largest_difference(trace(*rounded, kPrompt, &fewer->numbers()), expected);
      EXPECT_GT(largest_difference(without, expected), 2 * bound);
      EXPECT_LE(largest_difference(trace(*card.decoder, kPrompt, &on_card->numbers()), expected),
                2 * bound)
          << type << ", " << i;
    }
  }
}

/// Requests of one pass: none, two adapters, the first of them again.
TEST_F(CardAdaptersTest, ARequestHasTheBitsThatItHasAloneWhateverTheOthersRunWith) {
  write("qwen3");
  const OnCard card = load_on_card(folder_, *processor_);
  const auto arena = Arena::open(card.decoder, 64u << 20).value();
  std::vector<Held> held;
  for (const TestAdapterShape& shape : shapes()) held.push_back(load(*arena, shape));
  const Adapter* const adapters[] = {nullptr, &held[1]->numbers(), &held[2]->numbers(),
                                     &held[1]->numbers(), &held[0]->numbers()};
  const uint32_t counts[] = {3, 30, 9, 1, 40};
  std::vector<std::unique_ptr<TestRequest>> requests;
  std::vector<std::vector<float>> alone;
  std::vector<int32_t> tokens;
  std::vector<RowGroup> groups;
  std::vector<AdapterRows> rows;
  for (uint32_t i = 0; i < 5; ++i) {
    const std::vector<int32_t> own = some_tokens(counts[i], i);
    TestRequest request(*card.decoder, 64, 1, 1, adapters[i]);
    request.prefill(own, counts[i]);
    alone.push_back(request.logits(request.last_row()));
    append(request.log_sum_exp(counts[i]), alone.back());
    requests.push_back(std::make_unique<TestRequest>(*card.decoder, 64, 1, 1));
    RowGroup group;
    group.prompt = &requests.back()->prompt();
    group.first_row = static_cast<uint32_t>(tokens.size());
    group.row_count = counts[i];
    groups.push_back(group);
    if (adapters[i] != nullptr) rows.push_back({adapters[i], group.first_row, counts[i]});
    tokens.insert(tokens.end(), own.begin(), own.end());
  }
  auto memory = card.decoder->make_memory(128, 64, 4);
  ASSERT_TRUE(memory.is_ok());
  ASSERT_TRUE(card.decoder->forward({tokens, groups, rows}, *memory.value()).is_ok());
  std::vector<int32_t> ids(kVocab);
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<HeadRequest> heads;
  std::vector<std::vector<uint32_t>> numbers(10);
  std::vector<std::vector<float>> logits(5, std::vector<float>(kVocab)), sums(5);
  std::vector<ops::HeadTokens> sets(5);
  for (uint32_t i = 0; i < 5; ++i) {
    numbers[i] = {groups[i].first_row + counts[i] - 1};
    sets[i] = {ids, logits[i].data()};
    heads.push_back({numbers[i], {&sets[i], 1}, nullptr, adapters[i]});
  }
  ASSERT_TRUE(card.decoder->head(heads, *memory.value()).is_ok());
  heads.clear();
  for (uint32_t i = 0; i < 5; ++i) {
    numbers[5 + i].resize(counts[i]);
    std::iota(numbers[5 + i].begin(), numbers[5 + i].end(), groups[i].first_row);
    sums[i].resize(counts[i]);
    heads.push_back({numbers[5 + i], {}, sums[i].data(), adapters[i]});
  }
  ASSERT_TRUE(card.decoder->head(heads, *memory.value()).is_ok());
  for (uint32_t i = 0; i < 5; ++i) {
    append(sums[i], logits[i]);
    EXPECT_EQ(logits[i], alone[i]) << i;
  }
}

TEST_F(CardAdaptersTest, ComeAndGoOnAnotherThreadBesidePasses) {
  write("qwen3");
  const OnCard card = load_on_card(folder_, *processor_);
  const auto arena = Arena::open(card.decoder, 64u << 20).value();
  const Held one = load(*arena, shapes()[1]);
  const std::vector<float> alone = trace(*card.decoder, kPrompt, &one->numbers());
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    for (uint64_t seed = 2; !is_over; ++seed) load(*arena, shapes()[2], seed);
  });
  EXPECT_EQ(trace(*card.decoder, kPrompt, &one->numbers()), alone);
  is_over = true;
  other.join();
  EXPECT_EQ(arena->use().adapters, 1u);
}

TEST_F(CardAdaptersTest, GiveTheirMemoryBackWithTheirLastHolder) {
  write("qwen3");
  const auto watch = std::make_shared<Watch>();
  auto decoder = CardDecoder::load(folder_.path(), ComputeType::kBf16, {}, *processor_,
                                   open_queue(), std::make_unique<WatchedQueue>(watch, 1), "card")
                     .value();
  auto arena = Arena::open(decoder, 64u << 20).value();
  EXPECT_EQ(watch->in_use, 0);
  Held one = load(*arena, shapes()[0]), other = load(*arena, shapes()[2]);
  EXPECT_EQ(watch->in_use, 2);
  one = nullptr;
  EXPECT_EQ(watch->in_use, 2);  // freed by the next that comes, not by the thread that dropped it
  one = load(*arena, shapes()[1]);
  EXPECT_EQ(watch->in_use, 2);
  one = nullptr;
  arena = nullptr;
  decoder = nullptr;  // the adapter outlives it
  EXPECT_EQ(watch->in_use, 2);
  other = nullptr;
  EXPECT_EQ(watch->in_use, 0);
}

TEST_F(CardAdaptersTest, ThatDoNotFitOrCannotBeCopiedAreRefusedAndTakeNothing) {
  write("qwen3");
  const auto watch = std::make_shared<Watch>();
  const auto decoder =
      CardDecoder::load(folder_.path(), ComputeType::kBf16, {}, *processor_, open_queue(),
                        std::make_unique<WatchedQueue>(watch, 1), "card")
          .value();
  const auto arena = Arena::open(decoder, 64u << 20).value();
  const TestFolder folder;
  lora::random_adapter(shape_, shapes()[2], 1).write(folder);
  watch->until_refusal = 0;
  const auto refused = arena->load(folder.path(), kLimits);
  EXPECT_EQ(refused.status().code(), Code::kEngineOverloaded);
  watch->until_refusal = INT64_MAX;
  watch->is_broken = true;
  const auto broken = arena->load(folder.path(), kLimits);
  EXPECT_EQ(broken.status().code(), Code::kEngineUnavailable);
  EXPECT_EQ(watch->in_use, 0);
  EXPECT_EQ(arena->use().used_bytes, 0u);
  watch->is_broken = false;
  EXPECT_TRUE(arena->load(folder.path(), kLimits).is_ok());
}

}  // namespace card_adapters_test
}  // namespace tessera::model::cuda
