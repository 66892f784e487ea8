// INT8 panel products of the CPU, one set of kernels per form of the instructions. Rows are
// quantised with one scale each and columns were when they were packed; sums are exact in 32 bits
// and every set turns them back by the same formula, so all sets give the same bits.
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

inline constexpr float kInt8Largest = 127.0f;      // magnitude of a quantised value
inline constexpr float kInt8SmallestRow = 1e-30f;  // rows of smaller magnitudes count as zero

PanelKernels int8_portable();
#if defined(__x86_64__)
PanelKernels int8_avx2();
PanelKernels int8_avx_vnni();     // 256-bit vpdpbusd
PanelKernels int8_avx512_vnni();  // 512-bit vpdpbusd
#endif

}  // namespace tessera::device::cpu
