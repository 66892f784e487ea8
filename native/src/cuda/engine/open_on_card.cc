#include "cuda/engine/open_on_card.h"

#include <algorithm>
#include <utility>

#include "cuda/device/card_queue.h"
#include "cuda/engine/card_executor.h"
#include "cuda/engine/card_memory.h"
#include "cuda/engine/card_probe.h"
#include "cuda/kernels/select_kernels.h"
#include "device/backends.h"
#include "engine/open_pool.h"

namespace tessera::device::cuda {
extern const void* const kKernelImages[];
}

namespace tessera::engine::cuda {
namespace {

using device::cuda::Card;
using device::cuda::CardQueue;
using device::cuda::Queue;

/// Changes when the bytes of a block come to lie elsewhere (cuda/kernels/attend_kernels.h), or
/// what kernels round where.
constexpr char kLayoutName[] = "card.1";

Status check(const EngineOptions& options) {
  const auto invalid = [](const std::string& field, const std::string& expected,
                          const std::string& got) {
    return Status(Code::kRequestInvalid, "engineOpen.options." + field + ": expected " + expected +
                                             " on a card, got " + got);
  };
  if (options.compute_type != model::ComputeType::kBf16) {
    return invalid("computeType", "bf16",
                   std::string(model::compute_type_name(options.compute_type)));
  }
  if (options.kv.is_enabled && options.kv.codec != KvCodec::kExact) {
    return invalid("kvBlockCodec", "exact", "int8");
  }
  if (options.width_max > beam::cuda::kBeamsMax) {
    return invalid("widthMax", "at most " + std::to_string(beam::cuda::kBeamsMax),
                   std::to_string(options.width_max));
  }
  return Status::ok();
}

ServedModel served_by(const model::cuda::CardDecoder& decoder, std::string digest) {
  const model::ModelConfig& config = decoder.config();
  ServedModel served;
  served.config = config;
  served.digest = std::move(digest);
  served.compute_type = std::string(model::compute_type_name(model::ComputeType::kBf16));
  served.position_bytes =
      uint64_t{config.layer_count} * 2 * config.kv_head_count * config.head_dim * sizeof(uint16_t);
  served.slot_bytes = served.position_bytes;
  served.block_bytes = decoder.block_bytes();
  served.layout = std::string(kLayoutName) + " " + std::to_string(config.layer_count) + "x" +
                  std::to_string(config.kv_head_count) + "x" + std::to_string(config.head_dim);
  served.element_type = "bf16";
  served.numeric_class = "bf16 card";
  return served;
}

/// The device tier and the running requests' share of it within what is left on the card.
Status fit(EngineOptions& options, const ServedModel& model, const Queue& passes) {
  const Result<uint64_t> left = passes.bytes_left();
  if (!left.is_ok()) return left.status();
  const uint64_t prompts = left.value() - left.value() / kSearchShare;
  if (prompts < model.block_bytes) {
    return {Code::kEngineOverloaded, "device: expected room for a block of " +
                                         std::to_string(model.block_bytes) +
                                         " bytes beside weights and passes, got " +
                                         std::to_string(left.value()) + " bytes on the card"};
  }
  options.kv.device_bytes = std::min(options.kv.device_bytes, prompts);
  options.kv_bytes_max = std::min(options.kv_bytes_max, left.value());
  return Status::ok();
}

PoolMemory pool_memory(std::shared_ptr<std::unique_ptr<Queue>> copies,
                       std::shared_ptr<Queue> pinned) {
  PoolMemory memory;
  memory.device = [copies](uint32_t blocks,
                           uint64_t bytes) -> Result<std::unique_ptr<kv::BlockMemory>> {
    auto opened = kv::cuda::CardMemory::open(std::move(*copies), blocks, bytes);
    if (!opened.is_ok()) return opened.status();
    return std::unique_ptr<kv::BlockMemory>(std::move(opened).value());
  };
  memory.host = [pinned](uint32_t blocks, uint64_t bytes) {
    return kv::cuda::open_pinned(pinned, blocks, bytes);
  };
  return memory;
}

}  // namespace

Result<CardQueues> open_queues(uint32_t card) {
  auto driver = device::cuda::Driver::load();
  if (!driver.is_ok()) return driver.status();
  CardQueues queues;
  for (int i = 0; i < 3; ++i) {
    auto opened = Card::open(driver.value(), static_cast<int>(card));
    if (!opened.is_ok()) return opened.status();
    queues.name = opened.value()->name();
    auto queue = i == 0 ? CardQueue::open(std::move(opened).value(), device::cuda::kKernelImages)
                        : CardQueue::open_copies(std::move(opened).value());
    if (!queue.is_ok()) return queue.status();
    if (i == 0) queues.passes = std::move(queue).value();
    if (i == 1) queues.copies = std::move(queue).value();
    if (i == 2) queues.pinned = std::move(queue).value();
  }
  return queues;
}

Result<EngineParts> open_on_card(EngineOptions& options, CardQueues queues) {
  TESSERA_RETURN_IF_ERROR(check(options));
  EngineParts parts;
  device::CpuOptions cpu;
  cpu.thread_count = options.thread_count;
  auto processor = device::open_cpu_device(cpu);
  if (!processor.is_ok()) return processor.status();
  parts.processor = std::move(processor).value();
  const Result<model::ModelConfig> config = model::ModelConfig::load(options.model_path);
  if (!config.is_ok()) return config.status();
  Result<std::string> digest =
      model::cuda::scan_weights(options.model_path, config.value(), *parts.processor);
  if (!digest.is_ok()) return digest.status();
  const uint32_t context = std::min(options.prompt_tokens_max, config.value().max_positions);
  auto decoder = model::cuda::CardDecoder::load(
      options.model_path, {options.batch_rows_max, context, options.width_max}, *queues.passes);
  if (!decoder.is_ok()) return decoder.status();
  parts.model = served_by(*decoder.value(), std::move(digest).value());
  parts.model.device = queues.name;
  TESSERA_RETURN_IF_ERROR(fit(options, parts.model, *queues.passes));
  auto pool = open_pool(
      options.kv, parts.model, nullptr, [work = parts.work] { work->notify_one(); },
      pool_memory(std::make_shared<std::unique_ptr<Queue>>(std::move(queues.copies)),
                  std::move(queues.pinned)));
  if (!pool.is_ok()) return pool.status();
  parts.pool = std::move(pool).value();
  const Result<scheduler::PassCost> cost =
      calibrate(options, CardProbe(*decoder.value(), *queues.passes));
  if (!cost.is_ok()) return cost.status();
  parts.cost = cost.value();
  auto executor = CardExecutor::make(options, std::move(queues.passes), std::move(decoder).value(),
                                     *parts.pool);
  if (!executor.is_ok()) return executor.status();
  parts.loop = std::make_unique<Loop>(options, *parts.processor, std::move(executor).value(),
                                      parts.cost, *parts.counters);
  return parts;
}

Result<EngineParts> open_on_card(EngineOptions& options, uint32_t card) {
  TESSERA_RETURN_IF_ERROR(check(options));
  Result<CardQueues> queues = open_queues(card);
  if (!queues.is_ok()) return queues.status();
  return open_on_card(options, std::move(queues).value());
}

}  // namespace tessera::engine::cuda
