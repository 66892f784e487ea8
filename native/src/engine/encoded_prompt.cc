#include "engine/encoded_prompt.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "kv/identity.h"

namespace tessera::engine {

Status find_encoded(Request& request, const model::ModelConfig& config) {
  request.encoded = 0;
  if (config.t5.encoder_layers == 0) return Status::ok();
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
  const kv::Digest digest =
      kv::prefix_digest({}, std::span<const kv::Token>(request.prompt).first(request.encoded));
  std::array<uint32_t, sizeof digest.bytes / sizeof(uint32_t)> words;
  std::memcpy(words.data(), digest.bytes.data(), sizeof digest.bytes);
  name.resize(request.encoded);
  for (uint32_t i = 0; i < request.encoded; ++i) {
    name[i] = static_cast<kv::Token>((words[i % words.size()] ^ request.encoded) & INT32_MAX);
  }
}

}  // namespace tessera::engine
