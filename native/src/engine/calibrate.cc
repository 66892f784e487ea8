#include "engine/calibrate.h"

#include <algorithm>
#include <vector>

#include "engine/decoder_probe.h"
#include "engine/elapsed.h"
#include "engine/request.h"
#include "kv/block.h"

namespace tessera::engine {
namespace {

using Samples = std::vector<scheduler::PassSample>;

/// The times of a pass and of its head, measured separately: the noise of a whole pass hides a head
/// of few rows.
struct Sample {
  scheduler::PassWork work;
  double pass_us = 0, head_us = 0;
};

Status sample(DecoderProbe& probe, uint32_t vocab, uint32_t rows, uint32_t position,
              std::vector<Sample>& samples) {
  std::vector<int32_t> tokens(rows);
  for (uint32_t i = 0; i < rows; ++i) tokens[i] = static_cast<int32_t>((i * 7919u + rows) % vocab);
  Sample sample;
  const Clock::time_point start = Clock::now();
  TESSERA_RETURN_IF_ERROR(probe.forward(tokens, position));
  sample.pass_us = microseconds_since(start);
  sample.work.add_rows(rows, position, true);
  sample.work.experts = static_cast<double>(probe.experts_touched());
  const uint32_t head_rows = std::min(rows, DecoderProbe::kHeadRowsMax);
  const Clock::time_point passed = Clock::now();
  TESSERA_RETURN_IF_ERROR(probe.head(head_rows));
  sample.head_us = microseconds_since(passed);
  const auto columns = static_cast<double>(probe.head_tokens());
  sample.work.head = {static_cast<double>(head_rows) * columns, columns};
  samples.push_back(sample);
  return Status::ok();
}

/// Runs rounds of `run(rows, samples)`, which appends the samples of one size, always as many; the
/// shortest of each. Stops at the first status that is not ok.
template <typename Run>
Status rounds(const Run& run, std::vector<Sample>& shortest) {
  const Clock::time_point start = Clock::now();
  size_t sizes = 0;
  for (const uint32_t rows : kCalibrationRows) {
    if (sizes >= 2 && microseconds_since(start) > kCalibrationUs) break;
    TESSERA_RETURN_IF_ERROR(run(rows, shortest));
    ++sizes;
  }
  for (uint32_t round = 1; round < kCalibrationRoundsMax; ++round) {
    if (round >= kCalibrationRounds && microseconds_since(start) > kCalibrationUs) break;
    std::vector<Sample> again;
    for (size_t i = 0; i < sizes; ++i) TESSERA_RETURN_IF_ERROR(run(kCalibrationRows[i], again));
    for (size_t i = 0; i < shortest.size(); ++i) {
      shortest[i].pass_us = std::min(shortest[i].pass_us, again[i].pass_us);
      shortest[i].head_us = std::min(shortest[i].head_us, again[i].head_us);
    }
  }
  return Status::ok();
}

/// Two of each: without the head and with it.
Samples with_and_without_head(const std::vector<Sample>& shortest) {
  Samples samples;
  for (const Sample& sample : shortest) {
    scheduler::PassWork without = sample.work;
    without.head = {};
    samples.push_back({without, sample.pass_us});
    samples.push_back({sample.work, sample.pass_us + sample.head_us});
  }
  return samples;
}

}  // namespace

scheduler::UnitWeights unit_weights(const model::ModelConfig& config) {
  const model::Recipe::Work work = model::Recipe(config).work();
  const auto cell = static_cast<double>(config.hidden_size);
  scheduler::UnitWeights weights{work.sum.row, work.sum.pair, cell, kReadMultiplications * cell,
                                 work.sum.expert};
  weights.mixture = {static_cast<double>(work.mixtures), work.sum.experts, work.sum.chosen};
  return weights;
}

Result<scheduler::PassCost> calibrate(const EngineOptions& options, const model::Decoder& decoder,
                                      model::PassMemory& memory) {
  const model::ModelConfig& config = decoder.config();
  DecoderProbe probe(decoder, memory);
  const uint32_t positions = std::min(options.prompt_tokens_max, config.max_positions);
  const uint32_t most = std::min({options.batch_rows_max, options.prefill_chunk_tokens, positions});
  const uint32_t context = std::min(kCalibrationContext, positions - most);
  const Status begun = probe.begin(kv::blocks_of(context + most));
  if (begun.code() == Code::kEngineOverloaded) return scheduler::PassCost{};
  TESSERA_RETURN_IF_ERROR(begun);
  std::vector<Sample> samples;
  TESSERA_RETURN_IF_ERROR(
      sample(probe, config.vocab_size, 1, 0, samples));  // touches everything for the first time
  samples.clear();
  const auto run = [&](uint32_t rows, std::vector<Sample>& of_size) -> Status {
    const uint32_t vocab = config.vocab_size;
    TESSERA_RETURN_IF_ERROR(sample(probe, vocab, std::min(rows, most), 0, of_size));
    return context > 0 ? sample(probe, vocab, std::min(rows, most), context, of_size)
                       : Status::ok();
  };
  TESSERA_RETURN_IF_ERROR(rounds(run, samples));
  return scheduler::fit_pass_cost(with_and_without_head(samples), unit_weights(config));
}

}  // namespace tessera::engine
