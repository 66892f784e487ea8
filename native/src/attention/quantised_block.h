// A KV block in 8 bits per number, for tiers in which it only lies: half of a BF16 block, a quarter
// of an F32 one.
//
//   [layer][kv_head][keys, values] { [32 positions] scale code | [32 positions][head_dim] int8 }
//
// Every position of a head has a scale of its own, a power of two: the smallest with which its
// largest number fits into -127..127. A number becomes the nearest multiple of its scale (ties to
// even), so it is off by at most half a scale, which is at most 1/127 of the largest number of its
// row. Multiples of a power of two up to 127 are exact in F32 and in BF16, and the largest of a row
// stays above 63: what was decoded encodes to the same bytes again, however often. Columns that
// only fill a panel up decode to zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attention/block.h"

namespace tessera::attention {

/// Thread-safety: any thread.
class QuantisedBlock {
 public:
  /// Names these bytes, with their version.
  static constexpr const char* kName = "int8, a power of two per head and position, 1";

  explicit QuantisedBlock(const BlockLayout& layout) : layout_(layout) {}

  /// Bytes of one encoded block.
  uint64_t bytes() const {
    return uint64_t{layout_.layers} * layout_.kv_heads * 2 * row_set_bytes();
  }
  /// REQUIRES: `block` has layout.bytes() and holds finite numbers; `to` has bytes().
  void encode(std::span<const std::byte> block, std::span<std::byte> to) const;
  /// REQUIRES: `from` has bytes(), whatever is in them; `block` has layout.bytes().
  void decode(std::span<const std::byte> from, std::span<std::byte> block) const;

 private:
  /// Keys or values of one head: scale codes, then rows of one position each.
  uint64_t row_set_bytes() const { return kBlockPositions * (1 + uint64_t{layout_.head_dim}); }

  const BlockLayout layout_;
};

}  // namespace tessera::attention
