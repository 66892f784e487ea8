// Panel products on the tile unit. BF16 products are a numeric class of their own ("amx"), INT8
// products have the bits of every other set.
#pragma once

#include "device/kernel_table.h"

namespace tessera::device::cpu {

#if defined(__x86_64__)
PanelKernels amx_bf16();
PanelKernels amx_int8();
#endif

}  // namespace tessera::device::cpu
