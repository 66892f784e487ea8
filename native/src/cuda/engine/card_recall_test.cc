// A whole recall on emulated threads against the same decoder driven by the host, step by step,
// with the CPU's selection: the same paths and the same bits of their scores.
#include "cuda/engine/test_card_recall.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>

#include "beam/random_case.h"
#include "cuda/device/test_card.h"
#include "cuda/kernels/test_forward_kernels.h"
#include "cuda/kernels/test_search.h"
#include "model/test_model.h"

namespace tessera::engine::cuda {
namespace card_recall_test {

using beam::RandomCase;
using device::cuda::EmulatedQueue;
using device::cuda::Memory;
using device::cuda::Queue;
using model::cuda::CardDecoder;
using model::cuda::CardRows;

constexpr uint32_t kContext = 64, kWidth = 12, kKeysMax = 4096;

/// The card of this machine where the tests run on it, else emulated threads.
std::unique_ptr<Queue> open_queue(uint64_t seed) {
  if (device::cuda::on_card()) return device::cuda::open_card_queue();
  auto queue = std::make_unique<EmulatedQueue>(seed);
  model::cuda::add_forward_kernels(*queue);
  beam::cuda::add_search_kernels(*queue);
  return queue;
}

/// A random catalogue, a token for each of its codes, and a model that has them all.
struct Setting {
  explicit Setting(uint64_t seed) : random(seed) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("tessera-card-recall-" + std::to_string(::getpid()));
    random_case = beam::random_case(random, path);
    std::filesystem::remove(path);
    int32_t token = 3;
    for (const uint32_t size : random_case.level_sizes) {
      level_tokens.emplace_back(size);
      std::iota(level_tokens.back().begin(), level_tokens.back().end(), token);
      token += static_cast<int32_t>(size);
    }
    model::TestShape shape;
    shape.vocab = static_cast<uint32_t>(token);
    shape.hidden = 40;
    shape.layers = 2;
    shape.heads = 2;
    shape.kv_heads = 1;
    shape.head_dim = 64;
    shape.intermediate = 48;
    folder.write_model(shape, model::test_tensors(shape, tensor::DType::kBf16, seed));
    queue = open_queue(seed);
    auto loaded = CardDecoder::load(folder.path(), {40, kContext, kWidth}, *queue);
    EXPECT_TRUE(loaded.is_ok()) << loaded.status().message();
    decoder = std::move(loaded).value();
    auto opened = CardCatalogue::open(level_tokens, {}, *queue);
    EXPECT_TRUE(opened.is_ok());
    catalogue = std::move(opened).value();
    auto pinned = catalogue->pin(random_case.reach.shared_view());
    EXPECT_TRUE(pinned.is_ok());
    version = pinned.value();
    for (int i = 0; i < 45; ++i) prompt.push_back(static_cast<int32_t>(random() % shape.vocab));
  }

  std::mt19937_64 random;
  RandomCase random_case;
  std::vector<std::vector<int32_t>> level_tokens;
  model::TestFolder folder;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<CardDecoder> decoder;
  std::unique_ptr<CardCatalogue> catalogue;
  std::shared_ptr<const CardVersion> version;
  std::vector<int32_t> prompt;
};

/// The same search with the host between the steps.
class HostDriven {
 public:
  explicit HostDriven(Setting& setting) : setting_(setting) {
    const model::ModelConfig& config = setting.decoder->config();
    const uint64_t depth = setting.catalogue->depth();
    const std::vector<char> zeros(setting.decoder->block_bytes());
    for (uint32_t i = 0; i < kContext / 32; ++i) {
      memory_.push_back(take(zeros.size()));
      blocks_.push_back(memory_.back().as<uint16_t>());
      EXPECT_TRUE(setting.queue->copy_in(blocks_.back(), zeros.data(), zeros.size()).is_ok());
    }
    const uint64_t own = depth * kWidth * config.layer_count * config.kv_head_count *
                         config.head_dim * sizeof(uint16_t);
    own_keys_ = take(own);
    own_values_ = take(own);
  }

  std::vector<beam::Finished> search(const catalogue::Reach& reach, uint32_t width) {
    const uint32_t length = static_cast<uint32_t>(setting_.prompt.size());
    forward(std::span(setting_.prompt).first(40), 0, 0);
    forward(std::span(setting_.prompt).subspan(40), 40, 0);
    const auto scratch = beam::make_scratch();
    beam::Beams beams{{0.0f}, {catalogue::kRoot}, {0}};
    std::vector<beam::Finished> finished;
    uint32_t first_row = length - 41;
    for (uint32_t level = 0; level < setting_.level_tokens.size() && !beams.nodes.empty();
         ++level) {
      const auto [logits, sums] = head(first_row, static_cast<uint32_t>(beams.nodes.size()), level);
      beam::Step step;
      const auto level_size = static_cast<uint32_t>(setting_.level_tokens[level].size());
      beam::select(beams, {logits, level_size, {}, sums}, reach, {.width = width}, *scratch, step);
      finished.insert(finished.end(), step.finished.begin(), step.finished.end());
      beams = step.next;
      first_row = 0;
      if (level + 1 == setting_.level_tokens.size() || beams.nodes.empty()) break;
      fork(step, level);
      forward(tokens_, length + level, level + 1);
    }
    return finished;
  }

