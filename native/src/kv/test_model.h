// A model small enough to be its own oracle: the "KV" of a position is one number, made from the
// number of the position before it and from its token. A forward pass reads the number before from
// the lease's blocks, so a wrong, missing or foreign byte anywhere before changes the answer; the
// oracle computes the same from nothing. For tests, the simulator and the bench.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kv/pool.h"

namespace tessera::kv {

/// Tiers as PoolOptions orders them.
inline constexpr TierIndex kHost = 1, kDisk = 2;

/// Bytes of a block of the small model; real blocks are larger.
inline constexpr uint64_t kTestBlockBytes = kBlockTokens * sizeof(uint64_t);

Identity test_identity(const std::string& model, uint64_t block_bytes = kTestBlockBytes);

/// The number of the last of `tokens`, computed from nothing.
uint64_t oracle(uint64_t salt, std::span<const Token> tokens);

/// Computes positions [begin, tokens.size()) into the lease's blocks and gives the last number.
/// REQUIRES: begin >= matched, all positions before `begin` are there.
uint64_t forward(uint64_t salt, std::span<const Token> tokens, uint32_t begin,
                 std::span<const BlockRef> blocks);

/// Numbers that also say who made them, for versions that follow one another: made of the token,
/// of the text before it, of the version that computes it and of the oldest that had a part in it.
uint64_t marked_number(uint64_t before, Token token, uint8_t version);
constexpr uint64_t text_of(uint64_t marked) { return marked >> 16; }
constexpr uint32_t maker_of(uint64_t marked) { return marked >> 8 & 0xff; }
constexpr uint32_t oldest_of(uint64_t marked) { return marked & 0xff; }
/// forward() in marked numbers.
uint64_t forward_marked(uint8_t version, std::span<const Token> tokens, uint32_t begin,
                        std::span<const BlockRef> blocks);
/// The number at a position.
uint64_t number_at(std::span<const BlockRef> blocks, uint32_t position);

/// One request from lookup to answer.
struct TestRequest {
  Version version = 0;
  uint64_t salt = 0;  // of the version's model
  std::string user;
  std::vector<Token> tokens;      // kept
  std::vector<Token> scene = {};  // computed behind them, never kept
  uint32_t prefix_tokens = 0;
};

struct TestAnswer {
  Status status;
  uint64_t value = 0;
  uint32_t matched = 0;
  PerTier<uint32_t> matched_by_tier{};
  Committed committed = Committed::kNothingNew;
};

/// Serves one request; commits what is to be kept when `keeps`.
TestAnswer serve(Pool& pool, const TestRequest& request, bool keeps = true);
/// The answer that serve() must give.
uint64_t expected_answer(const TestRequest& request);

/// `count` tokens that follow from the seed.
std::vector<Token> random_tokens(uint64_t seed, uint32_t count);

}  // namespace tessera::kv
