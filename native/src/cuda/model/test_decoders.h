// Test only: a model's folder, the decoders of it, and queues that are watched and fail. Included
// by tests that are built with the kernels.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device/test_card.h"
#include "cuda/kernels/test_forward_kernels.h"
#include "cuda/model/card_decoder.h"
#include "device/backends.h"
#include "model/processor_decoder.h"
#include "model/test_model.h"
#include "model/test_request.h"

namespace tessera::model::cuda {

using device::cuda::EmulatedQueue;
using device::cuda::Queue;

inline constexpr uint32_t kVocab = 70;

/// Counts and faults of a test's queues.
struct Watch {
  int64_t in_use = 0;                 // pieces of memory, pinned ones too
  int64_t until_refusal = INT64_MAX;  // allocations that are given
  bool is_broken = false;
};

/// Emulated threads that are watched.
class WatchedQueue final : public EmulatedQueue {
 public:
  WatchedQueue(std::shared_ptr<Watch> watch, uint64_t seed)
      : EmulatedQueue(seed), watch_(std::move(watch)) {
    add_forward_kernels(*this);
  }
  Result<void*> allocate(uint64_t bytes) override {
    return count(watch_->until_refusal > 0 ? EmulatedQueue::allocate(bytes) : refusal());
  }
  void release(void* memory) override {
    --watch_->in_use;
    EmulatedQueue::release(memory);
  }
  Result<void*> allocate_pinned(uint64_t bytes) override {
    return count(watch_->until_refusal > 0 ? EmulatedQueue::allocate_pinned(bytes) : refusal());
  }
  void release_pinned(void* memory) override {
    --watch_->in_use;
    EmulatedQueue::release_pinned(memory);
  }
  Status copy_in(void* to, const void* from, uint64_t bytes) override {
    return watch_->is_broken ? fault() : EmulatedQueue::copy_in(to, from, bytes);
  }
  Status copy_to_pinned(void* to, const void* from, uint64_t bytes) override {
    return watch_->is_broken ? fault() : EmulatedQueue::copy_to_pinned(to, from, bytes);
  }
  Status finish() override { return watch_->is_broken ? fault() : EmulatedQueue::finish(); }
  Status launch(const char* kernel, const device::cuda::LaunchShape& shape,
                std::span<void* const> arguments) override {
    return watch_->is_broken ? fault() : EmulatedQueue::launch(kernel, shape, arguments);
  }

 private:
  static Result<void*> refusal() { return Status(Code::kEngineOverloaded, "refused"); }
  static Status fault() { return {Code::kEngineUnavailable, "the card fell off"}; }
  Result<void*> count(Result<void*> memory) {
    --watch_->until_refusal;
    if (memory.is_ok()) ++watch_->in_use;
    return memory;
  }

  const std::shared_ptr<Watch> watch_;
};

/// The card of this machine where the tests run on it, else emulated threads.
inline std::unique_ptr<Queue> open_queue(uint64_t seed = 1) {
  if (device::cuda::on_card()) return device::cuda::open_card_queue();
  return std::make_unique<WatchedQueue>(std::make_shared<Watch>(), seed);
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

inline std::unique_ptr<device::Device> open_processor() {
  return std::move(device::open_cpu_device({.thread_count = 1, .instruction_set = {}}).value());
}

/// A decoder on a card, whose queue of passes the test sees.
struct OnCard {
  Queue* queue = nullptr;
  std::shared_ptr<CardDecoder> decoder;
};

inline OnCard load_on_card(const TestFolder& folder, device::Device& processor, uint64_t seed = 1,
                           std::span<const int32_t> head_tokens = {},
                           ComputeType type = ComputeType::kBf16) {
  std::unique_ptr<Queue> passes = open_queue(seed);
  Queue* const queue = passes.get();
  auto decoder = CardDecoder::load(folder.path(), type, head_tokens, processor, std::move(passes),
                                   open_queue(seed), "cuda/test");
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return {queue, std::move(decoder).value()};
}

inline std::shared_ptr<ProcessorDecoder> load_on_processor(const TestFolder& folder,
                                                           ComputeType type,
                                                           device::Device& processor) {
  auto decoder = ProcessorDecoder::load(folder.path(), type, processor);
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return std::move(decoder).value();
}

inline std::vector<int32_t> some_tokens(uint32_t count, uint32_t first = 0) {
  std::vector<int32_t> tokens;
  for (uint32_t i = first; i < first + count; ++i)
    tokens.push_back(static_cast<int32_t>(i * 31 % kVocab));
  return tokens;
}

inline constexpr uint32_t kSteps = 3, kWidth = 5, kPrompt = 45;

inline void append(const std::vector<float>& more, std::vector<float>& all) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Logits, log-sum-exps and final rows after a prompt and each of three steps of five beams.
inline std::vector<float> trace(const Decoder& decoder, uint32_t chunk,
                                const Adapter* adapter = nullptr) {
  const std::vector<int32_t> beam_tokens = {3, 60, 8, 8, 1};
  const std::vector<uint32_t> parents = {4, 0, 0, 2, 2};
  TestRequest request(decoder, kPrompt, kSteps, kWidth, adapter);
  const auto hidden = [&](uint32_t first, uint32_t count) {
    const auto rows = decoder.hidden(request.memory(), first, count);
    EXPECT_TRUE(rows.is_ok());
    return std::vector<float>(rows.value().begin(), rows.value().end());
  };
  request.prefill(some_tokens(kPrompt), chunk);
  std::vector<float> all = request.logits(request.last_row());
  append(hidden(request.last_row(), 1), all);
  for (uint32_t step = 0; step < kSteps; ++step) {
    request.step(beam_tokens, parents);
    const auto is_finite = decoder.is_finite(request.memory(), 0, kWidth);
    EXPECT_TRUE(is_finite.is_ok() && is_finite.value());
    for (uint32_t row = 0; row < kWidth; ++row) append(request.logits(row), all);
    append(request.log_sum_exp(kWidth), all);
    append(hidden(0, kWidth), all);
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

}  // namespace tessera::model::cuda
