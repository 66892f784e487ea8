#include "catalogue/checksum.h"

#include <cstring>

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace tessera::catalogue {

uint64_t checksum64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t chained64(std::span<const std::byte> bytes, uint64_t before) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

Hash128 hash128(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

uint64_t hash_item_id(std::string_view item_id) {
  return XXH3_64bits(item_id.data(), item_id.size());
}

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }

Checksum::~Checksum() = default;

void Checksum::update(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->hash); }

std::array<uint8_t, 16> directory_digest(Directory directory) {
  std::memset(directory.digest, 0, sizeof(directory.digest));
  directory.checksum = 0;
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(&directory, sizeof(directory)));
  std::array<uint8_t, 16> digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

uint64_t directory_checksum(Directory directory) {
  directory.checksum = 0;
  return XXH3_64bits(&directory, sizeof(directory));
}

std::string digest_text(std::span<const uint8_t, 16> digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace tessera::catalogue
