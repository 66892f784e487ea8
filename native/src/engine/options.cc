#include "engine/options.h"

namespace tessera::engine {
namespace {

Status in_range(const char* field, uint32_t value, uint32_t max) {
  if (value >= 1 && value <= max) return Status::ok();
  return {Code::kRequestInvalid, "engineOpen.options." + std::string(field) + ": expected 1.." +
                                     std::to_string(max) + ", came " + std::to_string(value)};
}

}  // namespace

Status validate(const EngineOptions& options) {
  TESSERA_RETURN_IF_ERROR(in_range("threadCount", options.thread_count, kThreadCountMax));
  TESSERA_RETURN_IF_ERROR(in_range("queueCapacity", options.queue_capacity, kQueueCapacityMax));
  TESSERA_RETURN_IF_ERROR(
      in_range("batchRequestsMax", options.batch_requests_max, kBatchRequestsMax));
  TESSERA_RETURN_IF_ERROR(
      in_range("prefillChunkTokens", options.prefill_chunk_tokens, kPrefillChunkTokensMax));
  TESSERA_RETURN_IF_ERROR(in_range("promptTokensMax", options.prompt_tokens_max, kPromptTokensMax));
  TESSERA_RETURN_IF_ERROR(in_range("widthMax", options.width_max, kWidthMax));
  return in_range("resultCountMax", options.result_count_max, kResultCountMax);
}

}  // namespace tessera::engine
