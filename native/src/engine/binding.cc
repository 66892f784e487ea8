#include "engine/binding.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "engine/options.h"

namespace tessera::engine {
namespace {

std::string at(uint32_t level, size_t code) {
  return "levelTokens[" + std::to_string(level) + "][" + std::to_string(code) + "]";
}

Status check_token(const std::string& field, int32_t token, uint32_t vocab_size,
                   const model::HeadVocabulary& head, const char* none) {
  if (token < 0 || static_cast<uint32_t>(token) >= vocab_size) {
    return {Code::kRequestInvalid, field + ": expected " + none + "a token in 0.." +
                                       std::to_string(vocab_size - 1) + ", got " +
                                       std::to_string(token)};
  }
  if (head.has(static_cast<uint32_t>(token))) return Status::ok();
  return {Code::kRequestInvalid,
          field +
              ": expected a token that the head was loaded with (engine.vocabulary is "
              "catalogue), got " +
              std::to_string(token)};
}

Status check_level(uint32_t level, const std::vector<int32_t>& tokens, uint32_t level_size,
                   uint32_t vocab_size, const model::HeadVocabulary& head) {
  if (tokens.size() < level_size) {
    return {Code::kRequestInvalid,
            "levelTokens[" + std::to_string(level) + "]: expected a token for each of " +
                std::to_string(level_size) + " codes, got " + std::to_string(tokens.size())};
  }
  std::unordered_set<int32_t> seen;
  for (size_t code = 0; code < level_size; ++code) {
    const int32_t token = tokens[code];
    if (token == kNoToken) continue;
    TESSERA_RETURN_IF_ERROR(check_token(at(level, code), token, vocab_size, head, "-1 or "));
    if (!seen.insert(token).second) {
      return {Code::kRequestInvalid, at(level, code) + ": expected a token of its own, got " +
                                         std::to_string(token) + " of another code of this level"};
    }
  }
  return Status::ok();
}

/// Every code on an edge of the trie needs a token, else its items could never be reached; later
/// items with other codes are refused (forbid_codes).
Status check_used_codes(const catalogue::View& view,
                        const std::vector<std::vector<int32_t>>& level_tokens) {
  for (catalogue::NodeIndex node = 1; node < view.node_count(); ++node) {
    const uint32_t level = view.depth_of(node) - 1;
    const uint32_t code = view.code(node);
    if (level_tokens[level][code] != kNoToken) continue;
    return {Code::kRequestInvalid,
            at(level, code) + ": expected a token (the catalogue uses this code), got none"};
  }
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<const Binding>> Binding::create(
    const model::ModelConfig& config, std::shared_ptr<catalogue::LiveCatalogue> catalogue,
    std::vector<std::vector<int32_t>> level_tokens, std::vector<int32_t> terminal_tokens,
    const model::HeadVocabulary& head) {
  const std::shared_ptr<const catalogue::View> view = catalogue->view();
  if (level_tokens.size() < view->depth()) {
    return Status(Code::kRequestInvalid, "levelTokens: expected " + std::to_string(view->depth()) +
                                             " levels, got " + std::to_string(level_tokens.size()));
  }
  level_tokens.resize(view->depth());
  bool complete = true;
  for (uint32_t level = 0; level < view->depth(); ++level) {
    TESSERA_RETURN_IF_ERROR(
        check_level(level, level_tokens[level], view->level_size(level), config.vocab_size, head));
    level_tokens[level].resize(view->level_size(level));
    complete = complete &&
               std::count(level_tokens[level].begin(), level_tokens[level].end(), kNoToken) == 0;
  }
  if (!complete) TESSERA_RETURN_IF_ERROR(check_used_codes(*view, level_tokens));
  if (terminal_tokens.size() > kTerminalTokensMax) {
    return Status(Code::kRequestInvalid, "terminalTokens: expected at most " +
                                             std::to_string(kTerminalTokensMax) + ", got " +
                                             std::to_string(terminal_tokens.size()));
  }
  for (size_t i = 0; i < terminal_tokens.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_token("terminalTokens[" + std::to_string(i) + "]",
                                        terminal_tokens[i], config.vocab_size, head, ""));
  }
  auto binding = std::shared_ptr<Binding>(new Binding());
  binding->codes_without_token_.resize(level_tokens.size());
  for (size_t level = 0; level < level_tokens.size(); ++level) {
    for (uint32_t code = 0; code < level_tokens[level].size(); ++code) {
      if (level_tokens[level][code] != kNoToken) continue;
      binding->codes_without_token_[level].push_back(code);
      level_tokens[level][code] = head.any();
    }
  }
  catalogue->forbid_codes(binding->codes_without_token_);
  binding->catalogue_ = std::move(catalogue);
  binding->level_tokens_ = std::move(level_tokens);
  binding->terminal_tokens_ = std::move(terminal_tokens);
  return std::shared_ptr<const Binding>(std::move(binding));
}

}  // namespace tessera::engine
