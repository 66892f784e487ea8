// The user KV pool as an engine opens it: capacities in blocks of its model, and what its keys and
// values depend on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "engine/options.h"
#include "kv/pool.h"
#include "model/decoder.h"

namespace tessera::engine {

/// `on_transfer` as in kv/options.h. Errors: those of kv::Pool::open; KV_POOL_INVALID when the
/// device tier cannot hold one block of the model.
Result<std::unique_ptr<kv::Pool>> open_pool(const KvOptions& options, const model::Decoder& decoder,
                                            std::function<void()> on_transfer);

/// Identity of the blocks of prompts that a template and a codebook wrote and an adapter reads, all
/// known by digests of their content; no adapter's is empty.
kv::Identity identity_of(const model::Decoder& decoder, std::string template_digest,
                         std::string codebook_digest, std::string adapter_digest = {});

}  // namespace tessera::engine
