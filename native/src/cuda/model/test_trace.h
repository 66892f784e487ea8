// Test only: a prompt and two steps of beams, by the decoder on a card and by that on the CPU.
// Included by the test that is built with the kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device/test_card.h"
#include "cuda/kernels/test_forward_kernels.h"
#include "cuda/model/card_decoder.h"
#include "device/backends.h"
#include "model/decoder.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model::cuda {

using device::cuda::EmulatedQueue;
using device::cuda::Memory;
using device::cuda::Queue;

inline constexpr uint32_t kSteps = 2, kWidth = 5, kContext = 64, kVocab = 70;

/// The card of this machine where the tests run on it, else emulated threads.
inline std::unique_ptr<Queue> open_queue(uint64_t seed = 1) {
  if (device::cuda::on_card()) return device::cuda::open_card_queue();
  auto emulated = std::make_unique<EmulatedQueue>(seed);
  add_forward_kernels(*emulated);
  return emulated;
}

inline TestShape shape_of(const char* model_type) {
  TestShape shape;
  shape.model_type = model_type;
  shape.vocab = kVocab;
  shape.hidden = 48;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 64;
  shape.intermediate = 72;
  shape.tied = std::string(model_type) == "qwen2";
  return shape;
}

/// One request on the card, as TestRequest is one on the CPU.
class CardRequest {
 public:
  CardRequest(CardDecoder& decoder, Queue& queue) : decoder_(decoder), queue_(queue) {
    const ModelConfig& config = decoder.config();
    for (uint32_t i = 0; i < kContext / 32; ++i) {
      memory_.push_back(take(decoder.block_bytes()));
      blocks_.push_back(memory_.back().as<uint16_t>());
      const std::vector<char> zeros(decoder.block_bytes());  // as the pool gives blocks
      EXPECT_TRUE(queue.copy_in(blocks_.back(), zeros.data(), zeros.size()).is_ok());
    }
    const uint64_t own = uint64_t{config.layer_count} * kSteps * kWidth * config.kv_head_count *
                         config.head_dim * sizeof(uint16_t);
    own_keys_ = take(own);
    own_values_ = take(own);
    rows_ = take(kContext * sizeof(uint32_t));
    ids_ = take(kVocab * sizeof(int32_t));
    logits_ = take(kContext * kVocab * sizeof(float));
    sums_ = take(kContext * sizeof(float));
    std::vector<int32_t> all(kVocab);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_TRUE(queue.copy_in(ids_.as<void>(), all.data(), kVocab * sizeof(int32_t)).is_ok());
  }

