#include "engine/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "kv/options.h"

namespace tessera::engine {
namespace {

Status in_range(const char* field, uint64_t value, uint64_t min, uint64_t max) {
  if (value >= min && value <= max) return Status::ok();
  return {Code::kRequestInvalid, "engineOpen.options." + std::string(field) + ": expected " +
                                     std::to_string(min) + ".." + std::to_string(max) + ", got " +
                                     std::to_string(value)};
}

constexpr std::string_view kCardPrefix = "cuda:";

/// The card that the text names, if any.
std::optional<uint32_t> parse_card(std::string_view device) {
  if (!device.starts_with(kCardPrefix)) return std::nullopt;
  const std::string_view number = device.substr(kCardPrefix.size());
  uint32_t card = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), card);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  return is_number && card < kCardsMax ? std::optional(card) : std::nullopt;
}

}  // namespace

std::optional<uint32_t> card_of(const EngineOptions& options) { return parse_card(options.device); }

Status validate(const EngineOptions& options) {
  const auto from_one = [](const char* field, uint64_t value, uint64_t max) {
    return in_range(field, value, 1, max);
  };
  if (options.device != "cpu" && !parse_card(options.device)) {
    return {Code::kRequestInvalid, "engineOpen.options.device: expected cpu or cuda:0..cuda:" +
                                       std::to_string(kCardsMax - 1) + ", got \"" + options.device +
                                       "\""};
  }
  TESSERA_RETURN_IF_ERROR(from_one("threadCount", options.thread_count, kThreadCountMax));
  TESSERA_RETURN_IF_ERROR(from_one("queueCapacity", options.queue_capacity, kQueueCapacityMax));
  TESSERA_RETURN_IF_ERROR(
      from_one("batchRequestsMax", options.batch_requests_max, kBatchRequestsMax));
  TESSERA_RETURN_IF_ERROR(
      from_one("prefillChunkTokens", options.prefill_chunk_tokens, kPrefillChunkTokensMax));
  TESSERA_RETURN_IF_ERROR(
      in_range("passTimeTargetUs", options.pass_time_target_us, 0, kPassTimeTargetUsMax));
  TESSERA_RETURN_IF_ERROR(from_one("kvBytesMax", options.kv_bytes_max, UINT64_MAX));
  TESSERA_RETURN_IF_ERROR(from_one("promptTokensMax", options.prompt_tokens_max, kPromptTokensMax));
  TESSERA_RETURN_IF_ERROR(from_one("widthMax", options.width_max, kWidthMax));
  TESSERA_RETURN_IF_ERROR(from_one("resultCountMax", options.result_count_max, kResultCountMax));
  TESSERA_RETURN_IF_ERROR(from_one("scoreItemsMax", options.score_items_max, kScoreItemsMax));
  TESSERA_RETURN_IF_ERROR(from_one("kvDeviceBytes", options.kv.device_bytes, UINT64_MAX));
  TESSERA_RETURN_IF_ERROR(
      in_range("kvVersionsBackMax", options.kv.versions_back_max, 0, kv::kVersionsBackMax));
  TESSERA_RETURN_IF_ERROR(from_one("kvReadThreads", options.kv.read_threads, kKvThreadsMax));
  TESSERA_RETURN_IF_ERROR(from_one("kvStoreQueueMax", options.kv.store_queue_max, kKvQueueMax));
  TESSERA_RETURN_IF_ERROR(
      in_range("kvPrefetchQueueMax", options.kv.prefetch_queue_max, 2, kKvQueueMax));
  // All beams of a request go through one pass.
  return in_range("batchRowsMax", options.batch_rows_max,
                  std::max(options.width_max, options.score_items_max), kBatchRowsMax);
}

}  // namespace tessera::engine
