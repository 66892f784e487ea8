// The identity of a block: digests of everything that its bytes depend on. A request of one
// identity never reads blocks of another. Content digests are part of it, names and lengths are
// not. The hashes are XXH3-128 (github.com/Cyan4973/xxHash) over tagged, length-prefixed,
// little-endian fields, in canonical byte order; golden vectors pin them. A hash only names;
// whether tokens are equal is decided by comparing the tokens.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kv/block.h"

namespace tessera::kv {

struct Digest {
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Digest&) const = default;
};

/// Lower-case hexadecimal.
std::string to_text(const Digest& digest);

/// Everything but user and tokens that decides a block's bytes. The texts are content digests; an
/// empty one is legal where the thing is absent (no adapter).
struct Identity {
  std::string model = {};          // weights and configuration of the base model
  std::string adapter = {};        // content of the adapter
  std::string template_text = {};  // prompt template and tokenizer
  std::string codebook = {};       // semantic IDs to tokens
  std::string layout = {};         // name and version of the block's byte layout
  std::string dtype = {};          // of keys and values
  std::string numeric_class = {};  // of the arithmetic that made them
  uint64_t block_bytes = 0;
  std::string codec = {};  // of the tiers below the device: set by the pool
};

/// Digest of the identity: the `version` that owns blocks.
Digest version_digest(const Identity& identity);
/// Digest under which blocks of a static prefix, common to all users, are kept.
Digest prefix_digest(const Digest& version, std::span<const Token> tokens);

/// A digest as tokens, for chains that are named by one: none is negative.
std::array<Token, sizeof(Digest::bytes) / sizeof(Token)> tokens_of(const Digest& digest);

/// The prefix digest as the owner of a chain; valid as long as the digest.
std::string_view owner_of(const Digest& prefix);
/// Root of the hash chain of `owner` (a user's digest, or a prefix digest, as text) over a prefix.
Digest root_digest(const Digest& version, std::string_view owner, const Digest& prefix);
/// The name of a user, or of the text of a prefix digest, in stores that processes share. A user
/// has no other name in the pool: neither in memory nor on a disk lies their ID.
Digest shared_owner(bool is_prefix, std::string_view owner);
/// A user as the owner of chains, valid as long as `held`; empty for nobody.
std::string_view owner_of_user(std::string_view user, Digest& held);
/// The name of a chain's owner in stores that processes share.
Digest store_owner(bool is_prefix, std::string_view owner);
/// Next link: the block's valid tokens on top of its predecessor.
Digest block_digest(const Digest& before, std::span<const Token> tokens);

}  // namespace tessera::kv
