#include "cuda/device/kernel.h"

#include "cuda/kernels/block_kernels.h"

namespace tessera::attention::cuda {

TESSERA_KERNEL tessera_mirror(Layer layer, const MirroredRows* mirrors) {
  const MirroredRows& mirror = mirrors[blockIdx.x];
  const size_t head_elements = static_cast<size_t>(kBlockPositions) * layer.head_dim;
  const size_t head =
      (static_cast<size_t>(layer.index) * 2 * layer.kv_heads + blockIdx.y) * head_elements;
  for (uint32_t i = threadIdx.x; i < mirror.count * layer.head_dim; i += kBlockThreads) {
    const uint32_t position = mirror.first + i / layer.head_dim;
    const uint32_t block = position / kBlockPositions;
    const size_t at = head + static_cast<size_t>(position % kBlockPositions) * layer.head_dim +
                      i % layer.head_dim;
    mirror.to[block][at] = reinterpret_cast<const uint16_t*>(2 * mirror.from[block])[at];
  }
}

TESSERA_KERNEL tessera_clear(ClearedRows cleared) {
  const size_t head_elements = static_cast<size_t>(kBlockPositions) * cleared.head_dim;
  uint16_t* const at = cleared.block +
                       (static_cast<size_t>(blockIdx.x) * gridDim.y + blockIdx.y) * head_elements +
                       static_cast<size_t>(cleared.first) * cleared.head_dim;
  for (uint32_t i = threadIdx.x; i < cleared.count * cleared.head_dim; i += kBlockThreads)
    at[i] = 0;
}

}  // namespace tessera::attention::cuda
