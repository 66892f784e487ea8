// What an engine is opened with. Every limit has a name here; TypeScript fills every field (the
// addon has no defaults).
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "model/decoder.h"

namespace tessera::engine {

inline constexpr uint32_t kThreadCountMax = 256;
inline constexpr uint32_t kQueueCapacityMax = 1u << 20;
inline constexpr uint32_t kBatchRequestsMax = 1024;
inline constexpr uint32_t kPrefillChunkTokensMax = 1u << 16;
inline constexpr uint32_t kPromptTokensMax = 1u << 20;
inline constexpr uint32_t kWidthMax = 4096;
inline constexpr uint32_t kResultCountMax = 1u << 16;
inline constexpr uint32_t kTerminalTokensMax = 8;

struct EngineOptions {
  std::string model_path;
  model::ComputeType compute_type = model::ComputeType::kF32;
  uint32_t thread_count = 1;          // the engine's own thread included
  uint32_t queue_capacity = 1;        // requests waiting; a further one is refused
  uint32_t batch_requests_max = 1;    // requests that share forward passes
  uint32_t prefill_chunk_tokens = 1;  // prompt rows per forward pass
  uint32_t prompt_tokens_max = 1;
  uint32_t width_max = 1;
  uint32_t result_count_max = 1;
};

/// REQUEST_INVALID naming the field, what was expected and what came.
Status validate(const EngineOptions& options);

}  // namespace tessera::engine
