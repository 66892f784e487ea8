#include "kv/identity.h"

#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace tessera::kv {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tokens are hashed as they lie in memory, and digests must agree between machines");

class Hash {
 public:
  explicit Hash(std::string_view domain) {
    XXH3_128bits_reset(&state_);
    text(domain);
  }

  Hash& bytes(const void* data, uint64_t size) {
    number(size);
    XXH3_128bits_update(&state_, data, size);
    return *this;
  }
  Hash& text(std::string_view value) { return bytes(value.data(), value.size()); }
  Hash& digest(const Digest& value) { return bytes(value.bytes.data(), value.bytes.size()); }
  Hash& tokens(std::span<const Token> value) { return bytes(value.data(), value.size_bytes()); }
  Hash& number(uint64_t value) {
    XXH3_128bits_update(&state_, &value, sizeof(value));
    return *this;
  }

  Digest value() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_));
    Digest digest;
    std::memcpy(digest.bytes.data(), canonical.digest, digest.bytes.size());
    return digest;
  }

 private:
  XXH3_state_t state_;
};

}  // namespace

std::string to_text(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest.bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Digest version_digest(const Identity& identity) {
  Hash hash("tessera.kv.version.1");
  hash.text("model").text(identity.model);
  hash.text("adapter").text(identity.adapter);
  hash.text("template").text(identity.template_text);
  hash.text("codebook").text(identity.codebook);
  hash.text("layout").text(identity.layout);
  hash.text("dtype").text(identity.dtype);
  hash.text("numeric").text(identity.numeric_class);
  if (!identity.codec.empty()) hash.text("codec").text(identity.codec);
  return hash.number(identity.block_bytes).number(kBlockTokens).value();
}

std::array<Token, sizeof(Digest::bytes) / sizeof(Token)> tokens_of(const Digest& digest) {
  std::array<Token, sizeof(Digest::bytes) / sizeof(Token)> tokens;
  std::memcpy(tokens.data(), digest.bytes.data(), sizeof digest.bytes);
  for (Token& token : tokens) token &= INT32_MAX;
  return tokens;
}

Digest prefix_digest(const Digest& version, std::span<const Token> tokens) {
  return Hash("tessera.kv.prefix.1").digest(version).tokens(tokens).value();
}

std::string_view owner_of(const Digest& prefix) {
  return {reinterpret_cast<const char*>(prefix.bytes.data()), prefix.bytes.size()};
}

Digest root_digest(const Digest& version, std::string_view owner, const Digest& prefix) {
  return Hash("tessera.kv.root.1").digest(version).text(owner).digest(prefix).value();
}

Digest shared_owner(bool is_prefix, std::string_view owner) {
  return Hash("tessera.kv.owner.1").number(is_prefix ? 1 : 0).text(owner).value();
}

std::string_view owner_of_user(std::string_view user, Digest& held) {
  if (user.empty()) return {};
  held = shared_owner(false, user);
  return owner_of(held);
}

Digest store_owner(bool is_prefix, std::string_view owner) {
  Digest digest;
  if (is_prefix || owner.size() != digest.bytes.size()) return shared_owner(is_prefix, owner);
  std::memcpy(digest.bytes.data(), owner.data(), owner.size());
  return digest;
}

Digest block_digest(const Digest& before, std::span<const Token> tokens) {
  return Hash("tessera.kv.block.1").digest(before).tokens(tokens).value();
}

}  // namespace tessera::kv
