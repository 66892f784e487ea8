// Shared by write_kv and attend: the checks of a group, and the slots of its beams.
#pragma once

#include <cstdint>

#include "attention/attention.h"

namespace tessera::attention {

/// Aborts when the group breaks what kv_view.h says of it.
void check_group(const RowGroup& group);

/// First element of a KV head in a slot.
inline uint64_t beam_element(const Layer& layer, const BeamKv& beam, uint32_t slot,
                             uint32_t kv_head) {
  const uint64_t row = uint64_t{layer.index} * beam.slots + slot;
  return (row * layer.layout.kv_heads + kv_head) * layer.layout.head_dim;
}

/// Address of an element of an array of keys or values.
inline void* element_at(void* base, tensor::DType type, uint64_t element) {
  return static_cast<char*>(base) + element * tensor::dtype_size(type);
}

}  // namespace tessera::attention
