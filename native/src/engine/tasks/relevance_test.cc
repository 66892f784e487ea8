// Logits of label tokens behind prompts of one shared beginning: the same bits however they run,
// and every token that prompts have in common computed once.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "device/backends.h"
#include "engine/limits.h"
#include "engine/running_request.h"
#include "engine/test_fixture.h"
#include "model/processor_decoder.h"
#include "model/workspace.h"

namespace tessera::engine {
namespace relevance_test {

using Prompt = std::vector<int32_t>;

constexpr int32_t kAlphabet = 4;  // of items: few letters, so that they share beginnings
constexpr int32_t kTail = 9;      // no letter: no prompt is the beginning of another

/// `count` different items between one head and one tail, in the order of their tokens.
std::vector<Prompt> prompts_of(uint32_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::set<Prompt> items;
  while (items.size() < count) {
    Prompt item(1 + random() % 60);
    for (int32_t& token : item) token = static_cast<int32_t>(random() % kAlphabet);
    items.insert(item);
  }
  std::vector<Prompt> prompts;
  for (const Prompt& item : items) {
    Prompt& prompt = prompts.emplace_back(43, 7);
    prompt.insert(prompt.end(), item.begin(), item.end());
    prompt.insert(prompt.end(), {kTail, 11, 12});
  }
  return prompts;
}

/// Distinct beginnings: the nodes of the trie of the prompts.
uint64_t distinct_tokens(const std::vector<Prompt>& prompts) {
  std::set<Prompt> nodes;
  for (const Prompt& prompt : prompts) {
    for (size_t length = 1; length <= prompt.size(); ++length)
      nodes.insert(Prompt(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(length)));
  }
  return nodes.size();
}

std::vector<uint32_t> bits_of(std::span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

class Relevance : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  void open(uint32_t batch, uint32_t chunk, uint64_t kv_bytes_max = uint64_t{1} << 30) {
    EngineOptions options = fixture_options(folder());
    options.batch_requests_max = batch;
    options.prefill_chunk_tokens = chunk;
    options.kv_bytes_max = kv_bytes_max;
    options.kv.is_enabled = keeps_kv_;
    engine_.reset();
    engine_ = std::move(open_fixture_engine(options, sink_)).value();
    version_ = engine_->add_version("template", "codebook").value();
  }
  static std::filesystem::path folder() {
    return std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
  }

  Request request(uint32_t ticket, const Prompt& prompt) const {
    Request request;
    request.ticket = ticket;
    request.task = &relevance_task();
    request.prompt = prompt;
    request.label_tokens = {5, 3};
    request.norm = beam::ScoreNorm::kAllowed;
    request.kv.version = version_;
    request.deadline = Clock::now() + std::chrono::hours(1);
    return request;
  }

  /// Bits of the answers of all prompts, submitted at once in the given order.
  std::vector<std::vector<uint32_t>> run(const std::vector<Prompt>& prompts,
                                         std::span<const uint32_t> order) {
    std::vector<Request> requests;
    for (const uint32_t i : order) requests.push_back(request(i, prompts[i]));
    EXPECT_EQ(engine_->submit(std::move(requests)).accepted, order.size());
    std::vector<std::vector<uint32_t>> bits(prompts.size());
    for (const auto& [ticket, completion] : sink_.wait_for(order.size())) {
      EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
      bits[ticket] = bits_of(completion.scores);
    }
    return bits;
  }
  static std::vector<uint32_t> in_order(size_t count) {
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }

  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  kv::Version version_ = 0;
  bool keeps_kv_ = false;
};

TEST_F(Relevance, IsTheLogitsOfTheModelAndTheirNormalisation) {
  const Prompt prompt = prompts_of(1, 3).front();
  open(1, 64);
  Request asked = request(1, prompt);
  asked.norm = beam::ScoreNorm::kFull;
  engine_->submit({std::move(asked)});
  const std::vector<float> got = sink_.wait_for(1).at(1).scores;
  ASSERT_EQ(got.size(), 3u);

  const auto device = std::move(device::open_cpu_device({})).value();
  const auto decoder =
      std::move(model::ProcessorDecoder::load(folder().string(), model::ComputeType::kF32, *device))
          .value();
  const auto size = static_cast<uint32_t>(prompt.size());
  const auto workspace = decoder->make_workspace(size, size);
  const attention::BlockLayout layout = decoder->block_layout();
  std::vector<device::Buffer> memory;
  std::vector<void*> blocks;
  for (uint32_t i = 0; i < kv::blocks_of(size); ++i) {
    memory.push_back(std::move(device->allocate(layout.bytes())).value());
    blocks.push_back(memory.back().data());
  }
  const attention::PromptKv kv{blocks.data(), static_cast<uint32_t>(blocks.size()), 0};
  attention::RowGroup group;
  group.prompt = &kv;
  group.row_count = size;
  EXPECT_TRUE(decoder->forward({prompt, {&group, 1}, {}}, *workspace).is_ok());
  std::vector<int32_t> vocabulary(decoder->config().vocab_size);
  std::iota(vocabulary.begin(), vocabulary.end(), 0);
  std::vector<float> logits(vocabulary.size());
  const uint32_t last = size - 1;
  EXPECT_TRUE(decoder->logits(*workspace, {&last, 1}, vocabulary, logits).is_ok());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  EXPECT_EQ(got[0], logits[5]);
  EXPECT_EQ(got[1], logits[3]);
  EXPECT_NEAR(got[2], std::log(sum), 1e-5);
}

TEST_F(Relevance, HasTheSameBitsInAnyBatchChunkOrderAndSplit) {
  const std::vector<Prompt> prompts = prompts_of(16, 5);
  std::vector<std::vector<uint32_t>> alone(prompts.size());
  open(1, 512);
  for (uint32_t i = 0; i < prompts.size(); ++i) alone[i] = run(prompts, {&i, 1})[i];
  std::mt19937 random(11);
  for (const uint32_t batch : {1u, 5u, 16u}) {
    for (const uint32_t chunk : {3u, 64u, 512u}) {
      open(batch, chunk);
      std::vector<uint32_t> order = in_order(prompts.size());
      std::shuffle(order.begin(), order.end(), random);
      EXPECT_EQ(run(prompts, order), alone) << batch << " in a batch, chunks of " << chunk;
    }
  }
}

TEST_F(Relevance, ComputesEachTokenOfTheTrieOnce) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const std::vector<Prompt> prompts = prompts_of(16, seed);
    // Chunks that end all of a batch with one pass leave nobody running for the next batch.
    for (const uint32_t batch : {1u, 4u, 16u}) {
      for (const uint32_t chunk : {7u, 64u, 600u}) {
        open(batch, chunk);
        run(prompts, in_order(prompts.size()));
        EXPECT_EQ(engine_->stats().prefill_tokens, distinct_tokens(prompts))
            << "seed " << seed << ", " << batch << " in a batch, chunks of " << chunk;
      }
    }
  }
}

