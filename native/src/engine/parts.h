// The parts of an engine: made of a decoder by open_parts(), whichever device that computes on.
#pragma once

#include <condition_variable>
#include <memory>

#include "device/device.h"
#include "engine/loop.h"
#include "engine/open_pool.h"
#include "engine/options.h"
#include "engine/served_model.h"
#include "kv/pool.h"
#include "lora/arena.h"

namespace tessera::engine {

struct EngineParts {
  std::unique_ptr<device::Device> processor;  // its threads make answers, whatever computes
  ServedModel model;
  std::shared_ptr<model::Decoder> decoder;
  std::unique_ptr<lora::Arena> arena;
  /// The engine's thread waits here; the pool's threads ring it.
  std::shared_ptr<std::condition_variable> work = std::make_shared<std::condition_variable>();
  std::unique_ptr<LoopCounters> counters = std::make_unique<LoopCounters>();
  scheduler::PassCost cost;
  std::shared_ptr<kv::Pool> pool;
  std::unique_ptr<Loop> loop;  // goes before the rest
};

/// The processor of the options, with its threads. Errors: ENGINE_UNAVAILABLE, ENGINE_OVERLOADED.
Result<std::unique_ptr<device::Device>> open_processor(const EngineOptions& options);
/// `lossy` writes blocks where the options ask for it; `memory` has the pool's first tiers, where
/// they are not the process's, and fits the options to it. REQUIRES: valid options. Errors: those
/// of Engine::open.
Result<EngineParts> open_parts(EngineOptions& options, std::unique_ptr<device::Device> processor,
                               std::shared_ptr<model::Decoder> decoder,
                               std::shared_ptr<const kv::BlockCodec> lossy,
                               const PoolMemory& memory);
/// REQUIRES: valid options. Errors: those of Engine::open.
Result<EngineParts> open_on_processor(EngineOptions& options);

}  // namespace tessera::engine
