#include "engine/measure_scales.h"

#include <algorithm>
#include <span>

#include "attention/block.h"
#include "device/backends.h"
#include "engine/options.h"
#include "model/activation_scales.h"
#include "model/processor_decoder.h"
#include "platform/file.h"

namespace tessera::engine {
namespace {

constexpr uint32_t kChunkRows = 256;  // of one forward pass
constexpr uint32_t kPerMille = 1000;

Status invalid(const std::string& field, const std::string& expected, const std::string& got) {
  return {Code::kRequestInvalid,
          "measureScales." + field + ": expected " + expected + ", got " + got};
}

Status validate(const ScaleMeasurement& options) {
  if (options.kept_per_mille < 1 || options.kept_per_mille > kPerMille) {
    return invalid("keptPerMille", "1..1000", std::to_string(options.kept_per_mille));
  }
  if (options.prompts.empty()) return invalid("promptOffsets", "at least one prompt", "none");
  return Status::ok();
}

/// Also finds the longest prompt.
Status check_prompts(const ScaleMeasurement& options, const model::ModelConfig& config,
                     uint32_t& longest) {
  for (size_t i = 0; i < options.prompts.size(); ++i) {
    const std::vector<int32_t>& prompt = options.prompts[i];
    const std::string field = "prompts[" + std::to_string(i) + "]";
    if (prompt.empty() || prompt.size() > config.max_positions) {
      return invalid(field, "1.." + std::to_string(config.max_positions) + " tokens",
                     std::to_string(prompt.size()));
    }
    for (const int32_t token : prompt) {
      if (token < 0 || static_cast<uint32_t>(token) >= config.vocab_size) {
        return invalid(field, "tokens in 0.." + std::to_string(config.vocab_size - 1),
                       std::to_string(token));
      }
    }
    longest = std::max(longest, static_cast<uint32_t>(prompt.size()));
  }
  return Status::ok();
}

/// One prompt after the other, in blocks that are used again: a row reads no position that its own
/// prompt has not written.
Status run_prompts(const model::Decoder& decoder, const ScaleMeasurement& options,
                   model::PassMemory& memory, std::span<void* const> blocks,
                   device::Buffer& state_memory) {
  for (const std::vector<int32_t>& prompt : options.prompts) {
    attention::DeltaState state = decoder.zero_state(state_memory);
    attention::PromptKv kv;
    kv.delta = &state;
    kv.blocks = blocks.data();
    kv.block_count = static_cast<uint32_t>(blocks.size());
    for (size_t first = 0; first < prompt.size(); first += kChunkRows) {
      const auto part =
          std::span(prompt).subspan(first, std::min<size_t>(kChunkRows, prompt.size() - first));
      attention::RowGroup group;
      group.prompt = &kv;
      group.row_count = static_cast<uint32_t>(part.size());
      group.first_position = kv.length;
      TESSERA_RETURN_IF_ERROR(decoder.forward({part, {&group, 1}}, memory));
      kv.length += group.row_count;
    }
  }
  return Status::ok();
}

}  // namespace

Result<MeasuredScales> measure_scales(const ScaleMeasurement& options) {
  TESSERA_RETURN_IF_ERROR(validate(options));
  device::CpuOptions cpu;
  cpu.thread_count = options.thread_count;
  auto device = device::open_cpu_device(cpu);
  if (!device.is_ok()) return device.status();
  auto decoder =
      model::ProcessorDecoder::load(options.model_path, model::ComputeType::kBf16, *device.value());
  if (!decoder.is_ok()) return decoder.status();
  const model::ProcessorDecoder& model = *decoder.value();
  uint32_t longest = 0;
  TESSERA_RETURN_IF_ERROR(check_prompts(options, model.config(), longest));
  const auto workspace = model.make_workspace(kChunkRows, longest);
  const uint64_t block_bytes = model.block_layout().bytes();
  const uint32_t block_count =
      (longest + attention::kBlockPositions - 1) / attention::kBlockPositions;
  auto memory = device.value()->allocate(block_bytes * block_count);
  auto state = device.value()->allocate(model.state_bytes());
  if (!memory.is_ok() || !state.is_ok() || workspace == nullptr) {
    return Status(Code::kEngineOverloaded, "measureScales: no memory for a prompt of " +
                                               std::to_string(longest) + " tokens");
  }
  std::vector<void*> blocks;
  for (uint32_t i = 0; i < block_count; ++i) {
    blocks.push_back(memory.value().as<char>() + i * block_bytes);
  }
  model::ActivationRanges ranges(model.recipe());
  workspace->measure(&ranges);
  TESSERA_RETURN_IF_ERROR(run_prompts(model, options, *workspace, blocks, state.value()));
  const double percentile = 100.0 * options.kept_per_mille / kPerMille;
  const model::ActivationScales scales{model.digest(), percentile, ranges.rows(),
                                       ranges.scales(percentile)};
  const std::string text = scales.text(model.recipe());
  TESSERA_RETURN_IF_ERROR(
      platform::write_file_atomically(options.output_path, std::as_bytes(std::span(text))));
  return MeasuredScales{ranges.rows(), ranges.unseen()};
}

}  // namespace tessera::engine
