#include "kv/test_model.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace tessera::kv {
namespace {

uint64_t next(uint64_t before, Token token) {
  uint64_t x = before * 0x9E3779B97F4A7C15u + static_cast<uint32_t>(token) + 1;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 32);
}

/// Computes positions [begin, tokens.size()) by `step`, which gives a number from the one before.
template <typename Step>
uint64_t forward_by(std::span<const Token> tokens, uint32_t begin, uint64_t value,
                    std::span<const BlockRef> blocks, Step step) {
  if (begin > 0) value = number_at(blocks, begin - 1);
  for (uint32_t i = begin; i < tokens.size(); ++i) {
    value = step(value, tokens[i]);
    std::memcpy(blocks[i / kBlockTokens].address + i % kBlockTokens * sizeof(value), &value,
                sizeof(value));
  }
  return value;
}

}  // namespace

uint64_t number_at(std::span<const BlockRef> blocks, uint32_t position) {
  uint64_t value = 0;
  std::memcpy(&value,
              blocks[position / kBlockTokens].address + position % kBlockTokens * sizeof(value),
              sizeof(value));
  return value;
}

uint64_t marked_number(uint64_t before, Token token, uint8_t version) {
  const uint64_t oldest = before == 0 ? version : std::min<uint64_t>(version, before & 0xff);
  return next(text_of(before), token) << 16 | uint64_t{version} << 8 | oldest;
}

uint64_t forward_marked(uint8_t version, std::span<const Token> tokens, uint32_t begin,
                        std::span<const BlockRef> blocks) {
  return forward_by(tokens, begin, 0, blocks, [&](uint64_t before, Token token) {
    return marked_number(before, token, version);
  });
}

Identity test_identity(const std::string& model, uint64_t block_bytes) {
  Identity identity;
  identity.model = model;
  identity.layout = "one number per position";
  identity.dtype = "u64";
  identity.numeric_class = "integer";
  identity.block_bytes = block_bytes;
  return identity;
}

uint64_t oracle(uint64_t salt, std::span<const Token> tokens) {
  uint64_t value = salt;
  for (const Token token : tokens) value = next(value, token);
  return value;
}

uint64_t forward(uint64_t salt, std::span<const Token> tokens, uint32_t begin,
                 std::span<const BlockRef> blocks) {
  return forward_by(tokens, begin, salt, blocks, next);
}

TestAnswer serve(Pool& pool, const TestRequest& request, bool keeps) {
  TestAnswer answer;
  std::vector<Token> prompt = request.tokens;
  prompt.insert(prompt.end(), request.scene.begin(), request.scene.end());
  Result<Lease> found = pool.lookup({.version = request.version,
                                     .user = request.user,
                                     .tokens = request.tokens,
                                     .prefix_tokens = request.prefix_tokens});
  if (!found.is_ok()) {
    answer.status = found.status();
    return answer;
  }
  Lease lease = std::move(found).value();
  answer.matched = lease.matched();
  answer.matched_by_tier = lease.matched_by_tier();
  answer.status = pool.extend(lease, static_cast<uint32_t>(prompt.size()));
  if (!answer.status.is_ok()) return answer;
  answer.value = forward(request.salt, prompt, answer.matched, lease.blocks());
  if (keeps) answer.committed = pool.commit(lease, static_cast<uint32_t>(request.tokens.size()));
  return answer;
}

uint64_t expected_answer(const TestRequest& request) {
  return oracle(oracle(request.salt, request.tokens), request.scene);
}

std::vector<Token> random_tokens(uint64_t seed, uint32_t count) {
  std::mt19937_64 random(seed);
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(random() % 50'000);
  return tokens;
}

}  // namespace tessera::kv
