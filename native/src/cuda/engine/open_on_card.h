// An engine whose passes run on a card: its parts, and what they take of the card's memory.
#pragma once

#include <memory>
#include <string>

#include "cuda/device/queue.h"
#include "engine/parts.h"

namespace tessera::engine::cuda {

/// Share of beams and adapters in the memory that weights and passes leave: one part in so many.
/// Prompts may have the rest.
inline constexpr uint64_t kBeamShare = 4;
/// Left alone: graphs of launches, and plans that grow.
inline constexpr uint64_t kSpareBytes = uint64_t{256} << 20;

/// Queues of one card. None waits for another.
struct CardQueues {
  std::string name;  // of the card
  std::unique_ptr<device::cuda::Queue> passes;
  std::unique_ptr<device::cuda::Queue> adapters;  // come beside passes
  std::unique_ptr<device::cuda::Queue> copies;    // of the pool
  std::shared_ptr<device::cuda::Queue> pinned;    // that the host tier's memory is of
};

/// Errors: ENGINE_UNAVAILABLE without a driver, with one or a card that is too old, for a card that
/// is not there, and in a build without kernels for cards.
Result<CardQueues> open_queues(uint32_t card);

/// Sets in `options` the device tier that the card has room for, where more was asked for. Errors:
/// those of the model; REQUEST_INVALID for what a card does not do; ENGINE_OVERLOADED with what was
/// asked for and what was left where the card's memory does not suffice.
Result<EngineParts> open_on_card(EngineOptions& options, CardQueues queues);
/// Of open_queues(card).
Result<EngineParts> open_on_card(EngineOptions& options, uint32_t card);

}  // namespace tessera::engine::cuda
