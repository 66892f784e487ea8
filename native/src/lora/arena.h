// The memory that all adapters share, and the adapters in it. An adapter is loaded whole or not at
// all, by its actual ranks; loaded twice, it is stored once. Its memory is freed with its last
// holder.
//
// Thread-safety: any thread; loads take turns. They run on a thread of their caller's and never on
// the decoder's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "lora/adapter.h"
#include "model/decoder.h"

namespace tessera::lora {

struct ArenaUse {
  uint64_t used_bytes = 0;
  uint64_t max_bytes = 0;
  uint32_t adapters = 0;
};

class Arena {
 public:
  /// Errors: ENGINE_UNAVAILABLE, ENGINE_OVERLOADED of the device that packing runs on.
  static Result<std::unique_ptr<Arena>> open(std::shared_ptr<const model::Decoder> decoder,
                                             uint64_t bytes_max);

  /// Reads a PEFT folder, which must not change meanwhile, checks it against the model and packs
  /// it. Errors: ADAPTER_NOT_FOUND, ADAPTER_CORRUPT, ADAPTER_INVALID naming field or tensor, what
  /// was expected and what it got; ADAPTER_ARENA_FULL with the bytes needed and free;
  /// REQUEST_INVALID for limits out of bounds.
  Result<std::shared_ptr<const Adapter>> load(const std::string& folder, const Limits& limits);

  ArenaUse use() const;

  /// While it is held no load reads the decoder; those that are asked for wait.
  Mutex& loading() LOCK_RETURNED(loading_) { return loading_; }

 private:
  struct Ledger;
  Arena(std::shared_ptr<const model::Decoder> decoder, std::shared_ptr<device::Device> device,
        std::shared_ptr<Ledger> ledger);

  const std::shared_ptr<const model::Decoder> decoder_;
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<Ledger> ledger_;  // outlived by no adapter
  Mutex loading_;                         // one load at a time
};

}  // namespace tessera::lora
