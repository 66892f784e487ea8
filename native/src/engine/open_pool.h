// The user KV pool as an engine opens it: capacities in blocks of its model, and what its keys and
// values depend on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "engine/options.h"
#include "engine/served_model.h"
#include "kv/pool.h"

namespace tessera::engine {

/// Where the pool of a device other than the processor keeps its blocks. Each of the last two makes
/// memory for so many blocks of so many bytes.
struct PoolMemory {
  /// Sets in the options what the device has room for beside weights and passes, where more was
  /// asked for. Errors: ENGINE_OVERLOADED where it has none.
  std::function<Status(EngineOptions&, const ServedModel&)> fit;
  std::function<Result<std::unique_ptr<kv::BlockMemory>>(uint32_t, uint64_t)> device;
  std::function<Result<std::unique_ptr<kv::Arena>>(uint32_t, uint64_t)> host;
};

/// `lossy` writes blocks where KvCodec::kInt8 is asked for; `on_transfer` as in kv/options.h;
/// `memory`: where empty, the pool's own. Errors: those of kv::Pool::open and of `memory`;
/// KV_POOL_INVALID when the device tier cannot hold one block of the model.
Result<std::unique_ptr<kv::Pool>> open_pool(const KvOptions& options, const ServedModel& model,
                                            std::shared_ptr<const kv::BlockCodec> lossy,
                                            std::function<void()> on_transfer,
                                            const PoolMemory& memory = {});

/// Identity of the blocks of prompts that a template and a codebook wrote and an adapter reads, all
/// known by digests of their content; no adapter's is empty.
kv::Identity identity_of(const ServedModel& model, std::string template_digest,
                         std::string codebook_digest, std::string adapter_digest = {});

}  // namespace tessera::engine
