#include "engine/request_limits.h"

#include <string>

#include "engine/running_request.h"

namespace tessera::engine {
namespace {

Status invalid(const std::string& message) { return {Code::kRequestInvalid, message}; }

std::string expected_range(const std::string& field, uint64_t max, uint64_t came) {
  return field + ": expected 1.." + std::to_string(max) + ", came " + std::to_string(came);
}

Status check_prompt(const Request& request, const EngineOptions& options,
                    const model::ModelConfig& config) {
  if (request.prompt.empty() || request.prompt.size() > options.prompt_tokens_max) {
    return invalid(
        expected_range("promptTokens.length", options.prompt_tokens_max, request.prompt.size()));
  }
  const uint64_t positions = request.prompt.size() + request.binding->step_count() - 1;
  if (positions > config.max_positions) {
    return invalid("promptTokens.length: prompt and answer need " + std::to_string(positions) +
                   " positions, the model has " + std::to_string(config.max_positions));
  }
  for (size_t i = 0; i < request.prompt.size(); ++i) {
    const int32_t token = request.prompt[i];
    if (token >= 0 && static_cast<uint32_t>(token) < config.vocab_size) continue;
    return invalid("promptTokens[" + std::to_string(i) + "]: expected a token in 0.." +
                   std::to_string(config.vocab_size - 1) + ", came " + std::to_string(token));
  }
  return Status::ok();
}

bool is_to_be_had(const Request& request) {
  const catalogue::View& view = request.reach.view();
  return request.watched_item < view.item_count() &&
         view.state(request.watched_item) == catalogue::ItemState::kLive &&
         request.reach.may_get(request.watched_item);
}

Status check_recall(const Request& request, const EngineOptions& options) {
  if (request.widths.empty() || request.widths.size() > request.binding->step_count()) {
    return invalid(
        expected_range("widths.length", request.binding->step_count(), request.widths.size()));
  }
  for (size_t i = 0; i < request.widths.size(); ++i) {
    if (request.widths[i] >= 1 && request.widths[i] <= options.width_max) continue;
    return invalid(
        expected_range("widths[" + std::to_string(i) + "]", options.width_max, request.widths[i]));
  }
  if (request.result_count < 1 || request.result_count > options.result_count_max) {
    return invalid(expected_range("resultCount", options.result_count_max, request.result_count));
  }
  if (request.items_per_sid < 1) return invalid("itemsPerSid: expected at least 1, came 0");
  const bool is_watched = request.watched_item != catalogue::kNoItem;
  if (is_watched && (!request.reach.is_set() || !is_to_be_had(request))) {
    return invalid("watchedItem: expected an item that the request may get");
  }
  return Status::ok();
}

Status check_score(const Request& request, const EngineOptions& options) {
  const size_t sids = request.sid_offsets.empty() ? 0 : request.sid_offsets.size() - 1;
  if (sids < 1 || sids > options.score_items_max) {
    return invalid(expected_range("sids.length", options.score_items_max, sids));
  }
  return Status::ok();
}

}  // namespace

Status check_limits(const Request& request, const EngineOptions& options,
                    const ServedModel& model) {
  if (request.priority >= kPriorityClasses) {
    return invalid("priority: expected 0.." + std::to_string(kPriorityClasses - 1) + ", came " +
                   std::to_string(request.priority));
  }
  TESSERA_RETURN_IF_ERROR(check_prompt(request, options, model.config));
  if (request.kind == RequestKind::kScore) TESSERA_RETURN_IF_ERROR(check_score(request, options));
  if (request.kind == RequestKind::kRecall) TESSERA_RETURN_IF_ERROR(check_recall(request, options));
  if (request.kv.user.size() > kv::kOwnerBytesMax) {
    return invalid("userId: expected at most " + std::to_string(kv::kOwnerBytesMax) +
                   " bytes, came " + std::to_string(request.kv.user.size()));
  }
  const RunningRequest::Need need = RunningRequest::need(request, model.position_bytes);
  // One more than it has: who goes on in a block that is not full works in a copy of it.
  const uint64_t device_bytes = (need.blocks + uint64_t{1}) * model.block_bytes;
  if (device_bytes > options.kv.device_bytes) {
    return invalid("promptTokens.length: the prompt needs " + std::to_string(device_bytes) +
                   " bytes of keys and values, kv.deviceBytes is " +
                   std::to_string(options.kv.device_bytes));
  }
  const uint64_t bytes = need.blocks * model.block_bytes + need.beam_bytes;
  if (bytes <= options.kv_bytes_max) return Status::ok();
  return invalid("promptTokens.length: prompt and beams need " + std::to_string(bytes) +
                 " bytes of keys and values, engine.kvBytesMax is " +
                 std::to_string(options.kv_bytes_max));
}

}  // namespace tessera::engine
