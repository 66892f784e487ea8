// The two hashes of the snapshot file (XXH3, github.com/Cyan4973/xxHash). They detect accidents,
// not forgery; validate.h bounds the harm of a forged file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "catalogue/format.h"

namespace tessera::catalogue {

uint64_t checksum64(std::span<const std::byte> bytes);
/// Depends on `before` as well, so that hashes make a chain.
uint64_t chained64(std::span<const std::byte> bytes, uint64_t before);

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
};
/// XXH3-128.
Hash128 hash128(std::span<const std::byte> bytes);

/// XXH3-64 of an item ID: the item hash probes from its low bits upward.
uint64_t hash_item_id(std::string_view item_id);

/// XXH3-64 over several pieces, as if they were one.
class Checksum {
 public:
  Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum();
  void update(std::span<const std::byte> bytes);
  uint64_t value() const;

 private:
  struct State;  // of the hash library, 64-byte aligned
  std::unique_ptr<State> state_;
};

/// Fields `digest` and `checksum` of a directory whose other fields are set.
std::array<uint8_t, 16> directory_digest(Directory directory);
uint64_t directory_checksum(Directory directory);

/// A digest in lower-case hexadecimal.
std::string digest_text(std::span<const uint8_t, 16> digest);

}  // namespace tessera::catalogue
