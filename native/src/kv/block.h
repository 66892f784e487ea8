// The words of the KV pool. A block holds the keys and values of 32 positions over all layers, in
// one contiguous run of bytes whose layout the pool does not know.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace tessera::kv {

inline constexpr uint32_t kBlockTokens = 32;  // positions of a block

using Token = int32_t;
/// Place of a block within one tier.
using SlotIndex = uint32_t;
inline constexpr SlotIndex kNoSlot = std::numeric_limits<SlotIndex>::max();

enum class Tier : uint8_t { kDevice, kHost, kDisk };
inline constexpr uint32_t kTierCount = 3;
inline constexpr std::array<Tier, kTierCount> kTiers = {Tier::kDevice, Tier::kHost, Tier::kDisk};
constexpr uint32_t index_of(Tier tier) { return static_cast<uint32_t>(tier); }
constexpr const char* tier_name(Tier tier) {
  switch (tier) {
    case Tier::kDevice: return "device";
    case Tier::kHost: return "host";
    case Tier::kDisk: return "disk";
  }
  return "device";
}

/// Blocks that hold `tokens` tokens.
constexpr uint32_t blocks_of(uint32_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

}  // namespace tessera::kv
