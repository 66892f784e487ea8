// The words of the KV pool. A block holds the keys and values of 32 positions over all layers, in
// one contiguous run of bytes whose layout the pool does not know.
#pragma once

#include <cstdint>
#include <limits>

namespace tessera::kv {

inline constexpr uint32_t kBlockTokens = 32;  // positions of a block

using Token = int32_t;
/// Place of a block within one tier.
using SlotIndex = uint32_t;
inline constexpr SlotIndex kNoSlot = std::numeric_limits<SlotIndex>::max();

/// Blocks that hold `tokens` tokens.
constexpr uint32_t blocks_of(uint32_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

}  // namespace tessera::kv
