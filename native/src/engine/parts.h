// The parts of an engine, which the opener of a device makes: open_on_processor(), or the
// OpenOnCard that the caller of Engine::open passes.
#pragma once

#include <condition_variable>
#include <memory>

#include "device/device.h"
#include "engine/loop.h"
#include "engine/options.h"
#include "engine/served_model.h"
#include "kv/pool.h"
#include "lora/arena.h"

namespace tessera::engine {

struct EngineParts {
  std::unique_ptr<device::Device> processor;  // its threads make answers, whatever computes
  ServedModel model;
  std::shared_ptr<model::Decoder> decoder;  // null where another device computes
  std::unique_ptr<lora::Arena> arena;       // null where there are no adapters
  /// The engine's thread waits here; the pool's threads ring it.
  std::shared_ptr<std::condition_variable> work = std::make_shared<std::condition_variable>();
  std::unique_ptr<LoopCounters> counters = std::make_unique<LoopCounters>();
  scheduler::PassCost cost;
  std::shared_ptr<kv::Pool> pool;
  std::unique_ptr<Loop> loop;  // goes before the rest
};

/// REQUIRES: valid options. Errors: those of Engine::open.
Result<EngineParts> open_on_processor(const EngineOptions& options);

}  // namespace tessera::engine
