// How many rows a card's tile of an expert's product has: a pure function of how many rows chose
// each expert. Nothing on a card uses it yet: mixtures run on the processor, whose products pad
// nothing (docs/internals/scheduler.md).
//
// Source: the published rule for experts on a card, which goes from tiles of 128 rows to 64 where
// padded rows are more than 1.5 times the real ones; the same rule leads on to 32 and 16, which
// measurements of others pay for (vLLM #47593 and #55225, flashinfer #298).
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

namespace tessera::ops {

inline constexpr uint32_t kExpertTiles[] = {128, 64, 32, 16};  // rows
inline constexpr double kTilePaddingMax = 1.5;                 // padded over real rows

/// Rows of the tiles that groups of so many rows fill, what pads them included.
constexpr uint64_t padded_rows(std::span<const uint32_t> groups, uint32_t tile) {
  uint64_t padded = 0;
  for (const uint32_t rows : groups) padded += (uint64_t{rows} + tile - 1) / tile * tile;
  return padded;
}

/// The largest tile that pads no further than kTilePaddingMax, else the smallest. `groups`: rows of
/// each expert, none left out; 0 for an expert that no row chose.
constexpr uint32_t expert_tile(std::span<const uint32_t> groups) {
  uint64_t real = 0;
  for (const uint32_t rows : groups) real += rows;
  for (const uint32_t tile : kExpertTiles) {
    const auto padded = static_cast<double>(padded_rows(groups, tile));
    if (padded <= kTilePaddingMax * static_cast<double>(real)) return tile;
  }
  return kExpertTiles[std::size(kExpertTiles) - 1];
}

}  // namespace tessera::ops
