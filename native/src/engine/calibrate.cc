#include "engine/calibrate.h"

#include <algorithm>
#include <vector>

#include "engine/elapsed.h"
#include "engine/request.h"
#include "kv/block.h"

namespace tessera::engine {
namespace {

using Samples = std::vector<scheduler::PassSample>;

/// Two samples of a pass: with and without the head.
Status sample(PassProbe& probe, uint32_t rows, uint32_t position, Samples& samples) {
  const uint32_t vocab = probe.config().vocab_size;
  std::vector<int32_t> tokens(rows);
  for (uint32_t i = 0; i < rows; ++i) tokens[i] = static_cast<int32_t>((i * 7919u + rows) % vocab);
  scheduler::PassSample sample;
  const Clock::time_point start = Clock::now();
  TESSERA_RETURN_IF_ERROR(probe.forward(tokens, position));
  sample.us = microseconds_since(start);
  sample.work.add_rows(rows, position, true);
  sample.work.experts = static_cast<double>(probe.experts_touched());
  samples.push_back(sample);
  const uint32_t head_rows = std::min({rows, kCalibrationHeadRows, probe.head_rows_max()});
  TESSERA_RETURN_IF_ERROR(probe.head(head_rows));
  sample.us = microseconds_since(start);
  sample.work.cells = static_cast<double>(head_rows) * vocab;
  samples.push_back(sample);
  return Status::ok();
}

/// Runs rounds of `run(rows, samples)`, which appends the samples of one size, always as many; the
/// shortest of each. Stops at the first status that is not ok.
template <typename Run>
Status rounds(const Run& run, Samples& shortest) {
  const Clock::time_point start = Clock::now();
  size_t sizes = 0;
  for (const uint32_t rows : kCalibrationRows) {
    if (sizes >= 2 && microseconds_since(start) > kCalibrationUs) break;
    TESSERA_RETURN_IF_ERROR(run(rows, shortest));
    ++sizes;
  }
  for (uint32_t round = 1; round < kCalibrationRoundsMax; ++round) {
    if (round >= kCalibrationRounds && microseconds_since(start) > kCalibrationUs) break;
    Samples again;
    for (size_t i = 0; i < sizes; ++i) TESSERA_RETURN_IF_ERROR(run(kCalibrationRows[i], again));
    for (size_t i = 0; i < shortest.size(); ++i)
      shortest[i].us = std::min(shortest[i].us, again[i].us);
  }
  return Status::ok();
}

}  // namespace

scheduler::UnitWeights unit_weights(const model::ModelConfig& config) {
  const model::Recipe::Work work = model::Recipe(config).work();
  scheduler::UnitWeights weights{work.sum.row, work.sum.pair,
                                 static_cast<double>(config.hidden_size), work.sum.expert};
  weights.mixture = {static_cast<double>(work.mixtures), work.sum.experts, work.sum.chosen};
  return weights;
}

Result<scheduler::PassCost> calibrate(const EngineOptions& options, PassProbe&& probe) {
  const model::ModelConfig& config = probe.config();
  const uint32_t positions = std::min(options.prompt_tokens_max, config.max_positions);
  const uint32_t most = std::min({options.batch_rows_max, options.prefill_chunk_tokens, positions});
  const uint32_t context = std::min(kCalibrationContext, positions - most);
  const Status begun = probe.begin(kv::blocks_of(context + most));
  if (begun.code() == Code::kEngineOverloaded) return scheduler::PassCost{};
  TESSERA_RETURN_IF_ERROR(begun);
  Samples samples;
  TESSERA_RETURN_IF_ERROR(sample(probe, 1, 0, samples));  // touches everything for the first time
  samples.clear();
  const auto run = [&](uint32_t rows, Samples& of_size) -> Status {
    TESSERA_RETURN_IF_ERROR(sample(probe, std::min(rows, most), 0, of_size));
    return context > 0 ? sample(probe, std::min(rows, most), context, of_size) : Status::ok();
  };
  TESSERA_RETURN_IF_ERROR(rounds(run, samples));
  return scheduler::fit_pass_cost(samples, unit_weights(config));
}

}  // namespace tessera::engine
