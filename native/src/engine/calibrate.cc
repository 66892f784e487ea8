#include "engine/calibrate.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "attention/block.h"
#include "base/check.h"
#include "engine/elapsed.h"

namespace tessera::engine {
namespace {

/// Passes over one made-up prompt.
class Probe {
 public:
  Probe(const model::Decoder& decoder, model::Workspace& workspace, device::Buffer blocks,
        uint32_t block_count)
      : decoder_(decoder), workspace_(workspace), memory_(std::move(blocks)) {
    const uint64_t bytes = decoder.block_layout().bytes();
    for (uint32_t b = 0; b < block_count; ++b)
      blocks_.push_back(memory_.as<char>() + uint64_t{b} * bytes);
    prompt_ = {blocks_.data(), block_count, 0};
  }

  /// Two samples: with and without the head.
  void run(uint32_t rows, uint32_t position, std::vector<scheduler::PassSample>& samples) {
    const uint32_t vocab = decoder_.config().vocab_size;
    tokens_.resize(rows);
    for (uint32_t i = 0; i < rows; ++i)
      tokens_[i] = static_cast<int32_t>((i * 7919u + rows) % vocab);
    attention::RowGroup group;
    group.prompt = &prompt_;
    group.row_count = rows;
    group.first_position = position;
    scheduler::PassSample sample;
    const Clock::time_point start = Clock::now();
    decoder_.forward({tokens_, {&group, 1}}, workspace_);
    sample.us = microseconds_since(start);
    sample.work.add_rows(rows, position, true);
    samples.push_back(sample);
    head_rows_.resize(std::min(rows, kCalibrationHeadRows));
    std::iota(head_rows_.begin(), head_rows_.end(), 0u);
    sums_.resize(head_rows_.size());
    decoder_.log_sum_exp(workspace_, head_rows_, sums_);
    sample.us = microseconds_since(start);
    sample.work.cells = static_cast<double>(head_rows_.size()) * vocab;
    samples.push_back(sample);
  }

 private:
  const model::Decoder& decoder_;
  model::Workspace& workspace_;
  device::Buffer memory_;
  std::vector<void*> blocks_;
  attention::PromptKv prompt_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> head_rows_;
  std::vector<float> sums_;
};

}  // namespace

scheduler::UnitWeights unit_weights(const model::ModelConfig& config) {
  const double hidden = config.hidden_size;
  const double q = double{1} * config.head_count * config.head_dim;
  const double kv = double{1} * config.kv_head_count * config.head_dim;
  const double layers = config.layer_count;
  return {layers * hidden * (2 * q + 2 * kv + 3.0 * config.intermediate_size), 2 * layers * q,
          hidden};
}

scheduler::PassCost calibrate(const EngineOptions& options, const model::Decoder& decoder,
                              device::Device& device, model::Workspace& workspace) {
  const model::ModelConfig& config = decoder.config();
  const uint32_t positions = std::min(options.prompt_tokens_max, config.max_positions);
  const uint32_t most = std::min({options.batch_rows_max, options.prefill_chunk_tokens, positions});
  const uint32_t context = std::min(kCalibrationContext, positions - most);
  const uint32_t blocks =
      (context + most + attention::kBlockPositions - 1) / attention::kBlockPositions;
  Result<device::Buffer> memory = device.allocate(blocks * decoder.block_layout().bytes());
  if (!memory.is_ok()) return {};
  Probe probe(decoder, workspace, std::move(memory).value(), blocks);
  std::vector<scheduler::PassSample> samples;
  probe.run(1, 0, samples);  // touches everything for the first time
  samples.clear();
  const Status run = calibration_rounds(
      [&](uint32_t rows, std::vector<scheduler::PassSample>& of_size) {
        probe.run(std::min(rows, most), 0, of_size);
        if (context > 0) probe.run(std::min(rows, most), context, of_size);
        return Status::ok();
      },
      samples);
  TESSERA_CHECK(run.is_ok());
  return scheduler::fit_pass_cost(samples, unit_weights(config));
}

}  // namespace tessera::engine
