// Layout of a KV block: keys and values of 32 consecutive positions of one prompt, all layers of
// them, as panels (device/panel.h), so that products read them where they lie:
//
//   block: [layer][ keys: [kv_head] a panel of k = head_dim, columns = positions ]
//                 [ values: [kv_head][head_dim / 32] panels of k = positions, columns = dims ]
//
// A card reads rows instead (is_plain): of each head [32 positions][head_dim], at the same offsets.
//
// Unwritten positions must hold finite numbers: they are multiplied by zero.
#pragma once

#include <cstdint>
#include <string>

#include "device/panel.h"
#include "tensor/dtype.h"

namespace tessera::attention {

inline constexpr uint32_t kBlockPositions = 32;
static_assert(kBlockPositions == device::kPanelColumns);

struct BlockLayout {
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t head_dim = 0;                     // any
  tensor::DType type = tensor::DType::kF32;  // kF32 or kBf16
  bool is_plain = false;                     // rows, of a head_dim that is a multiple of 32

  uint64_t bytes() const { return layers * layer_bytes(); }
  /// Name of the order in which keys and values lie, with the shape: part of the KV identity.
  /// Changes whenever an element comes to lie elsewhere.
  std::string name() const {
    return (is_plain ? "card.1 " : "panels.1 ") + std::to_string(layers) + "x" +
           std::to_string(kv_heads) + "x" + std::to_string(head_dim);
  }
  /// Byte offset of the keys of a head: one panel.
  uint64_t key_offset(uint32_t layer, uint32_t head) const {
    return layer * layer_bytes() + head * key_bytes();
  }
  /// Byte offset of the values of a head: panels of value_panel_bytes(), one after the other.
  uint64_t value_offset(uint32_t layer, uint32_t head) const {
    return layer * layer_bytes() + kv_heads * key_bytes() + head * value_bytes();
  }
  uint64_t value_panel_bytes() const { return device::panel_bytes(panel_type(), kBlockPositions); }
  device::PanelType panel_type() const {
    return type == tensor::DType::kBf16 ? device::PanelType::kBf16 : device::PanelType::kF32;
  }

 private:
  uint64_t key_bytes() const { return device::panel_bytes(panel_type(), head_dim); }
  uint64_t value_bytes() const { return device::panel_count(head_dim) * value_panel_bytes(); }
  uint64_t layer_bytes() const { return kv_heads * (key_bytes() + value_bytes()); }
};

}  // namespace tessera::attention
