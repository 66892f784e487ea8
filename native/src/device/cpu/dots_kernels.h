// BF16 panel products with vdpbf16ps: the numeric class "dots" (dots.inc).
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

#if defined(__x86_64__)
PanelKernels dots_avx512();
#endif

}  // namespace tessera::device::cpu