  CardRows prompt_rows(uint32_t count) const {
    CardRows rows;
    rows.blocks = blocks_;
    rows.row_count = count;
    rows.first_position = length_;
    return rows;
  }
  void prefill(std::span<const int32_t> tokens, uint32_t chunk) {
    for (size_t first = 0; first < tokens.size(); first += chunk) {
      const auto part = tokens.subspan(first, std::min<size_t>(chunk, tokens.size() - first));
      const CardRows rows = prompt_rows(static_cast<uint32_t>(part.size()));
      ASSERT_TRUE(decoder_.forward(part, {&rows, 1}).is_ok());
      length_ += rows.row_count;
    }
  }
  void step(std::span<const int32_t> tokens, std::span<const uint32_t> parents) {
    std::vector<uint32_t> chains;
    for (size_t row = 0; row < tokens.size() && steps_ > 0; ++row) {
      const auto chain = ancestors_.begin() + parents[row] * (steps_ - 1);
      chains.insert(chains.end(), chain, chain + (steps_ - 1));
      chains.push_back(parents[row]);
    }
    ancestors_ = std::move(chains);
    steps_ += 1;
    CardRows rows = prompt_rows(static_cast<uint32_t>(tokens.size()));
    rows.first_position = length_ + steps_ - 1;
    rows.own_keys = own_keys_.as<uint16_t>();
    rows.own_values = own_values_.as<uint16_t>();
    rows.max_steps = kSteps;
    rows.max_width = kWidth;
    rows.step = steps_;
    rows.ancestors = ancestors_;
    ASSERT_TRUE(decoder_.forward(tokens, {&rows, 1}).is_ok());
  }
  /// Logits of all tokens and log-sum-exps of rows [first, first + count) of the last pass.
  std::pair<std::vector<float>, std::vector<float>> head(uint32_t first, uint32_t count) {
    std::vector<uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), first);
    EXPECT_TRUE(queue_.copy_in(rows_.as<void>(), rows.data(), count * sizeof(uint32_t)).is_ok());
    EXPECT_TRUE(decoder_
                    .head(rows_.as<uint32_t>(), count, ids_.as<int32_t>(), kVocab,
                          logits_.as<float>(), sums_.as<float>())
                    .is_ok());
    std::vector<float> logits(size_t{count} * kVocab), sums(count);
    EXPECT_TRUE(
        queue_.copy_out(logits.data(), logits_.as<void>(), logits.size() * sizeof(float)).is_ok());
    EXPECT_TRUE(
        queue_.copy_out(sums.data(), sums_.as<void>(), sums.size() * sizeof(float)).is_ok());
    return {logits, sums};
  }

 private:
  Memory take(uint64_t bytes) {
    Result<Memory> memory = Memory::allocate(queue_, bytes);
    EXPECT_TRUE(memory.is_ok());
    return std::move(memory).value();
  }

  CardDecoder& decoder_;
  Queue& queue_;
  std::vector<Memory> memory_;
  std::vector<uint16_t*> blocks_;
  Memory own_keys_, own_values_, rows_, ids_, logits_, sums_;
  std::vector<uint32_t> ancestors_;
  uint32_t length_ = 0, steps_ = 0;
};

inline std::vector<int32_t> some_tokens(uint32_t count) {
  std::vector<int32_t> tokens;
  for (uint32_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(i * 31 % kVocab));
  return tokens;
}

inline const std::vector<int32_t> kBeamTokens = {3, 60, 8, 8, 1};
inline const std::vector<uint32_t> kParents = {4, 0, 0, 2, 2};

/// Logits, then log-sum-exps, after the prompt and each of two steps of five beams.
inline std::vector<float> trace_cpu(const TestFolder& folder, ComputeType type,
                                    device::Device& device) {
  auto decoder = Decoder::load(folder.path(), type, device);
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  TestRequest request(*decoder.value(), 45, kSteps, kWidth);
  request.prefill(some_tokens(45), 45);
  std::vector<float> all = request.logits(request.last_row());
  for (uint32_t step = 0; step < kSteps; ++step) {
    request.step(kBeamTokens, kParents);
    for (uint32_t row = 0; row < kWidth; ++row) {
      const std::vector<float> logits = request.logits(row);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    const std::vector<float> sums = request.log_sum_exp(kWidth);
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

inline std::vector<float> trace_card(CardDecoder& decoder, Queue& queue, uint32_t chunk) {
  CardRequest request(decoder, queue);
  request.prefill(some_tokens(45), chunk);
  std::vector<float> all = request.head((45 - 1) % chunk, 1).first;
  for (uint32_t step = 0; step < kSteps; ++step) {
    request.step(kBeamTokens, kParents);
    const auto [logits, sums] = request.head(0, kWidth);
    all.insert(all.end(), logits.begin(), logits.end());
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

inline float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::isfinite(a[i]) ? std::max(largest, std::abs(a[i] - b[i])) : INFINITY;
  }
  return largest;
}

inline std::unique_ptr<CardDecoder> load(const TestFolder& folder, Queue& queue) {
  auto decoder = CardDecoder::load(folder.path(), {45, kContext, kWidth}, queue);
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return std::move(decoder).value();
}

}  // namespace tessera::model::cuda
