#include "engine/cuda/calibrate_card.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/elapsed.h"
#include "kv/block.h"

namespace tessera::engine::cuda {
namespace {

using device::cuda::Memory;

/// Passes over one made-up prompt.
class Probe {
 public:
  Probe(model::cuda::CardDecoder& decoder, device::cuda::Queue& queue)
      : decoder_(decoder), queue_(queue) {}

  Status begin(uint32_t block_count) {
    const uint64_t bytes = block_count * decoder_.block_bytes();
    Result<Memory> memory = Memory::allocate(queue_, bytes + 2 * sizeof(numbers_));
    if (!memory.is_ok()) return memory.status();
    memory_ = std::move(memory).value();
    for (uint32_t b = 0; b < block_count; ++b) {
      blocks_.push_back(
          reinterpret_cast<uint16_t*>(memory_.as<char>() + b * decoder_.block_bytes()));
    }
    std::iota(std::begin(numbers_), std::end(numbers_), 0u);
    card_numbers_ = reinterpret_cast<uint32_t*>(memory_.as<char>() + bytes);
    card_sums_ = reinterpret_cast<float*>(card_numbers_ + kCalibrationHeadRows);
    TESSERA_RETURN_IF_ERROR(queue_.zero(memory_.as<void>(), bytes));
    return queue_.copy_in(card_numbers_, numbers_, sizeof(numbers_));
  }

  /// Two samples: with and without the head.
  Status run(uint32_t rows, uint32_t position, std::vector<scheduler::PassSample>& samples) {
    const uint32_t vocab = decoder_.config().vocab_size;
    tokens_.resize(rows);
    for (uint32_t i = 0; i < rows; ++i)
      tokens_[i] = static_cast<int32_t>((i * 7919u + rows) % vocab);
    model::cuda::CardRows group;
    group.blocks = blocks_;
    group.row_count = rows;
    group.first_position = position;
    scheduler::PassSample sample;
    const Clock::time_point start = Clock::now();
    TESSERA_RETURN_IF_ERROR(decoder_.forward(tokens_, {&group, 1}));
    TESSERA_RETURN_IF_ERROR(queue_.finish());
    sample.us = microseconds_since(start);
    sample.work.add_rows(rows, position, true);
    samples.push_back(sample);
    const uint32_t head_rows = std::min({rows, kCalibrationHeadRows, decoder_.limits().head_rows});
    TESSERA_RETURN_IF_ERROR(
        decoder_.head(card_numbers_, head_rows, nullptr, 0, nullptr, card_sums_));
    TESSERA_RETURN_IF_ERROR(queue_.finish());
    sample.us = microseconds_since(start);
    sample.work.cells = static_cast<double>(head_rows) * vocab;
    samples.push_back(sample);
    return Status::ok();
  }

 private:
  model::cuda::CardDecoder& decoder_;
  device::cuda::Queue& queue_;
  Memory memory_;
  std::vector<uint16_t*> blocks_;
  uint32_t numbers_[kCalibrationHeadRows] = {};
  uint32_t* card_numbers_ = nullptr;
  float* card_sums_ = nullptr;
  std::vector<int32_t> tokens_;
};

}  // namespace

Result<scheduler::PassCost> calibrate_card(const EngineOptions& options,
                                           model::cuda::CardDecoder& decoder,
                                           device::cuda::Queue& queue) {
  const model::ModelConfig& config = decoder.config();
  const uint32_t positions = std::min(options.prompt_tokens_max, config.max_positions);
  const uint32_t most = std::min({options.batch_rows_max, options.prefill_chunk_tokens, positions});
  const uint32_t context = std::min(kCalibrationContext, positions - most);
  Probe probe(decoder, queue);
  const Status begun = probe.begin(kv::blocks_of(context + most));
  if (begun.code() == Code::kEngineOverloaded) return scheduler::PassCost{};
  TESSERA_RETURN_IF_ERROR(begun);
  std::vector<scheduler::PassSample> samples;
  TESSERA_RETURN_IF_ERROR(probe.run(1, 0, samples));  // loads the kernels
  samples.clear();
  TESSERA_RETURN_IF_ERROR(calibration_rounds(
      [&](uint32_t rows, std::vector<scheduler::PassSample>& of_size) {
        TESSERA_RETURN_IF_ERROR(probe.run(std::min(rows, most), 0, of_size));
        return context > 0 ? probe.run(std::min(rows, most), context, of_size) : Status::ok();
      },
      samples));
  return scheduler::fit_pass_cost(samples, unit_weights(config));
}

}  // namespace tessera::engine::cuda