TEST_F(Relevance, GivesWayWhereMemoryIsShort) {
  const std::vector<Prompt> prompts = prompts_of(16, 8);
  open(16, 512);
  const auto expected = run(prompts, in_order(prompts.size()));
  // Room for a prompt of four blocks and no second one.
  const auto device = std::move(device::open_cpu_device({})).value();
  const auto decoder =
      std::move(model::ProcessorDecoder::load(folder().string(), model::ComputeType::kF32, *device))
          .value();
  open(16, 512, 5 * decoder->block_layout().bytes());
  EXPECT_EQ(run(prompts, in_order(prompts.size())), expected);
}

TEST_F(Relevance, FindsTheFixedHeadInThePoolAtTheNextCall) {
  keeps_kv_ = true;
  open(4, 512);
  const std::vector<Prompt> prompts = prompts_of(2, 4);
  const auto ask = [&](uint32_t i) {
    Request asked = request(i, prompts[i]);
    asked.kv.prefix_tokens = asked.kv.keep_tokens = 43;
    engine_->submit({std::move(asked)});
    return sink_.wait_for(1).at(i);
  };
  ask(0);
  const Completion second = ask(1);
  EXPECT_EQ(std::accumulate(second.kv_tokens.begin(), second.kv_tokens.end(), 0u), 32u);
  keeps_kv_ = false;
  open(1, 512);
  const uint32_t one = 1;
  EXPECT_EQ(bits_of(second.scores), run(prompts, {&one, 1})[1]);
}

TEST_F(Relevance, IsRefusedWithoutLabelsAndWithTooMany) {
  open(1, 64);
  for (const size_t count : {size_t{0}, size_t{kLabelTokensMax + 1}}) {
    Request asked = request(1, {1, 2, 3});
    asked.label_tokens.assign(count, 1);
    engine_->submit({std::move(asked)});
    EXPECT_EQ(sink_.wait_for(1).at(1).status.message(),
              "labelTokens.length: expected 1..256, got " + std::to_string(count));
  }
}

TEST_F(Relevance, IsRefusedForALabelThatIsNoToken) {
  open(1, 64);
  Request asked = request(1, {1, 2, 3});
  asked.label_tokens = {1, -1};
  engine_->submit({std::move(asked)});
  const Completion refused = sink_.wait_for(1).at(1);
  EXPECT_EQ(refused.status.code(), Code::kRequestInvalid);
  EXPECT_EQ(refused.status.message().substr(0, 15), "labelTokens[1]:");
}

TEST_F(Relevance, PredictsNothingForTokensThatAnotherRequestComputes) {
  Request asked = request(1, Prompt(100, 1));
  const model::ModelConfig config = std::move(model::ModelConfig::load(folder().string())).value();
  EXPECT_EQ(RunningRequest::work_of(asked, config).length, 0u);
  asked.sibling_tokens = 60;
  EXPECT_EQ(RunningRequest::work_of(asked, config).length, 60u);
  asked.sibling_tokens = 200;
  EXPECT_EQ(RunningRequest::work_of(asked, config).length, 99u);
}

}  // namespace relevance_test
}  // namespace tessera::engine