 private:
  Memory take(uint64_t bytes) {
    return std::move(Memory::allocate(*setting_.queue, bytes)).value();
  }
  void fork(const beam::Step& step, uint32_t level) {
    tokens_.clear();
    std::vector<uint32_t> chains;
    for (size_t row = 0; row < step.parents.size(); ++row) {
      tokens_.push_back(setting_.level_tokens[level][step.codes[row]]);
      if (level == 0) continue;
      const auto chain = ancestors_.begin() + step.parents[row] * (level - 1);
      chains.insert(chains.end(), chain, chain + (level - 1));
      chains.push_back(step.parents[row]);
    }
    ancestors_ = std::move(chains);
  }
  void forward(std::span<const int32_t> tokens, uint32_t position, uint32_t step) {
    CardRows rows;
    rows.blocks = blocks_;
    rows.row_count = static_cast<uint32_t>(tokens.size());
    rows.first_position = position;
    rows.own_keys = own_keys_.as<uint16_t>();
    rows.own_values = own_values_.as<uint16_t>();
    rows.max_steps = setting_.catalogue->depth();
    rows.max_width = kWidth;
    rows.step = step;
    rows.ancestors = ancestors_;
    ASSERT_TRUE(setting_.decoder->forward(tokens, {&rows, 1}).is_ok());
  }
  std::pair<std::vector<float>, std::vector<float>> head(uint32_t first, uint32_t count,
                                                         uint32_t level) {
    const uint32_t size = setting_.catalogue->level_size(level);
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    std::vector<float> logits(size_t{count} * size), sums(count);
    const Memory rows = take(count * sizeof(uint32_t));
    const Memory card_logits = take(logits.size() * sizeof(float));
    const Memory card_sums = take(count * sizeof(float));
    Queue& queue = *setting_.queue;
    EXPECT_TRUE(queue.copy_in(rows.as<void>(), numbers.data(), count * sizeof(uint32_t)).is_ok());
    EXPECT_TRUE(setting_.decoder
                    ->head(rows.as<uint32_t>(), count, setting_.catalogue->level_tokens(level),
                           size, card_logits.as<float>(), card_sums.as<float>())
                    .is_ok());
    EXPECT_TRUE(queue.copy_out(logits.data(), card_logits.as<void>(), logits.size() * sizeof(float))
                    .is_ok());
    EXPECT_TRUE(queue.copy_out(sums.data(), card_sums.as<void>(), count * sizeof(float)).is_ok());
    return {logits, sums};
  }

  Setting& setting_;
  std::vector<Memory> memory_;
  std::vector<uint16_t*> blocks_;
  Memory own_keys_, own_values_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> ancestors_;
};

TEST(CardRecall, FindsThePathsThatTheHostFindsStepByStep) {
  for (const uint64_t seed : {2u, 5u, 9u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Setting setting(seed);
    auto recall = CardRecall::make({kContext, kWidth, kKeysMax}, *setting.decoder,
                                   *setting.catalogue, *setting.queue);
    ASSERT_TRUE(recall.is_ok()) << recall.status().message();
    for (const bool is_restricted : {false, true}) {
      const auto eligibility =
          is_restricted ? beam::random_eligibility(setting.random_case, setting.random, 2)
                        : nullptr;
      const catalogue::Reach reach(setting.random_case.reach.shared_view(), eligibility);
      const std::vector<beam::Finished> expected = HostDriven(setting).search(reach, kWidth);
      const uint32_t widths[] = {kWidth};
      const auto found = recall.value()->search(
          {setting.prompt, widths, setting.version.get(), eligibility.get()});
      ASSERT_TRUE(found.is_ok()) << found.status().message();
      ASSERT_EQ(found.value().size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(found.value()[i].node, expected[i].node) << i;
        EXPECT_EQ(std::bit_cast<uint32_t>(found.value()[i].score),
                  std::bit_cast<uint32_t>(expected[i].score));
      }
    }
  }
}

TEST(CardRecall, RefusesWhatItCannotDo) {
  Setting setting(3);
  const auto wide = CardRecall::make({kContext, kWidth + 1, kKeysMax}, *setting.decoder,
                                     *setting.catalogue, *setting.queue);
  ASSERT_FALSE(wide.is_ok());
  EXPECT_EQ(wide.status().message(), "width: expected 1..12, got 13");
  auto recall =
      CardRecall::make({kContext, kWidth, 0}, *setting.decoder, *setting.catalogue, *setting.queue);
  ASSERT_TRUE(recall.is_ok());
  const uint32_t widths[] = {4}, none[] = {0};
  const auto code_of = [&](std::span<const int32_t> prompt, std::span<const uint32_t> given) {
    return recall.value()->search({prompt, given, setting.version.get()}).status().code();
  };
  const std::vector<int32_t> long_prompt(kContext + 1, 0);
  EXPECT_EQ(code_of({}, widths), Code::kRequestInvalid);
  EXPECT_EQ(code_of(long_prompt, widths), Code::kRequestInvalid);
  EXPECT_EQ(code_of(setting.prompt, none), Code::kRequestInvalid);
  EXPECT_EQ(code_of(setting.prompt, widths), Code::kEngineOverloaded);
}

}  // namespace card_recall_test
}  // namespace tessera::engine::cuda
