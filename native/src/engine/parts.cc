#include "engine/parts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "device/backends.h"
#include "engine/calibrate.h"
#include "engine/int8_codec.h"
#include "model/processor_decoder.h"

namespace tessera::engine {

Result<std::unique_ptr<device::Device>> open_processor(const EngineOptions& options) {
  device::CpuOptions cpu;
  cpu.thread_count = options.thread_count;
  return device::open_cpu_device(cpu);
}

Result<EngineParts> open_parts(EngineOptions& options, std::unique_ptr<device::Device> processor,
                               std::shared_ptr<model::Decoder> decoder,
                               std::shared_ptr<const kv::BlockCodec> lossy,
                               const PoolMemory& pool_memory) {
  EngineParts parts;
  parts.processor = std::move(processor);
  parts.decoder = std::move(decoder);
  parts.model = served_model(*parts.decoder);
  auto arena = lora::Arena::open(parts.decoder, options.adapter_bytes_max);
  if (!arena.is_ok()) return arena.status();
  parts.arena = std::move(arena).value();
  auto memory = parts.decoder->make_memory(
      options.batch_rows_max, std::min(options.prompt_tokens_max, parts.model.config.max_positions),
      options.adapter_bytes_max == 0 ? 0 : options.batch_requests_max);
  if (!memory.is_ok() && memory.status().code() == Code::kEngineOverloaded) {
    return Status(
        Code::kEngineOverloaded,
        "engineOpen.options.batchRowsMax: no memory for " + std::to_string(options.batch_rows_max) +
            " rows per pass beside prompts of up to " + std::to_string(options.prompt_tokens_max) +
            " tokens (promptTokensMax): " + memory.status().message());
  }
  if (!memory.is_ok()) return memory.status();
  if (!parts.model.state_layout.empty() && options.kv.codec == KvCodec::kInt8) {
    return Status(Code::kKvPoolInvalid,
                  "kvBlockCodec: expected none for a model with a recurrent state, which is kept "
                  "exactly, got int8");
  }
  if (pool_memory.fit) TESSERA_RETURN_IF_ERROR(pool_memory.fit(options, parts.model));
  auto pool = open_pool(
      options.kv, parts.model, std::move(lossy), [work = parts.work] { work->notify_one(); },
      pool_memory);
  if (!pool.is_ok()) return pool.status();
  parts.pool = std::move(pool).value();
  const Result<scheduler::PassCost> cost = calibrate(options, *parts.decoder, *memory.value());
  if (!cost.is_ok()) return cost.status();
  parts.cost = cost.value();
  parts.loop =
      std::make_unique<Loop>(options, *parts.processor, *parts.decoder, *parts.pool,
                             std::make_unique<Passes>(*parts.decoder, std::move(memory).value()),
                             parts.cost, *parts.counters);
  return parts;
}

Result<EngineParts> open_on_processor(EngineOptions& options) {
  auto processor = open_processor(options);
  if (!processor.is_ok()) return processor.status();
  auto decoder = model::ProcessorDecoder::load(options.model_path, options.compute_type,
                                               *processor.value(), options.activation_scales_path,
                                               model::families(), options.head_tokens);
  if (!decoder.is_ok()) return decoder.status();
  auto codec = std::make_shared<Int8Codec>(decoder.value()->block_layout());
  return open_parts(options, std::move(processor).value(), std::move(decoder).value(),
                    std::move(codec), {});
}

}  // namespace tessera::engine
