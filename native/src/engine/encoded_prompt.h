// Prompts of models with an encoder: tokens that the encoder reads, then those that the decoder
// begins with, the first of which is the model's start token. Each position of an encoder depends
// on all of them, so the pool has the keys and values of the very same tokens or none.
#pragma once

#include <vector>

#include "base/status.h"
#include "engine/request.h"
#include "model/model_config.h"

namespace tessera::engine {

/// The fewest tokens that the pool keeps: fewer cannot tell prompts apart.
inline constexpr uint32_t kEncodedKeptMin = 8;

/// Fills in request.encoded. Errors: REQUEST_INVALID where the prompt has not exactly one start
/// token, or nothing before it.
Status find_encoded(Request& request, const model::ModelConfig& config);

/// Writes the tokens by which the pool knows what the encoder reads, as many as it reads: each
/// depends on all of them, and the first alone tells most other prompts. REQUIRES: encoded > 0.
void name_encoded(const Request& request, std::vector<kv::Token>& name);
/// First token that name_encoded writes, without the others.
kv::Token first_name(const Request& request);

}  // namespace tessera::engine
