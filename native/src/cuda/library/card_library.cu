#include "cuda/library/card_library.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "cuda/library/tiles.h"

namespace tessera::card {
namespace {

constexpr uint32_t kSizeMax = 1u << 31;  // not reached: CUTLASS counts in int
constexpr uintptr_t kAlignment = 16;     // bytes
constexpr int kHopper = 9;               // major number of a compute capability
constexpr int kAmpere = 8;

/// The card whose context the calling thread has.
struct Card {
  const Tile* tiles = nullptr;
  uint32_t tile_count = 0;
  uint32_t depth = 0;  // of k
  bool is_hopper = false;
  int processors = 0;
};

int find_card(Card& card) {
  int device = 0, major = 0;
  cudaError_t found = cudaGetDevice(&device);
  if (found == cudaSuccess) {
    found = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (found == cudaSuccess) {
    found = cudaDeviceGetAttribute(&card.processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (found != cudaSuccess) return found;
  if (major < kAmpere) return TESSERA_CARD_TOO_OLD;
  card.is_hopper = major == kHopper;
  card.tiles = card.is_hopper ? kHopperTiles : kAmpereTiles;
  card.tile_count =
      static_cast<uint32_t>(card.is_hopper ? std::size(kHopperTiles) : std::size(kAmpereTiles));
  card.depth = card.is_hopper ? kHopperDepth : kAmpereDepth;
  return 0;
}

constexpr uint64_t ceil_of(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

/// Cycles for each depth of k, of processors that each have one block: the tensor cores of either
/// kind of card take one for 32 elements of y, and 32 bytes come from the second-level cache.
uint64_t cycles(const Card& card, const Tile& tile, uint32_t rows, uint32_t columns) {
  const uint64_t blocks = ceil_of(ceil_of(columns, tile.columns), tile.cluster) * tile.cluster *
                          ceil_of(rows, tile.rows);
  const uint64_t multiplying = uint64_t{tile.columns} * tile.rows / 32;
  const uint64_t loading = (tile.columns + tile.rows / tile.cluster) * card.depth / 16;
  return ceil_of(blocks, static_cast<uint64_t>(card.processors)) * std::max(multiplying, loading);
}

/// From 1 on; of equals the smallest.
uint32_t tile_for(const Card& card, uint32_t rows, uint32_t columns) {
  const Tile* const best = std::min_element(
      card.tiles, card.tiles + card.tile_count, [&](const Tile& one, const Tile& other) {
        return cycles(card, one, rows, columns) < cycles(card, other, rows, columns);
      });
  return static_cast<uint32_t>(best - card.tiles) + 1;
}

template <size_t... kTile>
constexpr auto hopper_launches(std::index_sequence<kTile...>) {
  return std::array<Launch, sizeof...(kTile)>{launch_hopper<kTile>...};
}

template <size_t... kTile>
constexpr auto ampere_launches(std::index_sequence<kTile...>) {
  return std::array<Launch, sizeof...(kTile)>{launch_ampere<kTile>...};
}

Launch launch_of(const Card& card, uint32_t tile) {
  static constexpr auto kOfHopper =
      hopper_launches(std::make_index_sequence<std::size(kHopperTiles)>());
  static constexpr auto kOfAmpere =
      ampere_launches(std::make_index_sequence<std::size(kAmpereTiles)>());
  return card.is_hopper ? kOfHopper[tile - 1] : kOfAmpere[tile - 1];
}

bool is_aligned(const void* pointer) {
  return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0;
}

bool is_whole(const TesseraCardProduct& product) {
  return product.rows < kSizeMax && product.columns < kSizeMax && product.k < kSizeMax &&
         product.k != 0 && product.k * sizeof(uint16_t) % kAlignment == 0 &&
         is_aligned(product.x) && is_aligned(product.w) &&
         (product.y != nullptr || product.y_f32 != nullptr);
}

}  // namespace
}  // namespace tessera::card

using namespace tessera::card;

#define TESSERA_CARD_FACE extern "C" __attribute__((visibility("default")))

TESSERA_CARD_FACE int tessera_card_version(void) { return TESSERA_CARD_VERSION; }

TESSERA_CARD_FACE int tessera_card_multiply(const TesseraCardProduct* product, void* stream) {
  if (product == nullptr) return TESSERA_CARD_BAD_PRODUCT;
  if (product->rows == 0 || product->columns == 0) return 0;
  if (!is_whole(*product)) return TESSERA_CARD_BAD_PRODUCT;
  Card card;
  if (const int fault = find_card(card); fault != 0) return fault;
  const uint32_t tile =
      product->tile != 0 ? product->tile : tile_for(card, product->rows, product->columns);
  if (tile > card.tile_count) return TESSERA_CARD_BAD_TILE;
  return launch_of(card, tile)(product, card.processors, static_cast<cudaStream_t>(stream));
}

TESSERA_CARD_FACE int tessera_card_tile(uint32_t rows, uint32_t columns, uint32_t* tile) {
  Card card;
  if (const int fault = find_card(card); fault != 0) return fault;
  *tile = tile_for(card, rows, columns);
  return 0;
}

TESSERA_CARD_FACE int tessera_card_tile_sizes(uint32_t tile, TesseraCardTile* sizes) {
  Card card;
  if (const int fault = find_card(card); fault != 0) return fault;
  if (tile == 0 || tile > card.tile_count) return TESSERA_CARD_BAD_TILE;
  *sizes = {card.tiles[tile - 1].columns, card.tiles[tile - 1].rows, card.depth};
  return 0;
}

TESSERA_CARD_FACE int tessera_card_load(void) {
  Card card;
  if (const int fault = find_card(card); fault != 0) return fault;
  for (uint32_t tile = 1; tile <= card.tile_count; ++tile) {
    const cudaError_t loaded = launch_of(card, tile)(nullptr, 0, nullptr);
    if (loaded != cudaSuccess) return loaded;
  }
  return load_attention();
}

TESSERA_CARD_FACE int tessera_card_attend(const TesseraCardAttention* attention, void* stream) {
  if (attention == nullptr || attention->kv_heads == 0 ||
      attention->heads % attention->kv_heads != 0 ||
      (attention->head_dim != 64 && attention->head_dim != 128)) {
    return TESSERA_CARD_BAD_ATTENTION;
  }
  if (attention->row_tiles == 0 || attention->splits == 0) return 0;
  return launch_attention(*attention, static_cast<cudaStream_t>(stream));
}
