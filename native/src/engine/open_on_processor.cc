#include <algorithm>
#include <string>
#include <utility>

#include "device/backends.h"
#include "engine/int8_codec.h"
#include "engine/open_pool.h"
#include "engine/parts.h"
#include "engine/processor_executor.h"
#include "engine/processor_probe.h"

namespace tessera::engine {

Result<EngineParts> open_on_processor(const EngineOptions& options) {
  EngineParts parts;
  device::CpuOptions cpu;
  cpu.thread_count = options.thread_count;
  auto processor = device::open_cpu_device(cpu);
  if (!processor.is_ok()) return processor.status();
  parts.processor = std::move(processor).value();
  auto decoder =
      model::ProcessorDecoder::load(options.model_path, options.compute_type, *parts.processor,
                           options.activation_scales_path, model::families(), options.head_tokens);
  if (!decoder.is_ok()) return decoder.status();
  parts.decoder = std::move(decoder).value();
  parts.model = served_model(*parts.decoder);
  parts.model.device = parts.processor->kernels().name;
  auto arena = lora::Arena::open(parts.decoder, options.adapter_bytes_max);
  if (!arena.is_ok()) return arena.status();
  parts.arena = std::move(arena).value();
  auto workspace = parts.decoder->make_workspace(
      options.batch_rows_max, std::min(options.prompt_tokens_max, parts.model.config.max_positions),
      options.adapter_bytes_max == 0 ? 0 : options.batch_requests_max);
  if (workspace == nullptr) {
    return Status(Code::kEngineOverloaded, "engineOpen.options.batchRowsMax: no memory for " +
                                               std::to_string(options.batch_rows_max) +
                                               " rows per pass");
  }
  if (!parts.model.state_layout.empty() && options.kv.codec == KvCodec::kInt8) {
    return Status(Code::kKvPoolInvalid,
                  "kvBlockCodec: expected none for a model with a recurrent state, which is kept "
                  "exactly, got int8");
  }
  auto pool =
      open_pool(options.kv, parts.model, std::make_shared<Int8Codec>(parts.decoder->block_layout()),
                [work = parts.work] { work->notify_one(); });
  if (!pool.is_ok()) return pool.status();
  parts.pool = std::move(pool).value();
  const Result<scheduler::PassCost> cost =
      calibrate(options, ProcessorProbe(*parts.decoder, *parts.processor, *workspace));
  if (!cost.is_ok()) return cost.status();
  parts.cost = cost.value();
  parts.loop = std::make_unique<Loop>(
      options, *parts.processor,
      std::make_unique<ProcessorExecutor>(*parts.decoder, *parts.pool, std::move(workspace)),
      parts.cost, *parts.counters);
  return parts;
}

}  // namespace tessera::engine
