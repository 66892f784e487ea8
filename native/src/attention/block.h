// Layout of a KV block: keys and values of 32 consecutive positions of one prompt, all layers of
// them, in the order in which products read them. Both are panels: operands of 32 columns whose
// elements lie as [k / 16g][2 halves][16 groups][16 columns][g], g = 1 (F32) or 2 (BF16), each
// 16 x 16 x g tile exactly 1 KiB. k is padded to a multiple of 16g, columns to 32, with zeros.
//
//   block: [layer][ keys: [kv_head] a panel of k = head_dim, columns = positions ]
//                 [ values: [kv_head][head_dim / 32] panels of k = positions, columns = dims ]
//
// Positions that nobody has written must hold finite numbers: they are multiplied by zero.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace tessera::attention {

inline constexpr uint32_t kBlockPositions = 32;

struct BlockLayout {
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;                     // any
  tensor::DType type = tensor::DType::kF32;  // kF32 or kBf16

  uint64_t bytes() const { return layers * layer_bytes(); }
  /// Byte offset of the keys of a head: one panel.
  uint64_t key_offset(uint32_t layer, uint32_t head) const {
    return layer * layer_bytes() + head * key_bytes();
  }
  /// Byte offset of the values of a head: value_panels() panels, one after the other.
  uint64_t value_offset(uint32_t layer, uint32_t head) const {
    return layer * layer_bytes() + kv_heads * key_bytes() + head * value_bytes();
  }
  uint32_t value_panels() const { return (head_dim + kColumns - 1) / kColumns; }

  /// Element of dimension d at a position of the block, counted from key_offset.
  uint64_t key_element(uint32_t position, uint32_t d) const { return element(d, position); }
  /// The same, counted from value_offset.
  uint64_t value_element(uint32_t position, uint32_t d) const {
    return d / kColumns * (value_panel_bytes() / tensor::dtype_size(type)) +
           element(position, d % kColumns);
  }

 private:
  static constexpr uint32_t kColumns = 32, kHalf = 16, kTileBytes = 1024;

  uint32_t depth_bits() const { return type == tensor::DType::kBf16 ? 1 : 0; }  // log2 g
  uint64_t panel_bytes(uint32_t k) const {
    const uint32_t tile_k = kHalf << depth_bits();
    return uint64_t{(k + tile_k - 1) / tile_k} * 2 * kTileBytes;
  }
  uint64_t key_bytes() const { return panel_bytes(head_dim); }
  uint64_t value_panel_bytes() const { return panel_bytes(kBlockPositions); }
  uint64_t value_bytes() const { return value_panels() * value_panel_bytes(); }
  uint64_t layer_bytes() const { return kv_heads * (key_bytes() + value_bytes()); }

  /// Element (k, column) of a panel.
  uint64_t element(uint32_t k, uint32_t column) const {
    const uint32_t bits = depth_bits();
    const uint64_t tile = uint64_t{k >> (4 + bits)} * 2 + column / kHalf;
    const uint64_t group = (k >> bits) % kHalf;
    return (((tile * kHalf + group) * kHalf + column % kHalf) << bits) + (k & ((1u << bits) - 1));
  }
};

}  // namespace tessera::attention
