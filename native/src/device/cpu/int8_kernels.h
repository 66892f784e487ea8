// INT8 panel products of the CPU, one set of kernels per form of the instructions. Rows are
// quantised tile by tile of k, each with a scale of its own, and columns were when they were
// packed; sums over a tile are exact and every set adds them by the same formula, so all sets give
// the same bits. Both sides are quantised after a Hadamard transform of each tile, which spreads
// what is large over 64 values and leaves products as they are (docs/operate/quantisation.md).
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

inline constexpr float kInt8Largest = 127.0f;       // magnitude of a quantised value
inline constexpr float kInt8SmallestTile = 1e-30f;  // tiles of smaller magnitudes count as zero

PanelKernels int8_portable();
#if defined(__x86_64__)
PanelKernels int8_avx2();
PanelKernels int8_avx_vnni();     // 256-bit vpdpbusd
PanelKernels int8_avx512_vnni();  // 512-bit vpdpbusd
#endif

}  // namespace tessera::device::cpu
