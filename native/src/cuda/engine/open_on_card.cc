#include "cuda/engine/open_on_card.h"

#include <algorithm>
#include <utility>

#include "cuda/device/card_queue.h"
#include "cuda/engine/card_memory.h"
#include "cuda/model/card_decoder.h"
#include "engine/int8_codec.h"
#include "engine/open_pool.h"

namespace tessera::engine::cuda {
namespace {

using device::cuda::Card;
using device::cuda::CardQueue;
using device::cuda::Queue;

Status check(const EngineOptions& options) {
  if (!options.activation_scales_path.empty()) {
    return {Code::kRequestInvalid,
            "engineOpen.options.activationScalesPath: expected none on a card, which measures each "
            "row, got " +
                options.activation_scales_path};
  }
  return Status::ok();
}

/// The device tier and the running requests' share of it within what is left on the card.
Status fit(EngineOptions& options, const ServedModel& model, const device::MemorySpace& card) {
  const uint64_t free = card.available_bytes();
  const uint64_t left = free - std::min(free, kSpareBytes);
  const uint64_t prompts = left - left / kBeamShare;
  if (prompts < model.block_bytes) {
    return {Code::kEngineOverloaded, "device: expected room for a block of " +
                                         std::to_string(model.block_bytes) +
                                         " bytes beside weights and passes, got " +
                                         std::to_string(left) + " bytes on the card"};
  }
  options.kv.device_bytes = std::min(options.kv.device_bytes, prompts);
  options.kv_bytes_max = std::min(options.kv_bytes_max, left);
  return Status::ok();
}

PoolMemory pool_memory(const device::MemorySpace& card,
                       std::shared_ptr<std::unique_ptr<Queue>> copies,
                       std::shared_ptr<Queue> pinned) {
  PoolMemory memory;
  memory.fit = [&card](EngineOptions& options, const ServedModel& model) {
    return fit(options, model, card);
  };
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
  auto library = device::cuda::CardLibrary::open();
  if (!library.is_ok()) return library.status();
  auto driver = device::cuda::Driver::load();
  if (!driver.is_ok()) return driver.status();
  CardQueues queues;
  for (int i = 0; i < 4; ++i) {
    auto opened = Card::open(driver.value(), static_cast<int>(card));
    if (!opened.is_ok()) return opened.status();
    queues.name = opened.value()->name();
    auto queue = i == 0 ? CardQueue::open(std::move(opened).value(), library.value())
                        : CardQueue::open_copies(std::move(opened).value());
    if (!queue.is_ok()) return queue.status();
    if (i == 0) queues.passes = std::move(queue).value();
    if (i == 1) queues.copies = std::move(queue).value();
    if (i == 2) queues.pinned = std::move(queue).value();
    if (i == 3) queues.adapters = std::move(queue).value();
  }
  return queues;
}

Result<EngineParts> open_on_card(EngineOptions& options, CardQueues queues) {
  TESSERA_RETURN_IF_ERROR(check(options));
  auto processor = open_processor(options);
  if (!processor.is_ok()) return processor.status();
  auto decoder = model::cuda::CardDecoder::load(
      options.model_path, options.compute_type, options.head_tokens, *processor.value(),
      std::move(queues.passes), std::move(queues.adapters), queues.name);
  if (!decoder.is_ok()) return decoder.status();
  const PoolMemory memory = pool_memory(
      decoder.value()->memory(), std::make_shared<std::unique_ptr<Queue>>(std::move(queues.copies)),
      std::move(queues.pinned));
  auto codec = std::make_shared<Int8Codec>(decoder.value()->block_layout());
  return open_parts(options, std::move(processor).value(), std::move(decoder).value(),
                    std::move(codec), memory);
}

Result<EngineParts> open_on_card(EngineOptions& options, uint32_t card) {
  TESSERA_RETURN_IF_ERROR(check(options));
  Result<CardQueues> queues = open_queues(card);
  if (!queues.is_ok()) return queues.status();
  return open_on_card(options, std::move(queues).value());
}

}  // namespace tessera::engine::cuda
