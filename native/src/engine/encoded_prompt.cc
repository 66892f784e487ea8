#include "engine/encoded_prompt.h"

#include <algorithm>
#include <string>

#include "kv/identity.h"

namespace tessera::engine {
namespace {

/// The digest of the encoder's tokens, with their number.
auto words_of(const Request& request) {
  auto words = kv::tokens_of(
      kv::prefix_digest({}, std::span<const kv::Token>(request.prompt).first(request.encoded)));
  for (kv::Token& word : words) word ^= static_cast<kv::Token>(request.encoded);
  return words;
}

}  // namespace

Status find_encoded(Request& request, const model::ModelConfig& config) {
  request.encoded = 0;
  if (!config.encodes_prompts()) return Status::ok();
  const auto start = static_cast<int32_t>(config.t5.start_token);
  const auto found = std::find(request.prompt.begin(), request.prompt.end(), start);
  const auto count = std::count(found, request.prompt.end(), start);
  if (count != 1 || found == request.prompt.begin()) {
    return {Code::kRequestInvalid,
            "promptTokens: expected tokens for the encoder and then the decoder's start token (" +
                std::to_string(start) + ") once, got it " + std::to_string(count) + " times, " +
                (count == 0 ? "in " : "first behind ") +
                std::to_string(found - request.prompt.begin()) + " tokens"};
  }
  request.encoded = static_cast<uint32_t>(found - request.prompt.begin());
  return Status::ok();
}

void name_encoded(const Request& request, std::vector<kv::Token>& name) {
  const auto words = words_of(request);
  name.resize(request.encoded);
  for (uint32_t i = 0; i < request.encoded; ++i) name[i] = words[i % words.size()];
}

kv::Token first_name(const Request& request) { return words_of(request).front(); }

}  // namespace tessera::engine
