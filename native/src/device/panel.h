// The panel: the one layout of every matrix that is multiplied from the right (weights, the head,
// keys and values of a block). It is the operand order of the AMX tile unit, and vector units read
// it as well.
//
// A panel holds 32 columns of outputs over k inputs:
// [k tiles][2 halves of 16 columns][16 groups of k][16 columns][slots of a group], where a group is
// what fills 32 bits: 1 element of F32, 2 of BF16, 4 of INT8. So each (tile, half) is 1 KiB. The
// last tile is padded with zeros, and so are the columns that a matrix lacks in its last panel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::device {

/// kI8: INT8 with a scale for each tile of k, of rows and columns. kStaticI8: INT8 with a scale for
/// each column and, of rows, one for each k that is known before they are (StaticRows).
enum class PanelType : uint8_t { kF32, kBf16, kI8, kStaticI8 };

inline constexpr size_t kPanelColumns = 32;
inline constexpr size_t kPanelHalf = 16;        // columns of a half: the lanes of a vector
inline constexpr size_t kPanelGroups = 16;      // groups of k in one tile
inline constexpr size_t kPanelHalfTile = 1024;  // bytes of one half of one tile
inline constexpr size_t kPanelTile = 2 * kPanelHalfTile;

/// Elements in a group: consecutive k of one column, side by side in 32 bits.
constexpr size_t panel_slots(PanelType type) {
  switch (type) {
    case PanelType::kF32: return 1;
    case PanelType::kBf16: return 2;
    case PanelType::kI8:
    case PanelType::kStaticI8: return 4;
  }
  return 1;
}

constexpr size_t panel_element_bytes(PanelType type) { return 4 / panel_slots(type); }

/// Values of k in one tile.
constexpr size_t panel_tile_depth(PanelType type) { return kPanelGroups * panel_slots(type); }

constexpr size_t panel_tiles(PanelType type, size_t k) {
  return (k + panel_tile_depth(type) - 1) / panel_tile_depth(type);
}

/// Bytes of one panel over k inputs; panels of a matrix follow each other.
constexpr size_t panel_bytes(PanelType type, size_t k) { return panel_tiles(type, k) * kPanelTile; }

/// A column's scale; what is added to its products; and the bits of an int32, -128 times the sum of
/// its values, for kernels that keep rows with 128 added.
enum StaticScale : size_t { kStaticFactor, kStaticConstant, kStaticStart };
inline constexpr size_t kStaticScales = 3;

/// Numbers beside the values of one column: kI8 has a scale per tile of k; kStaticI8 has those of
/// StaticScale.
constexpr size_t panel_scales(PanelType type, size_t k) {
  if (type == PanelType::kStaticI8) return kStaticScales;
  return type == PanelType::kI8 ? panel_tiles(type, k) : 0;
}

/// Numbers beside the values of one row of an operand: kI8 has a scale per tile of k; kStaticI8 a
/// mark, 0, or NaN where the row had values that are not finite.
constexpr size_t operand_scales(PanelType type, size_t k) {
  if (type == PanelType::kStaticI8) return 1;
  return type == PanelType::kI8 ? panel_tiles(type, k) : 0;
}

constexpr size_t panel_count(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

/// Byte offset of element (k, column) from the start of its panel. REQUIRES: column < 32.
constexpr size_t panel_offset(PanelType type, size_t k, size_t column) {
  const size_t slots = panel_slots(type), depth = panel_tile_depth(type);
  const size_t half_tile = k / depth * 2 + column / kPanelHalf;
  const size_t group = k % depth / slots;
  return half_tile * kPanelHalfTile + (group * kPanelHalf + column % kPanelHalf) * 4 +
         k % slots * panel_element_bytes(type);
}

}  // namespace tessera::device
