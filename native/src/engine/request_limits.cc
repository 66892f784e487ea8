#include "engine/request_limits.h"

#include <algorithm>
#include <string>

#include "engine/running_request.h"
#include "engine/tasks/ranking.h"
#include "engine/tasks/task.h"

namespace tessera::engine {

Status invalid_request(const std::string& message) { return {Code::kRequestInvalid, message}; }

std::string expected_range(const std::string& field, uint64_t max, uint64_t got) {
  return field + ": expected 1.." + std::to_string(max) + ", got " + std::to_string(got);
}

namespace {

Status check_token(const std::string& field, size_t index, int32_t token,
                   const model::ModelConfig& config) {
  if (token >= 0 && static_cast<uint32_t>(token) < config.vocab_size) return Status::ok();
  return invalid_request(field + "[" + std::to_string(index) + "]: expected a token in 0.." +
                         std::to_string(config.vocab_size - 1) + ", got " + std::to_string(token));
}

/// Logits that a cut head has not.
Status check_head(const Request& request, const model::HeadVocabulary& head) {
  if (head.is_whole() || !(request.task->reads_codes() || request.task->reads_tokens())) {
    return Status::ok();
  }
  if (request.norm == beam::ScoreNorm::kFull) {
    return invalid_request(
        "scoreNorm: expected level or allowed (engine.vocabulary is catalogue), got full");
  }
  for (size_t i = 0; i < request.label_tokens.size(); ++i) {
    if (head.has(static_cast<uint32_t>(request.label_tokens[i]))) continue;
    return invalid_request("labelTokens[" + std::to_string(i) +
                           "]: expected a token that the head was loaded with, got " +
                           std::to_string(request.label_tokens[i]));
  }
  return Status::ok();
}

Status check_prompt(const Request& request, const EngineOptions& options,
                    const model::ModelConfig& config) {
  if (request.prompt.empty() || request.prompt.size() > options.prompt_tokens_max) {
    return invalid_request(
        expected_range("promptTokens.length", options.prompt_tokens_max, request.prompt.size()));
  }
  if (request.encoded > options.batch_rows_max) {
    return invalid_request("promptTokens.length: expected at most " +
                           std::to_string(options.batch_rows_max) +
                           " tokens before the start token (engine.batchRowsMax), which an encoder "
                           "reads in one pass, got " +
                           std::to_string(request.encoded));
  }
  uint64_t answer = request.binding == nullptr ? 0 : request.binding->step_count() - 1;
  if (ranks(request)) answer = std::max<uint64_t>(answer, longest_item(request));
  const uint64_t positions = request.prompt.size() + answer;
  if (positions > config.max_positions) {
    return invalid_request("promptTokens.length: prompt and answer need " +
                           std::to_string(positions) + " positions, the model has " +
                           std::to_string(config.max_positions));
  }
  for (size_t i = 0; i < request.prompt.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_token("promptTokens", i, request.prompt[i], config));
  }
  for (size_t i = 0; i < request.label_tokens.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_token("labelTokens", i, request.label_tokens[i], config));
  }
  const Request::Ranking& ranking = request.ranking;
  for (size_t i = 0; i < ranking.prefix.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_token("rankPrefix", i, ranking.prefix[i], config));
  }
  for (size_t i = 0; i < ranking.suffix_tokens.size(); ++i) {
    const auto token = static_cast<int32_t>(ranking.suffix_tokens[i]);
    TESSERA_RETURN_IF_ERROR(check_token("rankSuffixes", i, token, config));
  }
  return Status::ok();
}

}  // namespace

Status check_limits(const Request& request, const EngineOptions& options,
                    const ServedModel& model) {
  if (request.priority >= kPriorityClasses) {
    return invalid_request("priority: expected 0.." + std::to_string(kPriorityClasses - 1) +
                           ", got " + std::to_string(request.priority));
  }
  if (request.task->needs().has_binding && request.binding == nullptr) {
    return invalid_request("binding: expected one, got none");
  }
  if (request.adapter != nullptr && request.adapter->summary().is_activated) {
    return invalid_request("adapter: expected one that may change a prompt, got an activated one");
  }
  TESSERA_RETURN_IF_ERROR(check_prompt(request, options, model.config));
  TESSERA_RETURN_IF_ERROR(check_head(request, model.vocabulary));
  TESSERA_RETURN_IF_ERROR(request.task->check(request, options));
  if (request.kv.user.size() > kv::kOwnerBytesMax) {
    return invalid_request("userId: expected at most " + std::to_string(kv::kOwnerBytesMax) +
                           " bytes, got " + std::to_string(request.kv.user.size()));
  }
  const RunningRequest::Need need =
      RunningRequest::need(request, model.slot_bytes, model.state_bytes);
  // One more than it has: who goes on in a block that is not full works in a copy of it.
  const uint64_t device_bytes = (need.blocks + uint64_t{1}) * model.block_bytes;
  if (device_bytes > options.kv.device_bytes) {
    return invalid_request("promptTokens.length: the prompt needs " + std::to_string(device_bytes) +
                           " bytes of keys and values, kv.deviceBytes is " +
                           std::to_string(options.kv.device_bytes));
  }
  const uint64_t bytes = need.blocks * model.block_bytes + need.beam_bytes;
  if (bytes <= options.kv_bytes_max) return Status::ok();
  return invalid_request("promptTokens.length: prompt and beams need " + std::to_string(bytes) +
                         " bytes of keys and values, engine.kvBytesMax is " +
                         std::to_string(options.kv_bytes_max));
}

}  // namespace tessera::engine
