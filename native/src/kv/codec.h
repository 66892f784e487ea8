// How blocks are written below the device. Without a codec they are written as they are. With one
// the `host` and `disk` tiers hold what it makes of them: smaller, and perhaps not exact, which
// leases then say (Lease::is_exact). A codec's name is part of every version's digest, so what was
// written by one is never read by another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tessera::kv {

/// Thread-safety: any thread.
class BlockCodec {
 public:
  virtual ~BlockCodec() = default;
  /// Names the bytes that encode() makes, with their version; not empty.
  virtual std::string name() const = 0;
  /// True if decode() restores the input of encode() bit for bit.
  virtual bool is_exact() const = 0;
  /// Bytes of one encoded block: the same for every block, at least 1.
  virtual uint64_t encoded_bytes() const = 0;
  /// `block` has the pool's block bytes, `to` encoded_bytes().
  virtual void encode(std::span<const std::byte> block, std::span<std::byte> to) const = 0;
  virtual void decode(std::span<const std::byte> from, std::span<std::byte> block) const = 0;
};

}  // namespace tessera::kv
